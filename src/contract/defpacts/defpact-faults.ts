/** Most failures of defpacts, with the messages of both dialects. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position, STORED_ID_LENGTH, shortened } from '../errors.ts';
import type { Continuation, DefpactState, Provenance } from '../runtime/defpact-state.ts';
import type { Callable, Member } from '../runtime/module.ts';
import type { DefpactStep } from '../runtime/state.ts';
import { textOfType } from '../runtime/typecheck.ts';
import type { Parameter } from '../syntax/tree.ts';
import { printedCapability } from '../values/printing.ts';

export class DefpactFaults {
  readonly #dialect: Dialect;
  readonly #position: Position | undefined;

  /**
   * @param position the position of the application that begins or continues the defpact; undefined if it is not known
   */
  constructor(dialect: Dialect, position?: Position) {
    this.#dialect = dialect;
    this.#position = position;
  }

  /* Failures when a defpact begins, or a rollback is requested. */

  anotherDefpact({ id }: DefpactState): ContractError {
    return this.#fault(
      'Multiple or nested pact exec found',
      `defpact execution context already in the environment:  defpact id: ${id}`,
      `Another defpact execution context is already running in the environment for defpact id: ${shortId(id)}`,
    );
  }

  noSuchStep({ step }: DefpactStep, stepCount: number): ContractError {
    return this.#fault(`applyPact: step not found: ${step}`, stepText(step, stepCount));
  }

  notForEntities({ name }: Continuation): ContractError {
    const hint = 'Please ensure your defpact steps have the correct number of expressions';
    return this.#fault(
      'applyNestedPact: nested defpacts do not allow private execution',
      `Pact 5 does not support entity expressions in defpact ${name.text}. ${hint}`,
    );
  }

  noRollback({ pactId }: DefpactStep): ContractError {
    return this.#fault(
      'Rollback requested but none in step',
      `Step has no rollback: defpact id: ${pactId}`,
      `Step has no rollback in defpact id: ${shortId(pactId)}`,
    );
  }

  /* Failures when a defpact continues. */

  completed({ pactId }: DefpactStep): ContractError {
    return this.#fault(
      `resumePact: pact completed: ${pactId}`,
      `Requested defpact already completed:  defpact id:${pactId}`,
      `Requested defpact execution already completed for defpact id: ${shortId(pactId)}`,
    );
  }

  unknown({ pactId }: DefpactStep): ContractError {
    return this.#fault(
      `resumePact: no previous execution found for: ${pactId}`,
      `No previous defpact execution found for defpact id:  ${pactId}`,
      `No previous defpact execution found for defpact id:  ${shortId(pactId)}`,
    );
  }

  tooFewSteps(step: DefpactStep, foreign: DefpactState, stored: DefpactState): ContractError {
    const message = `db step ${stored.step} must be at least 2 steps before cross-chain continuation step ${foreign.step}`;
    return this.#foreignFault(step, message);
  }

  otherStepCount(step: DefpactStep, foreign: DefpactState, stored: DefpactState): ContractError {
    const counts = [foreign, stored].map(({ stepCount }) => stepCount);
    return this.#foreignFault(step, `cross-chain step count ${counts[0]} does not match db step count ${counts[1]}`);
  }

  otherContinuation(step: DefpactStep, foreign: DefpactState, stored: DefpactState): ContractError {
    const [theirs, ours] = [foreign, stored].map(({ continuation: { name, args } }) =>
      printedCapability(name, args, this.#dialect),
    );
    return this.#foreignFault(step, `cross-chain continuation ${theirs} does not match db continuation ${ours}`);
  }

  otherId({ pactId }: DefpactStep, { id }: DefpactState): ContractError {
    return this.#fault(
      `resumePactExec: request and context pact IDs do not match: (${pactId}, ${id})`,
      `Requested defpact id: ${pactId} does not match context defpact id: ${id}`,
      `Requested defpact id: ${shortId(pactId)} does not match context defpact id: ${shortId(id)}`,
    );
  }

  invalidStep({ step }: DefpactStep, { stepCount }: DefpactState): ContractError {
    return this.#fault(
      `resumePactExec: invalid step in request: ${step}`,
      stepText(step, stepCount),
      `Step does not match defpact properties: Requested: ${step} Step count: ${stepCount}`,
    );
  }

  wrongRollback({ step, pactId, isRollback }: DefpactStep, last: DefpactState): ContractError {
    const head = `Rollback mismatch in DefPactStep and defpact execution environment: defpact id: ${pactId}`;
    const stored = `Rollback mismatch in defpact step and defpact execution environment for defpact id: ${shortId(pactId)}`;
    const [requested, possible] = [isRollback, last.hasRollback].map(shownBool);
    return this.#fault(
      `resumePactExec: rollback step mismatch with context: (${step}, ${last.step})`,
      `${head} step rollback: ${requested} DefPactExec rollback: ${possible}`,
      `${stored} Step rollback: ${requested} Execution environment rollback: ${possible}`,
    );
  }

  wrongStep({ step, pactId }: DefpactStep, last: DefpactState): ContractError {
    const head = `Step mismatch in DefPactStep and defpact execution environment: defpact id: ${pactId}`;
    const stored = `Step mismatch in DefPactStep and defpact execution environment for defpact id: ${shortId(pactId)}`;
    return this.#fault(
      `resumePactExec: exec step mismatch with context: (${step}, ${last.step})`,
      `${head} step: ${step} DefPactExec step: ${last.step + 1}`,
      `${stored} Step: ${step} Execution environment step: ${last.step + 1}`,
    );
  }

  /** @param message4 the end of dialect 4's message, such as `defpact required` */
  noDefpact({ name }: Continuation, message4: string): ContractError {
    return this.#fault(`resumePactExec: ${message4}`, `Expected a defpact for free variable ${name.text}`);
  }

  /* Failures of nested defpacts. */

  notAdvanced(id: string): ContractError {
    return this.#fault(
      `Nested defpacts were not all advanced in prior step for pact: ${id}`,
      `Nested defpact not advanced ${id}`,
    );
  }

  otherLength(parent: DefpactState, stepCount: number): ContractError {
    const head = `Nested defpact execution failed, parameter mismatch: PactId: ${parent.id}`;
    return this.#fault(
      'applyNestedPact: invalid nested defpact length, must be equal to length of parent',
      `${head} step count: ${stepCount} Parent step count: ${parent.stepCount}`,
    );
  }

  otherRollback(parent: DefpactState, hasRollback: boolean): ContractError {
    const head = `Nested defpact execution failed, parameter mismatch: defpact id: ${parent.id}`;
    return this.#fault(
      'applyNestedPact: invalid nested defpact step, must match parent rollback',
      `${head} Rollback: ${shownBool(hasRollback)} Parent rollback:${shownBool(parent.hasRollback)}`,
    );
  }

  tooLate({ pactId }: DefpactStep): ContractError {
    return this.#fault(
      'Nested pact executing same nested pact twice',
      `Requested nested defpact double execution: defpact id: ${pactId}`,
    );
  }

  neverStarted({ pactId }: DefpactStep): ContractError {
    return this.#fault(
      'Nested pact never started at prior step',
      `Requested nested defpact never started: defpact id: ${pactId}`,
    );
  }

  notNested(member: Member<Callable>): ContractError {
    return this.#error(`Attempting to continue a pact that was not nested: ${textOfDefinition(member)}`);
  }

  /* Failures of `yield` and `resume`. */

  noYield(step: DefpactStep | undefined): ContractError {
    const message5 = step
      ? `No yield value found from previous pact step. Current step: ${step.step} defpact Id: ${step.pactId}`
      : 'No active defpact execution in the environment';
    const stored = step
      ? `No yield value found from the previous defpact step. Current step: ${step.step} defpact id: ${step.pactId}`
      : 'No active defpact execution found in the environment.';
    return this.#fault('Resume: no yielded value in context', message5, stored);
  }

  yieldOutside(): ContractError {
    return this.#fault(
      'Yield not in defpact context',
      'Try to yield a value outside a running defpact execution',
      'Failed to yield a value outside of a running defpact execution.',
    );
  }

  /**
   * @param provenance the provenance of the resumed yield
   * @param allowed the provenances that a yield may have where it is resumed
   */
  wrongProvenance(provenance: Provenance, allowed: readonly Provenance[]): ContractError {
    const [shown4, shown5] = [allowed.map(shownProvenance).join(', '), allowed.map(shownProvenance5).join(', ')];
    const stored = allowed.map(storedProvenance).join(' ');
    return this.#fault(
      `enforceYield: yield provenance ${shownProvenance(provenance)} does not match [${shown4}]`,
      `Yield provenance does not match, received ${shownProvenance5(provenance)}, expected [${shown5}]`,
      `Yield provenance does not match, received: ${storedProvenance(provenance)} , expected: ${stored}`,
    );
  }

  /** The failure before version 4.0 of the language, when a resumed yield could have only one provenance. */
  otherProvenance(provenance: Provenance, wanted: Provenance): ContractError {
    const [shown, shownWanted] = [shownProvenance(provenance), shownProvenance(wanted)];
    return this.#error(`enforceYield: yield provenance ${shownWanted} does not match ${shown}`);
  }

  #foreignFault({ step, pactId }: DefpactStep, message4: string): ContractError {
    return this.#fault(
      `resumePact: ${message4}`,
      `Crosschain defpact continuation error: defpact id:${step}`,
      `Cross-chain defpact continuation error: defpact id: ${shortId(pactId)}`,
    );
  }

  /** @param stored the message that nodes of dialect 5 store; undefined if they store `message5` */
  #fault(message4: string, message5: string, stored?: string): ContractError {
    return this.#dialect === 4 ? this.#error(message4) : this.#error(message5, stored);
  }

  #error(message: string, stored?: string): ContractError {
    return new ContractError('eval', message, this.#position, { stored });
  }
}

function stepText(step: number, stepCount: number): string {
  return `DefPactStep does not match defpact properties: requested: ${step} step count:${stepCount}`;
}

/**
 * @returns `True` or `False`. Messages of dialect 5 have this notation of Haskell, because its nodes are written in
 *   Haskell
 */
function shownBool(value: boolean): string {
  return value ? 'True' : 'False';
}

function shownProvenance({ targetChain, moduleHash }: Provenance): string {
  return `(chain = "${targetChain}" hash="${moduleHash}")`;
}

function shownProvenance5({ targetChain, moduleHash }: Provenance): string {
  return `(Provenance ${targetChain} ${moduleHash})`;
}

/** Maximum number of code points of a chain id in a stored message, without the `...` of a shortened id. */
const STORED_CHAIN_LENGTH = 10;

function storedProvenance({ targetChain, moduleHash }: Provenance): string {
  return `Provenance ${shortened(targetChain, STORED_CHAIN_LENGTH)} ${shortId(moduleHash)}`;
}

function shortId(id: string): string {
  return shortened(id, STORED_ID_LENGTH);
}

/**
 * @returns the head of a definition, such as `(defpact m.f:string (a:integer))`, with the documentation at its end if
 *   the definition has one
 */
function textOfDefinition({ name, definition }: Member<Callable>): string {
  const { kind, parameters, returnType, documentation } = definition;
  const shownType = (type: Parameter['type']) => (type ? textOfType(type) : '*');
  const shown = parameters.map((parameter) => `${parameter.name}:${shownType(parameter.type)}`).join(' ');
  const head = `(${kind} ${name.text}:${shownType(returnType)} (${shown})`;
  return documentation === undefined ? `${head})` : `${head} ${documentation})`;
}
