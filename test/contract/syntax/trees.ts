/** Parses code into trees that tests compare, and makes the parts of expected trees. */

import { expect } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { ModuleName, QualifiedName } from '#pickaxe/contract/names.js';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import type { Interface, Module, TopLevel } from '#pickaxe/contract/syntax/tree.js';
import { faultOf } from '../faults.ts';

/** The tree without positions and code. */
export function plain(node: unknown): unknown {
  if (node instanceof ModuleName || node instanceof QualifiedName) return node.text;
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).filter(
    ([key, value]) => key !== 'position' && key !== 'code' && value !== undefined,
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, plain(value)]));
}

export function one(code: string, dialect: Dialect = 4): TopLevel {
  const nodes = parseProgram(code, dialect);
  expect(nodes).toHaveLength(1);
  return nodes[0]!;
}

export const parse = (code: string, dialect: Dialect = 4) => plain(one(code, dialect));

export function moduleOf(items: string, dialect: Dialect = 4): Module {
  const node = one(`(module m G ${items})`, dialect);
  if (node.kind !== 'module') throw new Error(node.kind);
  return node;
}

export const item = (code: string, dialect: Dialect = 4) => plain(moduleOf(code, dialect).items[0]);

export const interfaceItem = (code: string) => plain((one(`(interface i ${code})`) as Interface).items[0]);

export function failure(code: string, dialect: Dialect = 4): { kind: string; message: string; column?: number } {
  const { kind, message, position } = faultOf(() => parseProgram(code, dialect));
  return { kind, message, ...(position && { column: position.column }) };
}

export const message = (code: string, dialect: Dialect = 4) => failure(code, dialect).message;

export const int = (value: bigint) => ({ kind: 'integer', value });
export const text = (value: string) => ({ kind: 'text', value });
export const name = (value: string) => ({ kind: 'name', name: value });
export const parameter = (value: string, type?: string) =>
  type === undefined ? { name: value } : { name: value, type: { kind: 'primitive', name: type } };
