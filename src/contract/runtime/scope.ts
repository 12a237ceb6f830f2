/** Scopes, which hold variables, and closures, which are functions with the scope in which they were made. */

import type { Defun, Lambda } from '../syntax/tree.ts';
import { Unstorable, type Value } from '../values/values.ts';
import type { Names } from './module.ts';

/**
 * The variables that an expression can use: those of this scope and of the scopes around it. A variable hides variables
 * of the same name in outer scopes.
 */
export class Scope {
  /** Resolves the names that are neither variables nor natives. */
  readonly names: Names;
  /** Number of scopes around this one. Code can nest thousands of scopes, so `find` uses a loop and no recursion. */
  readonly depth: number;
  readonly #outer: Scope | undefined;
  readonly #variables: ReadonlyMap<string, Value>;

  /**
   * @param variables the variables of the new scope itself
   * @param outer the scope around the new one; undefined for the body of a definition, where the caller's variables are
   *   not visible, and for code outside of modules
   */
  constructor(names: Names, variables: ReadonlyMap<string, Value> = new Map(), outer?: Scope) {
    this.names = names;
    this.depth = outer ? outer.depth + 1 : 0;
    this.#outer = outer;
    this.#variables = variables;
  }

  /** @returns a scope inside this one, with these variables */
  with(variables: ReadonlyMap<string, Value>): Scope {
    return new Scope(this.names, variables, this);
  }

  /** @returns the value of the innermost variable of this name; undefined if there is none */
  find(name: string): Value | undefined {
    for (let scope: Scope | undefined = this; scope; scope = scope.#outer) {
      const value = scope.#variables.get(name);
      if (value !== undefined) return value;
    }
    return undefined;
  }
}

/** A lambda with the scope in which it was made. A function that is defined outside of modules is also a closure. */
export class Closure extends Unstorable {
  override readonly type = 'function';
  readonly lambda: Lambda;
  readonly scope: Scope;
  /** The definition outside of modules; undefined for a lambda. */
  readonly defun: Defun | undefined;

  constructor(lambda: Lambda, scope: Scope, defun?: Defun) {
    super();
    this.lambda = lambda;
    this.scope = scope;
    this.defun = defun;
  }

  override toString(): string {
    return `(lambda (${this.lambda.parameters.map(({ name }) => name).join(' ')}))`;
  }

  override equals(other: Unstorable): boolean {
    return other === this;
  }
}
