/** The variables that code sees, and functions that remember them. */

import type { Lambda } from '../syntax/tree.ts';
import { Unstorable, type Value } from '../values/values.ts';
import type { Names } from './module.ts';

/** Inner variables hide outer ones of the same name. */
export class Scope {
  /** What other names mean. */
  readonly names: Names;
  /** How many scopes a look-up goes through at most. Code decides, so the look-up must not call itself for each. */
  readonly depth: number;
  readonly #outer: Scope | undefined;
  readonly #variables: ReadonlyMap<string, Value>;

  /** @param variables those of a function, which does not see the variables of its caller */
  constructor(names: Names, variables: ReadonlyMap<string, Value> = new Map(), outer?: Scope) {
    this.names = names;
    this.depth = outer ? outer.depth + 1 : 0;
    this.#outer = outer;
    this.#variables = variables;
  }

  with(variables: ReadonlyMap<string, Value>): Scope {
    return new Scope(this.names, variables, this);
  }

  find(name: string): Value | undefined {
    for (let scope: Scope | undefined = this; scope; scope = scope.#outer) {
      const value = scope.#variables.get(name);
      if (value !== undefined) return value;
    }
    return undefined;
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
