/** A chain on which defpacts run, and modules with defpacts. */

import { continueDefpact } from '#pickaxe/contract/defpacts/defpacts.js';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { MAX_STEPS, TreeEvaluator } from '#pickaxe/contract/evaluator/evaluator.js';
import { runTopLevel } from '#pickaxe/contract/evaluator/top-level.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import type { DefpactState } from '#pickaxe/contract/runtime/defpact-state.js';
import { type Environment, INITIAL_CHAIN_DATA, INITIAL_ENVIRONMENT } from '#pickaxe/contract/runtime/environment.js';
import { type DefpactStep, INITIAL_STATE } from '#pickaxe/contract/runtime/state.js';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import { hashText } from '#pickaxe/contract/values/hash.js';

/** The pact id of the defpact that the only transaction begins. */
export const ID = hashText('a transaction');

/** Runs code on one chain. Each step of a defpact is a transaction of its own. */
export class Chain {
  readonly evaluator: TreeEvaluator;

  constructor(code: string, dialect: Dialect = 4, environment: Partial<Environment> = {}, maxSteps = MAX_STEPS) {
    this.evaluator = new TreeEvaluator({
      dialect,
      natives: NATIVES,
      maxSteps,
      environment: { ...INITIAL_ENVIRONMENT, hash: ID, ...environment },
    });
    this.run(code);
  }

  /** @returns what the last form prints */
  run(code: string): string {
    this.evaluator.state = INITIAL_STATE;
    this.evaluator.resetSteps();
    const forms = parseProgram(code, this.evaluator.dialect);
    const values = forms.map((form) => runTopLevel(this.evaluator, form));
    return this.evaluator.print(values[values.length - 1]);
  }

  continue(step: number, { foreign, ...more }: Partial<DefpactStep> & { foreign?: DefpactState } = {}): string {
    this.evaluator.state = INITIAL_STATE;
    const whole = { pactId: ID, step, isRollback: false, resumed: foreign?.yielded, ...more };
    return this.evaluator.print(continueDefpact(this.evaluator, whole, foreign));
  }

  rollBack(step: number): string {
    return this.continue(step, { isRollback: true });
  }

  /** The defpact that was executed last. @throws Error if there was none */
  get defpact(): DefpactState {
    const { defpact } = this.evaluator.state;
    if (!defpact) throw new Error('There was no defpact');
    return defpact;
  }

  get events(): string[] {
    const { events } = this.evaluator.state;
    return events.map(({ name, args }) => `${name.text} ${this.evaluator.print(args)}`);
  }
}

export function onChain(chainId: string): Partial<Environment> {
  return { chain: { ...INITIAL_CHAIN_DATA, chainId } };
}

export function module(body: string): string {
  return `(module m G (defcap G () true) ${body})`;
}

export const YIELDS = module(`
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
export const NESTED = `
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
