/** Flows: their steps, what these hand on, also to other chains, flows in flows, and private steps. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { ContractError } from '#pickaxe/contract/errors.js';
import { Evaluator, MAX_STEPS } from '#pickaxe/contract/evaluator/evaluator.js';
import { runTopLevel } from '#pickaxe/contract/evaluator/top-level.js';
import { continueFlow } from '#pickaxe/contract/flows/flows.js';
import { tableModel } from '#pickaxe/contract/gas/model.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { type Environment, INITIAL_CHAIN_DATA, INITIAL_ENVIRONMENT } from '#pickaxe/contract/runtime/environment.js';
import type { FlowState } from '#pickaxe/contract/runtime/flow-state.js';
import { type FlowStep, INITIAL_STATE } from '#pickaxe/contract/runtime/state.js';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import { hashText } from '#pickaxe/contract/values/hash.js';

const ID = hashText('a transaction');

/** A chain on which each step is a transaction of its own. */
class Chain {
  readonly evaluator: Evaluator;

  constructor(code: string, dialect: Dialect = 4, environment: Partial<Environment> = {}, maxSteps = MAX_STEPS) {
    this.evaluator = new Evaluator({
      dialect,
      natives: NATIVES,
      maxSteps,
      environment: { ...INITIAL_ENVIRONMENT, hash: ID, ...environment },
    });
    this.run(code);
  }

  /** @returns what the last of the forms prints */
  run(code: string): string {
    this.evaluator.state = INITIAL_STATE;
    this.evaluator.resetSteps();
    const forms = parseProgram(code, this.evaluator.dialect);
    const values = forms.map((form) => runTopLevel(this.evaluator, form));
    return this.evaluator.print(values[values.length - 1]);
  }

  continue(step: number, { foreign, ...more }: Partial<FlowStep> & { foreign?: FlowState } = {}): string {
    this.evaluator.state = INITIAL_STATE;
    const whole = { flowId: ID, step, isRollback: false, resumed: foreign?.yielded, ...more };
    return this.evaluator.print(continueFlow(this.evaluator, whole, foreign));
  }

  rollBack(step: number): string {
    return this.continue(step, { isRollback: true });
  }

  /** The flow that was executed last. */
  get flow(): FlowState {
    const { flow } = this.evaluator.state;
    if (!flow) throw new Error('There was no flow');
    return flow;
  }

  get events(): string[] {
    const { events } = this.evaluator.state;
    return events.map(({ name, args }) => `${name.text} ${this.evaluator.print(args)}`);
  }
}

function faultOf(action: () => unknown): ContractError {
  try {
    action();
  } catch (fault) {
    if (fault instanceof ContractError) return fault;
    throw fault;
  }
  throw new Error('Nothing has failed');
}

function messageOf(action: () => unknown): string {
  return faultOf(action).message;
}

function onChain(chainId: string): Partial<Environment> {
  return { chain: { ...INITIAL_CHAIN_DATA, chainId } };
}

function module(body: string): string {
  return `(module m G (defcap G () true) ${body})`;
}

const STEPS = module(`
  (defpact three (n:string)
    (step-with-rollback (+ n "0") (+ n "undone 0"))
    (step (+ n "1"))
    (step (+ n (pact-id))))
  (defpact one () (step "done"))`);

describe('steps', () => {
  it('run one after another', () => {
    const chain = new Chain(STEPS);
    expect(chain.run('(m.three "a")')).toBe('"a0"');
    expect(chain.flow).toMatchObject({ id: ID, step: 0, stepCount: 3, hasRollback: true, isExecuted: undefined });
    expect(chain.continue(1)).toBe('"a1"');
    expect(chain.flow).toMatchObject({ step: 1, hasRollback: false });
    expect(chain.continue(2)).toBe(`"a${ID}"`);
  });

  it('can be undone before the next one runs', () => {
    const chain = new Chain(STEPS);
    chain.run('(m.three "a")');
    expect(chain.rollBack(0)).toBe('"aundone 0"');
    expect(messageOf(() => chain.continue(1))).toBe(`resumePact: pact completed: ${ID}`);
  });

  it.each<[string, Dialect, (chain: Chain) => void, string]>([
    ['of no flow', 4, (chain) => chain.continue(1), `resumePact: no previous execution found for: ${ID}`],
    ['of no flow', 5, (chain) => chain.continue(1), `No previous defpact execution found for defpact id:  ${ID}`],
    [
      'of a completed flow',
      4,
      (chain) => {
        chain.run('(m.one)');
        chain.continue(1);
      },
      `resumePact: pact completed: ${ID}`,
    ],
    [
      'of a completed flow',
      5,
      (chain) => {
        chain.run('(m.one)');
        chain.continue(1);
      },
      `Requested defpact already completed:  defpact id:${ID}`,
    ],
  ])('%s fail in dialect %i', (_, dialect, action, message) => {
    const chain = new Chain(STEPS, dialect);
    expect(messageOf(() => action(chain))).toBe(message);
  });

  it.each<[number, boolean, Dialect, string]>([
    [3, false, 4, 'resumePactExec: invalid step in request: 3'],
    [3, false, 5, 'DefPactStep does not match defpact properties: requested: 3 step count:3'],
    [-1, false, 4, 'resumePactExec: invalid step in request: -1'],
    [1, false, 4, 'resumePactExec: exec step mismatch with context: (1, 1)'],
    [
      1,
      false,
      5,
      `Step mismatch in DefPactStep and defpact execution environment: defpact id: ${ID} step: 1 DefPactExec step: 2`,
    ],
    [0, true, 4, 'resumePactExec: rollback step mismatch with context: (0, 1)'],
    [
      0,
      true,
      5,
      `Rollback mismatch in DefPactStep and defpact execution environment: defpact id: ${ID} step rollback: True DefPactExec rollback: False`,
    ],
    [1, true, 4, 'Rollback requested but none in step'],
    [1, true, 5, `Step has no rollback: defpact id: ${ID}`],
  ])('that do not follow fail: step %i, rollback %s, dialect %i', (step, isRollback, dialect, message) => {
    const chain = new Chain(STEPS, dialect);
    chain.run('(m.three "a")');
    chain.continue(1);
    expect(messageOf(() => chain.continue(step, { isRollback }))).toBe(message);
  });

  it.each<[Dialect, string]>([
    [4, 'Multiple or nested pact exec found'],
    [5, `defpact execution context already in the environment:  defpact id: ${ID}`],
  ])('of two flows in one transaction fail in dialect %i', (dialect, message) => {
    const chain = new Chain(STEPS, dialect);
    expect(messageOf(() => chain.run('(m.one) (m.three "a")'))).toBe(message);
  });

  it('fail where nothing may be written', () => {
    const chain = new Chain(STEPS);
    const run = () => chain.evaluator.within({ access: 'none' }, () => chain.run('(m.one)'));
    expect(messageOf(run)).toBe('Illegal database access attempt (writeRow)');
    const chain5 = new Chain(STEPS, 5);
    const run5 = () => chain5.evaluator.within({ access: 'read' }, () => chain5.run('(m.one)'));
    expect(messageOf(run5)).toContain('Operation disallowed in read-only or sys-only mode');
  });

  it('run as the newest version of the module has them', () => {
    const chain = new Chain(STEPS);
    chain.run('(m.three "a")');
    chain.run(module('(defpact three (n:string) (step n) (step (+ n "new")) (step n))'));
    expect(chain.continue(1)).toBe('"anew"');
    chain.run(module('(defpact three (n:string) (step n))'));
    expect(messageOf(() => chain.continue(2))).toBe('applyPact: step not found: 2');
    chain.run(module('(defun three () 1)'));
    expect(messageOf(() => chain.continue(2))).toBe('resumePactExec: defpact required');
    chain.run(module('(defconst three 1)'));
    expect(messageOf(() => chain.continue(2))).toBe('resumePactExec: defpact ref required');
    chain.run(module('(defconst other 1)'));
    expect(messageOf(() => chain.continue(2))).toBe('resumePactExec: could not resolve continuation ref: m.three');
  });

  it.each<[Dialect, string]>([
    [4, 'pact-id: not in pact execution'],
    [5, 'Attempted to fetch defpact data, but currently not within defpact execution'],
  ])('are where pact-id works, dialect %i', (dialect, message) => {
    expect(messageOf(() => new Chain(STEPS, dialect).run('(pact-id)'))).toBe(message);
  });
});

const YIELDS = module(`
  (defpact on (v) (step (yield { "v": v })) (step (resume { "v" := v } [v "resumed"])))
  (defpact none () (step 1) (step (resume { "v" := v } v)))
  (defpact back (v) (step-with-rollback (yield { "v": v } "1") 1) (step 2))
  (defpact over (v)
    (step (yield { "v": v } "1"))
    (step (resume { "v" := v } (yield { "v": [v "1"] })))
    (step (resume { "v" := v } (yield { "v": [v "2"] } "0")))
    (step (resume { "v" := v } [v "3"])))
  (defpact relay (v) (step (yield { "v": v } "1")) (step (resume { "v" := v } (yield { "v": v } "2"))) (step 1))
  (defun outside (v) (yield { "v": v }))`);
const HASH = hashText(YIELDS);
const OTHER_HASH = hashText('another module');

describe('yields', () => {
  it('reach the next step', () => {
    const chain = new Chain(YIELDS);
    expect(chain.run('(m.on 1)')).toBe('{"v": 1}');
    expect(chain.events).toEqual([]);
    expect(chain.continue(1)).toBe('[1 "resumed"]');
  });

  it.each<[string, Dialect, string]>([
    ['(m.outside 1)', 4, 'Yield not in defpact context'],
    ['(m.outside 1)', 5, 'Try to yield a value outside a running defpact execution'],
    ['(m.back 1)', 4, 'Cross-chain yield not allowed in step with rollback'],
    [
      '(m.back 1)',
      5,
      'Program encountered an unhandled raised error: Cross-chain yield not allowed in step with rollback',
    ],
    ['(resume { "v" := v } v)', 4, 'Resume: no yielded value in context'],
    ['(resume { "v" := v } v)', 5, 'No active defpact execution in the environment'],
    [
      '(yield 1)',
      4,
      'Invalid arguments, received [1] for [object:object:<{y}> -> object:<{y}>, object:object:<{y}> target-chain:string -> object:<{y}>]',
    ],
  ])('fail: %s in dialect %i', (code, dialect, message) => {
    expect(messageOf(() => new Chain(YIELDS, dialect).run(code))).toBe(message);
  });

  it.each<[Dialect, string]>([
    [4, 'Resume: no yielded value in context'],
    [5, `No yield value found from previous pact step. Current step: 1 defpact Id: ${ID}`],
  ])('are needed by resume, dialect %i', (dialect, message) => {
    const chain = new Chain(YIELDS, dialect);
    chain.run('(m.none)');
    expect(messageOf(() => chain.continue(1))).toBe(message);
  });
});

describe('gas', () => {
  /** @returns what two steps of a flow are charged for, without the first look at a module */
  function chargesOf(code: string, call: string): { first: readonly string[]; second: readonly string[] } {
    const chain = new Chain(code);
    const { gas } = chain.evaluator;
    gas.model = tableModel();
    gas.takeLog();
    const charges = () => (gas.takeLog() ?? []).slice(1).filter((line) => !line.startsWith('lookup'));
    chain.run(call);
    const first = charges();
    chain.continue(1);
    return { first, second: charges() };
  }

  it('is charged for steps, for what they yield, and for what they resume', () => {
    // A yielded object costs a tenth of its bytes: 48 of the column, 50 of its name, 40 of the integer.
    expect(chargesOf(YIELDS, '(m.on 1)')).toEqual({
      first: ['on: 1', 'yield: 2', 'yield: 14'],
      second: ['on: 1', 'resume: 2', 'resume: 1'],
    });
    expect(chargesOf(NESTED, '(m.single)')).toEqual({
      first: ['single: 1', 'two: 1', 'yield: 2', 'yield: 14'],
      second: ['single: 1', 'continue: 1', 'two: 1', 'resume: 2', 'resume: 1', 'pact-id: 1'],
    });
  });
});

it('objects that are yielded cost steps for their parts', () => {
  const code = (count: number) =>
    `(module m G (defcap G () true)
       (defpact f () (step (let ((v { "v": (make-list 1000 1) })) (map (lambda (x) (yield v)) (make-list ${count} 1))))))`;
  const run = (count: number) => new Chain(code(count), 4, {}, 20_000).run('(length (m.f))');
  expect(run(10)).toBe('10');
  expect(messageOf(() => run(20))).toBe('Code takes more than 20000 steps');
});

describe('flows across chains', () => {
  /** @returns a flow that has begun on chain 0 */
  function begun(code = YIELDS): FlowState {
    const chain = new Chain(code, 4, onChain('0'));
    chain.run('(m.over "a")');
    return chain.flow;
  }

  it('go on, come back, and tell of it', () => {
    const [here, there] = [new Chain(YIELDS, 4, onChain('0')), new Chain(YIELDS, 4, onChain('1'))];
    here.run('(m.over "a")');
    expect(here.events).toEqual(['pact.X_YIELD ["1" "m.over" ["a"]]']);
    expect(here.evaluator.state.events[0].moduleHash).toBe(HASH);
    expect(there.continue(1, { foreign: here.flow })).toBe('{"v": ["a" "1"]}');
    expect(there.events).toEqual(['pact.X_RESUME ["0" "m.over" ["a"]]']);
    expect(there.continue(2)).toBe('{"v": [["a" "1"] "2"]}');
    expect(there.events).toEqual(['pact.X_YIELD ["0" "m.over" ["a"]]']);
    expect(here.continue(3, { foreign: there.flow })).toBe('[[["a" "1"] "2"] "3"]');
    expect(here.events).toEqual(['pact.X_RESUME ["1" "m.over" ["a"]]']);
  });

  it('go from one foreign chain to the next', () => {
    const [here, there] = [new Chain(YIELDS, 4, onChain('0')), new Chain(YIELDS, 4, onChain('1'))];
    here.run('(m.relay "a")');
    there.continue(1, { foreign: here.flow });
    expect(there.events).toEqual(['pact.X_RESUME ["0" "m.relay" ["a"]]', 'pact.X_YIELD ["2" "m.relay" ["a"]]']);
  });

  it('without their events', () => {
    for (const flag of ['DisablePact40', 'DisablePactEvents'] as const) {
      const chain = new Chain(YIELDS, 4, { flags: new Set([flag]) });
      chain.run('(m.over "a")');
      expect(chain.events).toEqual([]);
      expect(chain.flow.yielded?.sourceChain).toBe(flag === 'DisablePact40' ? undefined : '');
    }
  });

  it.each<[string, (foreign: FlowState) => FlowState, Dialect, string]>([
    [
      'too early',
      (foreign) => foreign,
      4,
      'resumePact: db step 0 must be at least 2 steps before cross-chain continuation step 0',
    ],
    ['too early', (foreign) => foreign, 5, 'Crosschain defpact continuation error: defpact id:1'],
    [
      'with other arguments',
      (foreign) => ({ ...foreign, step: 2, continuation: { ...foreign.continuation, args: ['b', [1n, 2n]] } }),
      4,
      'resumePact: cross-chain continuation (m.over "b" [1, 2]) does not match db continuation (m.over "a")',
    ],
    [
      'with other steps',
      (foreign) => ({ ...foreign, step: 2, stepCount: 5 }),
      4,
      'resumePact: cross-chain step count 5 does not match db step count 4',
    ],
  ])('do not come back %s', (_, change, dialect, message) => {
    const chain = new Chain(YIELDS, dialect, onChain('0'));
    chain.run('(m.over "a")');
    const foreign = change(chain.flow);
    expect(messageOf(() => chain.continue(1, { foreign }))).toBe(message);
  });

  it.each<[Dialect, string]>([
    [4, `resumePactExec: request and context pact IDs do not match: (${ID}, x)`],
    [5, `Requested defpact id: ${ID} does not match context defpact id: x`],
  ])('do not go on under another id, dialect %i', (dialect, message) => {
    const there = new Chain(YIELDS, dialect, onChain('1'));
    expect(messageOf(() => there.continue(1, { foreign: { ...begun(), id: 'x' } }))).toBe(message);
  });

  it.each<[string, Partial<Environment>, Dialect, string]>([
    [
      'on another chain',
      onChain('2'),
      4,
      `enforceYield: yield provenance (chain = "1" hash="${HASH}") does not match [(chain = "2" hash="${HASH}")]`,
    ],
    [
      'on another chain',
      onChain('2'),
      5,
      `Yield provenance does not match, received (Provenance 1 ${HASH}), expected [(Provenance 2 ${HASH})]`,
    ],
    [
      'on another chain, by the older rule',
      { ...onChain('2'), flags: new Set(['DisablePact40']) },
      4,
      `enforceYield: yield provenance (chain = "2" hash="${HASH}") does not match (chain = "1" hash="${HASH}")`,
    ],
  ])('resume nothing %s', (_, environment, dialect, message) => {
    const there = new Chain(YIELDS, dialect, environment);
    expect(messageOf(() => there.continue(1, { foreign: begun() }))).toBe(message);
  });

  it('resume what an earlier version of the module has yielded, if it is blessed', () => {
    const newer = YIELDS.replace('(defpact on', `(bless "${HASH}") (bless "${OTHER_HASH}") (defpact on`);
    const there = new Chain(newer, 4, onChain('1'));
    expect(there.continue(1, { foreign: begun() })).toBe('{"v": ["a" "1"]}');
    const hash = hashText(newer);
    const allowed = [hash, HASH, OTHER_HASH].map((each) => `(chain = "1" hash="${each}")`).join(', ');
    const foreign = begun(YIELDS.replace('"resumed"', '"else"'));
    const { moduleHash } = foreign.yielded?.provenance ?? {};
    expect(messageOf(() => there.continue(1, { foreign, flowId: ID }))).toBe(
      'resumePact: db step 1 must be at least 2 steps before cross-chain continuation step 0',
    );
    expect(messageOf(() => new Chain(newer, 4, onChain('1')).continue(1, { foreign }))).toBe(
      `enforceYield: yield provenance (chain = "1" hash="${moduleHash}") does not match [${allowed}]`,
    );
    const older = new Chain(newer, 4, { ...onChain('1'), flags: new Set(['DisablePact40']) });
    expect(messageOf(() => older.continue(1, { foreign: begun() }))).toContain(`hash="${hash}") does not match`);
  });
});

const NESTED = `
(module inner G (defcap G () true)
  (defpact two (n) (step (yield { "n": n })) (step (resume { "n" := m } [m (pact-id)])))
  (defpact undone (n) (step-with-rollback [n 0] [n "undone"]) (step n))
  (defpact one () (step 1))
  (defpact private () (step "A" 1) (step 2))
  (defun function () 1))
(module m G (defcap G () true)
  (defpact good () (step [(inner.two 1) (inner.two 2)]) (step [(continue (inner.two 2)) (continue (inner.two 1))]))
  (defpact again () (step (inner.two 1)) (step (inner.two 1)))
  (defpact single () (step (inner.two 1)) (step (continue (inner.two 1))))
  (defpact forgets () (step (inner.two 1)) (step 1))
  (defpact late () (step 1) (step (inner.two 1)))
  (defpact undo () (step-with-rollback (inner.undone 1) (continue (inner.undone 1))) (step (continue (inner.undone 1))))
  (defpact undo-late () (step 1) (step-with-rollback (inner.undone 1) 1) (step 1))
  (defpact short () (step (inner.one)) (step 1))
  (defpact rollback () (step (inner.undone 1)) (step 1))
  (defpact private () (step (inner.private)) (step 1))
  (defpact stranger () (step (inner.two 1)) (step (continue (inner.two 3))))
  (defpact no-flow () (step (continue (+ 1 2))) (step 1))
  (defpact function () (step (continue (inner.function))) (step 1))
  (defpact twice () (step (inner.two 1)) (step [(continue (inner.two 1)) (continue (inner.two 1))])))
(module depth G (defcap G () true)
  (defpact good () (step (m.good)) (step (continue (m.good)))))`;

describe('flows in flows', () => {
  const idOf = (outer: string, json: string) => hashText(`${outer}:${json}`);

  it('do each step along with the outer one', () => {
    const chain = new Chain(NESTED);
    expect(chain.run('(m.good)')).toBe('[{"n": 1} {"n": 2}]');
    expect([...chain.flow.nested.values()].map(({ step }) => step)).toEqual([0, 0]);
    expect(chain.flow).toMatchObject({ id: ID, yielded: undefined });
    const ids = [2, 1].map((n) => idOf(ID, `{"args":[{"int":${n}}],"def":"inner.two"}`));
    expect(chain.continue(1)).toBe(`[[2 "${ids[0]}"] [1 "${ids[1]}"]]`);
    expect(chain.events).toEqual([]);
  });

  it('can be in one another', () => {
    const chain = new Chain(NESTED);
    expect(chain.run('(depth.good)')).toBe('[{"n": 1} {"n": 2}]');
    const outer = idOf(ID, '{"args":[],"def":"m.good"}');
    const ids = [2, 1].map((n) => idOf(outer, `{"args":[{"int":${n}}],"def":"inner.two"}`));
    expect(chain.continue(1)).toBe(`[[2 "${ids[0]}"] [1 "${ids[1]}"]]`);
  });

  it('are undone with the outer one', () => {
    const chain = new Chain(NESTED);
    expect(chain.run('(m.undo)')).toBe('[1 0]');
    expect(chain.rollBack(0)).toBe('[1 "undone"]');
  });

  it('resume nothing when they are called again, but in dialect 5', () => {
    const chain = new Chain(NESTED);
    chain.run('(m.again)');
    expect(messageOf(() => chain.continue(1))).toBe('Resume: no yielded value in context');
    for (const flow of ['again', 'good']) {
      const chain5 = new Chain(NESTED, 5);
      chain5.run(`(m.${flow})`);
      expect(chain5.continue(1)).toContain(`[1 "${idOf(ID, '{"args":[{"int":1}],"def":"inner.two"}')}"]`);
    }
  });

  const [PARENT, LATE] = [ID, idOf(ID, '{"args":[{"int":1}],"def":"inner.two"}')];
  const MISMATCH = 'Nested defpact execution failed, parameter mismatch:';

  it.each<[string, Dialect, string]>([
    ['short', 4, 'applyNestedPact: invalid nested defpact length, must be equal to length of parent'],
    ['short', 5, `${MISMATCH} PactId: ${PARENT} step count: 1 Parent step count: 2`],
    ['rollback', 4, 'applyNestedPact: invalid nested defpact step, must match parent rollback'],
    ['rollback', 5, `${MISMATCH} defpact id: ${PARENT} Rollback: True Parent rollback:False`],
    ['private', 4, 'applyNestedPact: nested defpacts do not allow private execution'],
    ['function', 4, 'Attempting to continue a pact that was not nested: (defun inner.function:* ())'],
    ['no-flow', 4, 'continue: argument must be a defpact 3'],
  ])('fail in the first step: %s in dialect %i', (flow, dialect, message) => {
    expect(messageOf(() => new Chain(NESTED, dialect).run(`(m.${flow})`))).toBe(message);
  });

  it.each<[string, Dialect, string]>([
    ['forgets', 4, `Nested defpacts were not all advanced in prior step for pact: ${PARENT}`],
    ['forgets', 5, `Nested defpact not advanced ${PARENT}`],
    ['late', 4, 'Nested pact executing same nested pact twice'],
    ['late', 5, `Requested nested defpact double execution: defpact id: ${LATE}`],
    ['stranger', 4, 'Attempting to continue a pact that was not nested: (defpact inner.two:* (n:*))'],
    ['twice', 4, 'Nested pact never started at prior step'],
    ['twice', 5, `Requested nested defpact never started: defpact id: ${LATE}`],
  ])('fail in the second step: %s in dialect %i', (flow, dialect, message) => {
    const chain = new Chain(NESTED, dialect);
    chain.run(`(m.${flow})`);
    expect(messageOf(() => chain.continue(1))).toBe(message);
  });

  it('are continued only in steps', () => {
    expect(messageOf(() => new Chain(NESTED).run('(continue (inner.two 1))'))).toBe('Not within pact invocation');
    expect(messageOf(() => new Chain(NESTED).run('(continue)'))).toBe(
      'Invalid arguments, received [] for value:* -> *',
    );
  });

  it('are refused with the flag DisablePact43', () => {
    const chain = new Chain(NESTED, 4, { flags: new Set(['DisablePact43']) });
    const refusal = 'initPact: internal error: step already in environment';
    expect(messageOf(() => chain.run('(m.good)'))).toBe(refusal);
    expect(messageOf(() => chain.run('(continue (inner.two 1))'))).toBe('Cannot resolve continue');
  });

  it('cost steps for those that are there already', () => {
    const many = (count: number) =>
      `(module inner G (defcap G () true) (defpact f (n) (step n)))
       (module m G (defcap G () true) (defpact all () (step (length (map (inner.f) (enumerate 1 ${count}))))))`;
    expect(new Chain(many(100), 4, {}, 10_000).run('(m.all)')).toBe('100');
    expect(messageOf(() => new Chain(many(200), 4, {}, 10_000).run('(m.all)'))).toBe(
      'Code takes more than 10000 steps',
    );
  });
});

const PRIVATE = module(`
  (defpact p (who)
    (step-with-rollback who "0" "undone 0")
    (step-with-rollback who "1" "undone 1")
    (step "2"))`);

describe('private steps', () => {
  it('run only for their participant', () => {
    const chain = new Chain(PRIVATE, 4, { entity: 'A' });
    expect(chain.run('(m.p "A")')).toBe('"0"');
    expect(chain.flow.isExecuted).toBe(true);
    const other = new Chain(PRIVATE, 4, { entity: 'B' });
    expect(other.run('(m.p "A")')).toBe('"skip step"');
    expect(other.flow.isExecuted).toBe(false);
    expect(other.continue(1)).toBe('"skip step"');
    expect(other.continue(2)).toBe('"2"');
  });

  it('are undone step by step', () => {
    const chain = new Chain(PRIVATE, 4, { entity: 'A' });
    chain.run('(m.p "A")');
    chain.continue(1);
    expect(chain.rollBack(1)).toBe('"undone 1"');
    expect(chain.rollBack(1)).toBe('"undone 1"');
    const other = new Chain(PRIVATE, 4, { entity: 'A' });
    other.run('(m.p "A")');
    expect(other.rollBack(0)).toBe('"undone 0"');
    expect(messageOf(() => other.rollBack(0))).toBe(`resumePact: pact completed: ${ID}`);
  });

  it.each<[string, Partial<Environment>, Dialect, string]>([
    ['(m.p "A")', {}, 4, 'applyPact: private step executed against non-private environment'],
    ['(m.p 1)', { entity: 'A' }, 4, 'applyPact: step entity must be String value)'],
    [
      '(m.p "A")',
      { entity: 'A' },
      5,
      'Pact 5 does not support entity expressions in defpact m.p. Please ensure your defpact steps have the correct number of expressions',
    ],
  ])('fail: %s, environment %j, dialect %i', (code, environment, dialect, message) => {
    expect(messageOf(() => new Chain(PRIVATE, dialect, environment).run(code))).toBe(message);
  });
});
