/** Natives that compose, require and install capabilities, `emit-event`, and `enforce-verifier`. */

import { ContractError } from '../errors.ts';
import { HELD_CAPABILITY } from '../gas/natives5.ts';
import { type Call, lazy, type Native, strict } from '../runtime/native.ts';
import { findFrame } from '../runtime/state.ts';
import { printedCapability } from '../values/printing.ts';
import type { Value } from '../values/values.ts';
import { type Applied, appliedCapability } from './applied.ts';
import { composeCapability, installByCode, refuseInCapability } from './capabilities.ts';
import { emit } from './emitted-events.ts';
import { heldCapabilities, includesCapability, isHeld } from './grants.ts';
import { requireModuleRights } from './guards.ts';

/** @returns a native whose only argument is an application of a capability */
function ofCapability(name: string, result: string, run: (applied: Applied, call: Call) => Value): Native {
  return lazy(name, `capability:( -> bool) -> ${result}`, ([argument, ...more], call) => {
    if (!argument || more.length > 0) return undefined;
    const applied = argument.asCapability();
    return applied && run(appliedCapability(call.evaluator, applied, argument.position), call);
  });
}

export const CAPABILITIES: readonly Native[] = [
  ofCapability('compose-capability', 'bool', (applied, { evaluator }) => {
    composeCapability(evaluator, applied);
    return true;
  }),
  ofCapability('require-capability', 'bool', ({ capability }, { evaluator }) => {
    const held = heldCapabilities(evaluator.state.capabilities).length;
    evaluator.gas.charge5('require-capability', () => HELD_CAPABILITY * held);
    if (isHeld(evaluator, capability)) return true;
    const shown = printedCapability(capability.name, capability.args, evaluator.dialect);
    const kind = evaluator.environment.flags.has('DisablePact44') ? 'eval' : 'tx-failure';
    throw new ContractError(kind, `require-capability: not granted: ${shown}`);
  }),
  ofCapability('install-capability', 'string', (applied, { evaluator }) => {
    refuseInCapability(evaluator, 'install-capability');
    installByCode(evaluator, applied);
    return 'Installed capability';
  }),
  ofCapability('emit-event', 'bool', ({ capability, call }, { evaluator }) => {
    if (!call.member.definition.meta) {
      const { name, module } = call.member;
      const message5 = `Invalid event capability ${name.text}.{${module.hash}}`;
      const message4 = 'emit-event: must be managed or event defcap';
      throw new ContractError('eval', evaluator.dialect === 4 ? message4 : message5);
    }
    requireModuleRights(evaluator, call.member.module);
    emit(evaluator, capability, call.member.module);
    return true;
  }),
  strict('enforce-verifier', 'verifiername:string -> bool', ([name, ...more], { evaluator }) => {
    if (typeof name !== 'string' || more.length > 0) return undefined;
    const verifier = evaluator.environment.verifiers.find((each) => each.name === name);
    if (!verifier) throw new ContractError('tx-failure', `Verifier failure ${name}: not in transaction`);
    if (!findFrame(evaluator.context.frame, ({ member }) => member.definition.kind === 'defcap')) {
      throw new ContractError('tx-failure', 'enforce-verifier must be run in a capability');
    }
    const { evaluating } = evaluator.state.capabilities;
    if (verifier.capabilities.some((each) => includesCapability(evaluating, each))) return true;
    throw new ContractError('tx-failure', `Verifier failure ${name}: not in scope`);
  }),
];
