/** An evaluator that notes which expressions are evaluated. It is slower, so it is used only on request. */

import { TreeEvaluator } from '../evaluator/evaluator.ts';
import type { MemberCall } from '../runtime/native.ts';
import type { Scope } from '../runtime/scope.ts';
import type { Application, Expression } from '../syntax/tree.ts';
import type { Value } from '../values/values.ts';
import type { Coverage } from './coverage.ts';

type EvaluatorOptions = ConstructorParameters<typeof TreeEvaluator>[0];

export class CoveredEvaluator extends TreeEvaluator {
  readonly #coverage: Coverage;

  constructor(options: EvaluatorOptions, coverage: Coverage) {
    super(options);
    this.#coverage = coverage;
  }

  override evaluate(expression: Expression, scope?: Scope): Value {
    // Applications are noted where they are applied, because natives such as `map` apply them without evaluating them.
    if (expression.kind !== 'application') this.#coverage.hit(expression);
    return super.evaluate(expression, scope);
  }

  override apply(application: Application, scope: Scope, last?: readonly Value[]): Value {
    this.#coverage.hit(application);
    try {
      return super.apply(application, scope, last);
    } catch (fault) {
      this.#coverage.failed(application);
      throw fault;
    }
  }

  /** Notes capabilities, and the calls of guards, whose arguments alone are evaluated. */
  override callOf(expression: Expression, scope: Scope): MemberCall | undefined {
    this.#coverage.hit(expression);
    return super.callOf(expression, scope);
  }

  /** Notes functions that lack arguments, which become values without being applied. */
  override isPartial(expression: Expression, scope: Scope): boolean {
    const isPartial = super.isPartial(expression, scope);
    if (isPartial) this.#coverage.hit(expression);
    return isPartial;
  }
}
