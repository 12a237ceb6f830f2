/** Which values an argument of each type may have, in both dialects. */

import { describe, expect, it } from 'vitest';
import { lastOf } from '../dialogue.ts';

const MODULE = `(env-data {"k": ["a"]})
  (interface i (defun g ()))
  (module m G (defcap G () true) (implements i) (defschema s a:integer b:[string] c) (deftable t:{s}) (defun g () 1)
    TYPED)`;

/** A type as code has it and as messages have it, of dialect 4 or of dialect 5, and values that have it. */
const TYPES: readonly (readonly [type: string, shown: string, ...values: string[]])[] = [
  ['integer', 'integer', '1'],
  ['decimal', 'decimal', '1.0'],
  ['string', 'string', '"a"'],
  ['bool', 'bool', 'true'],
  ['time', 'time', '(time "2020-01-01T00:00:00Z")'],
  ['keyset', 'keyset or guard', '(read-keyset "k")'],
  ['guard', 'guard', '(read-keyset "k")', '(create-user-guard (m.g))'],
  ['list', '[<a>] or list', '[]', '[1 "a"]', '[1]', '[{"a": 1, "b": [], "c": 1}]'],
  ['[integer]', '[integer] or list integer', '[]', '[1]'],
  ['[object{s}]', '[object:{s}] or list (object{m.s})', '[]', '[{"a": 1, "b": [], "c": 1}]'],
  ['object', 'object:* or object', '{"a": 1}', '{"a": 1, "b": [], "c": 1}'],
  ['object{s}', 'object:{s} or object{m.s}', '{"a": 1, "b": [], "c": 1}'],
  ['module{i}', 'module{i}', 'm'],
  ['table{s}', 'table:{s} or table{m.s}', 'm.t'],
];
const VALUES = [...new Set(TYPES.flatMap(([, , ...values]) => values)), 'i'];

describe.each([4, 5] as const)('in dialect %i, of all values', (dialect) => {
  it.each(TYPES)('an argument of the type %s may have only those', (type, shown, ...values) => {
    const module = MODULE.replace('TYPED', `(defun f (a:${type}) 7)`);
    const taken = VALUES.filter((value) => lastOf(dialect, [module, `(m.f ${value})`]) === '7');
    const more = type === 'keyset' && dialect === 5 ? ['(create-user-guard (m.g))'] : [];
    expect(taken.toSorted()).toEqual([...more, ...values].toSorted());
    const [in4, in5 = in4] = shown.split(' or ');
    const isOne = ['string', 'integer'].includes(type);
    const fault = lastOf(dialect, [module, `(m.f ${isOne ? 'true' : '1'})`]);
    const found = isOne ? 'bool' : 'integer';
    expect(fault).toBe(
      dialect === 4
        ? `Type error: expected ${in4}, found ${found}`
        : `Runtime typecheck failure, argument is ${found} , but expected type ${in5}`,
    );
  });
});

it.each([
  ['{"a": 1, "b": []}', 'Missing fields for {s}: [c:*]'],
  ['{"a": 1, "b": [], "c": 1, "d": 1}', 'Invalid field for {s}: "d"'],
  ['{"a": 1, "b": [], "d": 1}', 'Invalid field for {s}: "d"'],
  ['{"a": 1, "b": ["a" 1], "c": 1}', 'Type error: expected string, found integer'],
  ['{"a": 1, "b": 1, "c": 1}', 'Type error: expected [string], found integer'],
])('%s is refused for what differs from the schema', (value, fault) => {
  const module = MODULE.replace('TYPED', '(defun f (a:object{s}) 1) (defun all (a:[object{s}]) 1)');
  expect(lastOf(4, [module, `(m.f ${value})`])).toBe(fault);
  expect(lastOf(4, [module, `(m.all [{"a": 1, "b": [], "c": 1} ${value}])`])).toBe(fault);
  expect(lastOf(5, [module, `(m.f ${value})`])).toMatch(/^Runtime typecheck failure, argument is object , /);
});
