/** Runs defpacts. A defpact is a sequence of steps, each of which runs in a transaction of its own. */

import { storable } from '../capabilities/applied.ts';
import { ContractError, type Position } from '../errors.ts';
import { sizeOfDefpact } from '../gas/sizes5.ts';
import { requireAccess } from '../runtime/access.ts';
import type { Continuation, DefpactState } from '../runtime/defpact-state.ts';
import { findQualified } from '../runtime/lookup.ts';
import { Member } from '../runtime/module.ts';
import type { Evaluator, MemberCall } from '../runtime/native.ts';
import type { Scope } from '../runtime/scope.ts';
import type { DefpactStep } from '../runtime/state.ts';
import type { Defpact, Step } from '../syntax/tree.ts';
import { hashText } from '../values/hash.ts';
import { jsonTextOf } from '../values/json.ts';
import { areEqual, type Storable, type Value } from '../values/values.ts';
import { DefpactFaults } from './defpact-faults.ts';
import { emitChainEvents } from './yields.ts';

/** A called defpact, with everything that its steps need while they run. */
interface Run {
  readonly steps: Defpact['steps'];
  readonly continuation: Continuation;
  /** Holds the values of the defpact's parameters. */
  readonly scope: Scope;
  readonly faults: DefpactFaults;
}

/**
 * Runs the first step of a defpact. If a step of an outer defpact makes the call, the called defpact is nested, and its
 * step with the same number as the outer step runs instead.
 * @throws ContractError if the step fails; for a defpact that is not nested, if the transaction has executed another
 *   defpact before; for every nested defpact before version 4.3
 */
export function beginDefpact(evaluator: Evaluator, call: MemberCall, position: Position | undefined): Value {
  const { context, environment } = evaluator;
  const { step: outer } = context;
  return inRun(evaluator, call, position, (run) => {
    if (!outer) {
      const step = { pactId: environment.hash, step: 0, isRollback: false, resumed: undefined };
      return evaluator.within({ step }, () => runDefpact(evaluator, run, step, undefined));
    }
    if (environment.flags.has('DisablePact43')) {
      throw new ContractError('eval', 'initPact: internal error: step already in environment', position);
    }
    const pactId = nestedId(evaluator, outer.pactId, run.continuation);
    return runNested(evaluator, run, { ...outer, pactId, resumed: undefined });
  });
}

/**
 * Runs the next step of a defpact, or the rollback of the step that was executed last.
 * @param foreign the defpact's state on another chain, as a proof shows it; undefined if the defpact continues on the
 *   same chain
 * @throws ContractError as `lastState` and `requireNext`, if the defpact's definition is not found, if the step fails,
 *   and if the transaction has executed another defpact
 */
export function continueDefpact(
  evaluator: Evaluator,
  step: DefpactStep,
  foreign?: DefpactState,
  position?: Position,
): Value {
  const faults = new DefpactFaults(evaluator.dialect, position);
  const last = lastState(evaluator, step, foreign, faults);
  requireNext(step, last, faults);
  const { name, args } = last.continuation;
  const member = findQualified(evaluator, name);
  if (!member) throw faults.noDefpact(last.continuation, `could not resolve continuation ref: ${name.text}`);
  if (!(member instanceof Member) || !(member.is('defpact') || member.is('defun') || member.is('defcap'))) {
    throw faults.noDefpact(last.continuation, 'defpact ref required');
  }
  if (!member.is('defpact')) throw faults.noDefpact(last.continuation, 'defpact required');
  const resumed = step.resumed ?? last.yielded;
  return evaluator.within({ step: { ...step, resumed } }, () =>
    inContinued(evaluator, { member, args }, position, (run) => runDefpact(evaluator, run, step, last)),
  );
}

/**
 * The native `continue` of dialect 4: runs the next step of a nested defpact that an earlier step of the outer defpact
 * has begun.
 * @throws ContractError outside of a defpact, if the step fails, and if no earlier step has called the nested defpact
 *   with these arguments
 */
export function continueNested(evaluator: Evaluator, call: MemberCall, position: Position | undefined): Value {
  const { context, state, dialect } = evaluator;
  const { step: outer } = context;
  if (!outer || !state.defpact) throw new ContractError('eval', 'Not within pact invocation', position);
  const { name } = call.member;
  const pactId = nestedId(evaluator, outer.pactId, { name, args: storable(evaluator, call.args) });
  const last = state.defpact.nested.get(pactId);
  if (!last) throw new DefpactFaults(dialect, position).notNested(call.member);
  const step = { ...outer, pactId, resumed: last.yielded };
  return inContinued(evaluator, call, position, (run) => runNested(evaluator, run, step));
}

/**
 * Charges gas for a step after the first one, and runs the step. For the first step, the evaluator charges, as for any
 * other application.
 */
function inContinued(
  evaluator: Evaluator,
  call: MemberCall,
  position: Position | undefined,
  action: (run: Run) => Value,
): Value {
  evaluator.gas.call(call.member.definition.name);
  return inRun(evaluator, call, position, action);
}

/**
 * Runs an action in a frame of the called defpact.
 * @throws ContractError if the arguments cannot be stored, or if the member is not a defpact
 */
function inRun(
  evaluator: Evaluator,
  call: MemberCall,
  position: Position | undefined,
  action: (run: Run) => Value,
): Value {
  const { member, args } = call;
  const faults = new DefpactFaults(evaluator.dialect, position);
  return evaluator.inFrame(call, position, (scope) => {
    const continuation = { name: member.name, args: storable(evaluator, args) };
    if (!member.is('defpact')) throw faults.noDefpact(continuation, 'defpact required');
    return action({ steps: member.definition.steps, continuation, scope, faults });
  });
}

/* Steps. */

/**
 * Runs a step or a rollback of a defpact that is not nested, and stores the new state of the defpact.
 * @param last the state of the defpact before this step; undefined for the first step
 */
function runDefpact(evaluator: Evaluator, run: Run, step: DefpactStep, last: DefpactState | undefined): Value {
  const { steps, continuation, scope, faults } = run;
  if (evaluator.state.defpact) throw faults.anotherDefpact(evaluator.state.defpact);
  const written = writtenStep(run, step);
  const isExecuted = isOwn(evaluator, written, run);
  enter(evaluator, {
    id: step.pactId,
    stepCount: steps.length,
    step: step.step,
    yielded: undefined,
    continuation,
    hasRollback: written.rollback !== undefined,
    isExecuted,
    nested: last?.nested ?? new Map(),
  });
  const value = isExecuted === false ? 'skip step' : evaluator.evaluate(codeOf(written, step, faults), scope);
  const defpact = advanced(evaluator, step, faults);
  evaluator.gas.write5(continuation.name.member, (sizes) => sizeOfDefpact(defpact, sizes));
  keep(evaluator, step, isLast(defpact, step) ? 'completed' : defpact);
  emitChainEvents(evaluator, step.resumed, defpact);
  return value;
}

function writtenStep({ steps, faults }: Run, step: DefpactStep): Step {
  const written = steps.at(step.step);
  if (written) return written;
  throw faults.noSuchStep(step, steps.length);
}

/**
 * @returns whether the step belongs to the participant of this node; undefined for a step of all participants
 * @throws ContractError in dialect 5 for a step of one participant; in dialect 4 if the name of the participant is not
 *   a text, or if the node has no participant
 */
function isOwn(evaluator: Evaluator, { entity, position }: Step, { scope, continuation, faults }: Run) {
  if (!entity) return undefined;
  if (evaluator.dialect === 5) throw faults.notForEntities(continuation);
  const name = evaluator.evaluate(entity, scope);
  if (typeof name !== 'string') {
    throw new ContractError('eval', 'applyPact: step entity must be String value)', entity.position);
  }
  const { entity: own } = evaluator.environment;
  if (own !== undefined) return name === own;
  throw new ContractError('eval', 'applyPact: private step executed against non-private environment', position);
}

/**
 * @returns the expression of the step or, if a rollback is requested, of its rollback
 * @throws ContractError if a rollback is requested and the step has none
 */
function codeOf({ value, rollback }: Step, step: DefpactStep, faults: DefpactFaults): Step['value'] {
  if (!step.isRollback) return value;
  if (rollback) return rollback;
  throw faults.noRollback(step);
}

/**
 * Whether the defpact is completed after this step or rollback. A rollback completes the defpact, unless the step
 * belongs to one participant and is not the first step.
 */
function isLast({ stepCount, isExecuted }: DefpactState, { step, isRollback }: DefpactStep): boolean {
  if (!isRollback) return step === stepCount - 1;
  return isExecuted === undefined || step === 0;
}

/**
 * @returns the state of the defpact after the step
 * @throws ContractError unless the last executed step of each nested defpact has the same number as this step
 */
function advanced({ state }: Evaluator, step: DefpactStep, faults: DefpactFaults): DefpactState {
  const { defpact } = state;
  // The function `pact-state` of the interactive interpreter can remove the defpact from the state.
  if (!defpact) throw new ContractError('eval', 'Internal error, pact exec state not found after execution');
  for (const { step: other } of defpact.nested.values()) if (other !== step.step) throw faults.notAdvanced(step.pactId);
  return defpact;
}

function enter(evaluator: Evaluator, defpact: DefpactState): void {
  evaluator.state = { ...evaluator.state, defpact };
}

function keep(evaluator: Evaluator, { pactId }: DefpactStep, defpact: DefpactState | 'completed'): void {
  requireAccess(evaluator, 'write', 'writeRow');
  if (defpact !== 'completed') evaluator.kept?.addEntry([pactId, ...defpact.continuation.args, ...yieldedBy(defpact)]);
  evaluator.database.defpacts.set(pactId, defpact);
}

function yieldedBy({ yielded }: DefpactState): readonly Value[] {
  return yielded ? [yielded.data] : [];
}

/* Checks before a defpact continues. */

/**
 * @param foreign the state that a proof has shown; undefined without a proof
 * @returns the proven state; without a proof, the stored state
 * @throws ContractError if the defpact is completed or unknown, or if the proven state does not match the stored one
 */
function lastState(
  { database }: Evaluator,
  step: DefpactStep,
  foreign: DefpactState | undefined,
  faults: DefpactFaults,
): DefpactState {
  const stored = database.defpacts.get(step.pactId);
  if (stored === 'completed') throw faults.completed(step);
  const last = foreign ?? stored;
  if (!last) throw faults.unknown(step);
  if (foreign && stored) requireLater(step, foreign, stored, faults);
  return last;
}

/**
 * @throws ContractError unless the proven state belongs to the same defpact as the stored state, and is at least two
 *   steps after the stored state
 */
function requireLater(step: DefpactStep, foreign: DefpactState, stored: DefpactState, faults: DefpactFaults): void {
  if (foreign.step <= stored.step + 1) throw faults.tooFewSteps(step, foreign, stored);
  const [theirs, ours] = [foreign.continuation, stored.continuation];
  if (theirs.name.text !== ours.name.text || !areEqual(theirs.args, ours.args)) {
    throw faults.otherContinuation(step, foreign, stored);
  }
  if (foreign.stepCount !== stored.stepCount) throw faults.otherStepCount(step, foreign, stored);
}

/**
 * @throws ContractError unless `step` is the step after the one executed last, or the rollback of the one executed last
 */
function requireNext(step: DefpactStep, last: DefpactState, faults: DefpactFaults): void {
  if (last.id !== step.pactId) throw faults.otherId(step, last);
  if (step.step < 0 || step.step >= last.stepCount) throw faults.invalidStep(step, last);
  if (step.isRollback) {
    if (step.step !== last.step) throw faults.wrongRollback(step, last);
  } else if (step.step !== last.step + 1) throw faults.wrongStep(step, last);
}

/* Nested defpacts. */

/**
 * Runs a step of a nested defpact, or its rollback, within the step of the outer defpact that has the same number. Both
 * defpacts must have the same number of steps.
 */
function runNested(evaluator: Evaluator, run: Run, step: DefpactStep): Value {
  const { faults, scope } = run;
  const parent = evaluator.state.defpact;
  if (!parent) {
    const { text } = run.continuation.name;
    throw new ContractError('eval', `Nested Pact attempted but no pactExec found for:${text}`);
  }
  // The code below copies the map of all nested defpacts, and visits each of them.
  evaluator.spend(parent.nested.size);
  const written = writtenStep(run, step);
  refuseMismatch(run, written, parent);
  const defpact = nestedState(run, step, parent, written.rollback !== undefined);
  enter(evaluator, defpact);
  const resumed = evaluator.dialect === 5 ? defpact.yielded : step.resumed;
  return evaluator.within({ step: { ...step, resumed } }, () => {
    const value = evaluator.evaluate(codeOf(written, step, faults), scope);
    const after = advanced(evaluator, step, faults);
    enter(evaluator, { ...parent, nested: new Map(parent.nested).set(step.pactId, after) });
    return value;
  });
}

function refuseMismatch({ steps, continuation, faults }: Run, { entity, rollback }: Step, parent: DefpactState): void {
  if (entity) throw faults.notForEntities(continuation);
  if (steps.length !== parent.stepCount) throw faults.otherLength(parent, steps.length);
  const hasRollback = rollback !== undefined;
  if (hasRollback !== parent.hasRollback) throw faults.otherRollback(parent, hasRollback);
}

/**
 * @returns the state of a nested defpact at the beginning of a step. `yielded` is the last yield of the nested
 *   defpact's earlier steps
 * @throws ContractError unless the step is the first step of a new nested defpact or the step after the one executed
 *   last. The step executed last may run again if it has a rollback
 */
function nestedState(run: Run, step: DefpactStep, parent: DefpactState, hasRollback: boolean): DefpactState {
  const { steps, continuation, faults } = run;
  const last = parent.nested.get(step.pactId);
  if (last) {
    const isNext = step.step === last.step + 1;
    if (!isNext && !(hasRollback && step.step === last.step)) throw faults.neverStarted(step);
    return { ...last, step: step.step, hasRollback };
  }
  if (step.step > 0) throw faults.tooLate(step);
  return {
    id: step.pactId,
    stepCount: steps.length,
    step: step.step,
    yielded: undefined,
    continuation,
    hasRollback,
    isExecuted: undefined,
    nested: new Map(),
  };
}

/**
 * @param outer the pact id of the outer defpact
 * @returns the pact id of the nested defpact: the hash of the outer id and the continuation, in base64url
 */
function nestedId(evaluator: Evaluator, outer: string, { name, args }: Continuation): string {
  const form = new Map<string, Storable>([
    ['args', args],
    ['def', name.text],
  ]);
  const json = jsonTextOf(form);
  evaluator.spend(json.length);
  return hashText(`${outer}:${json}`);
}
