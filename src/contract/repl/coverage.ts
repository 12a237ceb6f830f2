/** Counts which lines, branches and functions of modules the tests have run. It needs no evaluator. */

import type { Application, Expression, Module } from '../syntax/tree.ts';

/** What tests have run of a file. The numbers count how often. It can be sent from one thread to another. */
export interface FileCoverage {
  readonly file: string;
  readonly functions: ReadonlyMap<string, { readonly line: number; readonly hits: number }>;
  /** By the line, for each line on which code begins. */
  readonly lines: ReadonlyMap<number, number>;
  /** By `LINE:COLUMN` of the form that branches: how often each of its branches was taken. */
  readonly branches: ReadonlyMap<string, readonly number[]>;
}

/** Natives that can fail with their first argument. One branch is that it holds, and the other that it does not. */
const ENFORCING: ReadonlySet<string> = new Set(['enforce', 'enforce-one']);

export class Coverage {
  readonly #hits = new Map<Expression, number>();
  readonly #failures = new Map<Expression, number>();
  readonly #modules: Module[] = [];

  /** Adds a module that is loaded. Code outside of modules is not counted. */
  add(module: Module): void {
    if (module.position.file !== undefined) this.#modules.push(module);
  }

  /** Counts an expression that is evaluated. */
  hit(expression: Expression): void {
    this.#hits.set(expression, (this.#hits.get(expression) ?? 0) + 1);
  }

  /** Counts an expression that has failed. */
  failed(expression: Expression): void {
    this.#failures.set(expression, (this.#failures.get(expression) ?? 0) + 1);
  }

  /** @returns a list with one entry for each file that has a module */
  files(): readonly FileCoverage[] {
    return mergedCoverage(this.#modules.map((module) => this.#moduleCoverage(module)));
  }

  #moduleCoverage(module: Module): FileCoverage {
    const functions = new Map<string, { line: number; hits: number }>();
    const lines = new Map<number, number>();
    const branches = new Map<string, readonly number[]>();
    const hits = (expression: Expression) => this.#hits.get(expression) ?? 0;
    const count = (expression: Expression) => {
      const { line } = expression.position;
      lines.set(line, Math.max(lines.get(line) ?? 0, hits(expression)));
    };
    const visit = (expression: Expression, isBody: boolean): void => {
      // For example, the message of an enforcement is evaluated only when it fails.
      if (isBody || !LEAVES.has(expression.kind)) count(expression);
      const outcomes = this.#branchesOf(expression);
      if (outcomes) branches.set(`${expression.position.line}:${expression.position.column}`, outcomes);
      for (const { inner, body } of partsOf(expression)) visit(inner, body);
    };
    for (const item of module.items) {
      const body = bodyOf(item);
      if (body.length === 0) continue;
      for (const expression of body) visit(expression, true);
      if ('name' in item) functions.set(item.name, { line: item.position.line, hits: hits(body[0]) });
    }
    return { file: module.position.file ?? '', functions, lines, branches };
  }

  /** @returns how often each branch of an expression was taken; undefined for an expression without branches */
  #branchesOf(expression: Expression): readonly number[] | undefined {
    const hits = (each: Expression) => this.#hits.get(each) ?? 0;
    if (expression.kind === 'cond') {
      return [...expression.branches.map(({ value }) => hits(value)), hits(expression.otherwise)];
    }
    if (expression.kind !== 'application' || expression.callee.kind !== 'name') return undefined;
    const [, first, second] = expression.arguments;
    if (isIf(expression) && first && second) return [hits(first), hits(second)];
    if (!ENFORCING.has(expression.callee.name)) return undefined;
    const failures = this.#failures.get(expression) ?? 0;
    return [hits(expression) - failures, failures];
  }
}

function isIf({ callee }: Application): boolean {
  return callee.kind === 'name' && callee.name === 'if';
}

/** The kinds of expressions that take a line of their own only in a body. */
const LEAVES: ReadonlySet<Expression['kind']> = new Set([
  'integer',
  'decimal',
  'text',
  'boolean',
  'unit',
  'name',
  'dotted-name',
  'dynamic-name',
  'list',
  'object',
]);

/** @returns the expressions that run when the item is called or, for a constant, loaded */
function bodyOf(item: Module['items'][number]): readonly Expression[] {
  switch (item.kind) {
    case 'defun':
    case 'defcap':
      return item.body;
    case 'defpact':
      return item.steps.flatMap(({ entity, value, rollback }) => [
        ...(entity ? [entity] : []),
        value,
        ...(rollback ? [rollback] : []),
      ]);
    default:
      return [];
  }
}

interface Part {
  readonly inner: Expression;
  /** Whether it stands in a body, and not as an argument. */
  readonly body: boolean;
}

function partsOf(expression: Expression): readonly Part[] {
  const args = (list: readonly Expression[]) => list.map((inner) => ({ inner, body: false }));
  const bodies = (list: readonly Expression[]) => list.map((inner) => ({ inner, body: true }));
  switch (expression.kind) {
    case 'list':
      return args(expression.items);
    case 'object':
      return args(expression.fields.map(({ value }) => value));
    case 'application':
      return [
        ...args(expression.callee.kind === 'lambda' ? [expression.callee] : []),
        // The branches of `if` are as long as bodies, so that each has a line.
        ...(isIf(expression) ? bodies : args)(expression.arguments),
        ...bodies(expression.binding?.body ?? []),
      ];
    case 'let':
      return [...args(expression.variables.map(({ value }) => value)), ...bodies(expression.body)];
    case 'lambda':
      return bodies(expression.body);
    case 'cond': {
      const { branches, otherwise } = expression;
      return [
        ...branches.flatMap(({ condition, value }) => [...args([condition]), ...bodies([value])]),
        ...bodies([otherwise]),
      ];
    }
    case 'with-capability':
      return [...args([expression.capability]), ...bodies(expression.body)];
    default:
      return [];
  }
}

/** @returns the sums of what was run of each file, sorted by the files */
export function mergedCoverage(all: readonly FileCoverage[]): readonly FileCoverage[] {
  const merged = new Map<string, FileCoverage>();
  for (const each of all) {
    const before = merged.get(each.file);
    merged.set(each.file, before ? sumOf(before, each) : each);
  }
  return [...merged.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
}

function sumOf(a: FileCoverage, b: FileCoverage): FileCoverage {
  return {
    file: a.file,
    functions: united(a.functions, b.functions, (x, y) => ({ line: y.line, hits: x.hits + y.hits })),
    lines: united(a.lines, b.lines, (x, y) => x + y),
    branches: united(a.branches, b.branches, (x, y) => y.map((hits, at) => hits + (x[at] ?? 0))),
  };
}

/** @returns a map with the entries of both, and the sums for keys that both have */
function united<K extends string | number, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>, sum: (x: V, y: V) => V) {
  const both = new Map(a);
  for (const [key, value] of b) {
    const before = both.get(key);
    both.set(key, before === undefined ? value : sum(before, value));
  }
  return both;
}
