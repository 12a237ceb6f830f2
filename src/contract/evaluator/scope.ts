/** The variables that code sees, and functions that remember them. */

import type { Lambda } from '../syntax/tree.ts';
import { Unstorable, type Value } from '../values/values.ts';

/** Inner variables hide outer ones of the same name. */
export class Scope {
  static readonly EMPTY = new Scope(undefined, new Map());

  readonly #outer: Scope | undefined;
  readonly #variables: ReadonlyMap<string, Value>;

  private constructor(outer: Scope | undefined, variables: ReadonlyMap<string, Value>) {
    this.#outer = outer;
    this.#variables = variables;
  }

  with(variables: ReadonlyMap<string, Value>): Scope {
    return new Scope(this, variables);
  }

  find(name: string): Value | undefined {
    const value = this.#variables.get(name);
    return value === undefined ? this.#outer?.find(name) : value;
  }
}

/** A function without a name, and the variables around it. */
export class Closure extends Unstorable {
  override readonly type = 'function';
  readonly lambda: Lambda;
  readonly scope: Scope;

  constructor(lambda: Lambda, scope: Scope) {
    super();
    this.lambda = lambda;
    this.scope = scope;
  }

  override toString(): string {
    return `(lambda (${this.lambda.parameters.map(({ name }) => name).join(' ')}))`;
  }

  override equals(other: Unstorable): boolean {
    return other === this;
  }
}
