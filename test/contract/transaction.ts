/** Runs top-level forms, such as modules and calls of their members. */

import type { Dialect } from '#pickaxe/contract/dialect.js';
import type { ContractError } from '#pickaxe/contract/errors.js';
import { MAX_STEPS, TreeEvaluator } from '#pickaxe/contract/evaluator/evaluator.js';
import { runTopLevel } from '#pickaxe/contract/evaluator/top-level.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { Database } from '#pickaxe/contract/runtime/database.js';
import { type Environment, type Flag, INITIAL_ENVIRONMENT } from '#pickaxe/contract/runtime/environment.js';
import { INITIAL_STATE } from '#pickaxe/contract/runtime/state.js';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import { faultOf } from './faults.ts';

export interface TransactionOptions {
  dialect?: Dialect;
  flags?: Flag[];
  environment?: Partial<Environment>;
  maxSteps?: number;
}

export class Transaction {
  readonly evaluator: TreeEvaluator;
  readonly #dialect: Dialect;

  constructor({ dialect = 4, flags = [], environment = {}, maxSteps = MAX_STEPS }: TransactionOptions = {}) {
    this.#dialect = dialect;
    this.evaluator = new TreeEvaluator({
      dialect,
      natives: NATIVES,
      maxSteps,
      environment: { ...INITIAL_ENVIRONMENT, flags: new Set(flags), ...environment },
    });
  }

  /** @returns what the interactive interpreter prints for the last form. Each form has the maximum number of steps */
  run(code: string): string {
    let text = '';
    for (const form of parseProgram(code, this.#dialect)) {
      this.evaluator.resetSteps();
      const value = runTopLevel(this.evaluator, form);
      text = this.evaluator.print(value);
    }
    return text;
  }

  faultOf(code: string): ContractError {
    return faultOf(() => this.run(code));
  }

  /** Runs code in a transaction of its own, whose writes are logged with this number. */
  commit(number: bigint, code: string): void {
    const { evaluator } = this;
    const below = evaluator.database;
    evaluator.database = new Database(below);
    this.run(code);
    below.absorb(evaluator.database, number);
    evaluator.database = below;
  }

  /** Resets the state of the transaction, such as the modules whose governance has agreed. */
  forget(): void {
    this.evaluator.state = INITIAL_STATE;
  }
}
