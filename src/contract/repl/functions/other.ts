/** The functions of the interpreter that load files, print, grant capabilities, and those that check nothing here. */

import { appliedCapability } from '../../capabilities/applied.ts';
import { grantForTransaction } from '../../capabilities/capabilities.ts';
import { grantAdministration } from '../../capabilities/guards.ts';
import { type Evaluation, lazy, type Native, strict } from '../../runtime/native.ts';
import { areEqual, isObject, ModuleRef, UNIT } from '../../values/values.ts';
import type { TestRun } from '../test-run.ts';

export function otherFunctions(run: TestRun): readonly Native[] {
  const verify = unchecked(run, 'verify', (module) => `Verification of ${module} succeeded`);
  return [
    strict(
      'load',
      ['file:string -> string', 'file:string reset:bool -> string'],
      ([file, reset, ...more], { evaluation }) => {
        if (typeof file !== 'string' || more.length > 0) return undefined;
        if (reset !== undefined && typeof reset !== 'boolean') return undefined;
        run.load(file, reset ?? false);
        return evaluation.dialect === 4 ? `Loading ${file}...` : UNIT;
      },
    ),
    strict('print', 'value:<a> -> string', ([value, ...more], { evaluation }) => {
      if (value === undefined || more.length > 0) return undefined;
      const text = typeof value === 'string' ? value : evaluation.print(value);
      evaluation.spend(text.length);
      run.print(text);
      return evaluation.dialect === 4 ? '' : UNIT;
    }),
    lazy('test-capability', 'capability:( -> bool) -> string', ([argument, ...more], { evaluation }) => {
      const call = argument?.asCapability();
      if (!call || more.length > 0) return undefined;
      return grantForTransaction(evaluation, appliedCapability(evaluation, call, argument.position));
    }),
    strict('mock-spv', 'type:string payload:object:* output:object:* -> string', ([type, payload, output, ...more]) => {
      if (typeof type !== 'string' || payload === undefined || output === undefined || more.length > 0)
        return undefined;
      if (!isObject(payload) || !isObject(output)) return undefined;
      run.proofs.push({ type, payload, output });
      const proofs = [...run.proofs].reverse();
      run.environment = {
        ...run.environment,
        proofs: (wanted, proof) => proofs.find((each) => each.type === wanted && areEqual(each.payload, proof))?.output,
      };
      return `Added mock SPV for ${type}`;
    }),
    {
      ...strict('env-module-admin', 'module:module{} -> string', ([module, ...more], { evaluation }) => {
        if (!(module instanceof ModuleRef) || more.length > 0) return undefined;
        grantAdministration(evaluation, module.name);
        return `Acquired module admin for: ${module.name.text}`;
      }),
      dialect: 5,
    },
    {
      ...strict('env-stackframe', ' -> [string]', (values, { evaluation }) =>
        values.length === 0 ? calls(evaluation) : undefined,
      ),
      dialect: 5,
    },
    unchecked(run, 'typecheck', (module) => `Typecheck ${module}: success`),
    { ...verify, signatures: ['module:string debug:bool -> string'] },
    lazy('bench', 'exprs:* -> string', (args) => {
      for (const arg of args) void arg.value;
      return 'Done';
    }),
    strict('env-dynref', ['iface:module{} impl:module{} -> string', ' -> string'], (values) => {
      if (values.length === 0) return 'Cleared dynamic ref environment.';
      return values.length === 2 ? 'Added dynamic ref to environment.' : undefined;
    }),
  ];
}

/** @returns the names of what has not returned yet, the innermost first */
function calls({ context }: Evaluation): readonly string[] {
  const names: string[] = [];
  for (let { frame } = context; frame; frame = frame.outer) names.push(frame.member.name.text);
  return names;
}

/** Neither types nor properties are checked before code runs. The answer is that of a check that has passed. */
function unchecked(run: TestRun, name: string, text: (module: string) => string): Native {
  const signatures = ['module:string -> string', 'module:string debug:bool -> string'];
  return strict(name, signatures, ([module, debug, ...more], { evaluation }) => {
    if (typeof module !== 'string' || more.length > 0) return undefined;
    if (debug !== undefined && typeof debug !== 'boolean') return undefined;
    run.note(`${name} has checked nothing of ${module}: this interpreter checks types only while code runs`);
    return evaluation.dialect === 4 ? text(module) : UNIT;
  });
}
