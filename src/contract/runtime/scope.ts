/** Scopes, which hold the variables of code, and closures, which keep the scope in which they were made. */

import type { Lambda } from '../syntax/tree.ts';
import { Unstorable, type Value } from '../values/values.ts';
import type { Names } from './module.ts';

/**
 * The variables that an expression can use, from the innermost to the outermost. An inner variable hides an outer
 * variable of the same name.
 */
export class Scope {
  /** Resolves all names that are not variables. */
  readonly names: Names;
  /** Number of outer scopes. Code can nest thousands, so a look-up uses a loop instead of recursion. */
  readonly depth: number;
  readonly #outer: Scope | undefined;
  readonly #variables: ReadonlyMap<string, Value>;

  /**
   * @param variables the variables of the new scope itself
   * @param outer undefined for the scope of a function, which does not see its caller's variables
   */
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

/** A function without a name, with the scope in which it was made. */
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
