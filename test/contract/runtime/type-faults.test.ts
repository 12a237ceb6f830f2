/** Messages for values of a wrong type. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { lastOf } from '../dialogue.ts';

const MODULE = `(module m G (defcap G () true)
  (defschema inner x:integer)
  (defschema outer in:object{inner} names:[string])
  (defun lists (a:[[integer]]) a)
  (defun objects (a:object{outer}) a)
  (defun data:object{public-chain-data} () (chain-data))
  (defun other:object{public-chain-data} (a) a)
  (defun named:object{described-namespace} (a) a))`;

const fault = (dialect: Dialect, code: string) => lastOf(dialect, [MODULE, code]);

describe('what has the wrong type', () => {
  it.each([
    ['(m.lists 1)', 'Type error: expected [[integer]], found integer'],
    ['(m.lists [[1] 2])', 'Type error: expected [integer], found integer'],
    ['(m.lists [[1] [[2]]])', 'Type error: expected integer, found [<a>]'],
    ['(m.lists [[1] [2 "3"]])', 'Type error: expected integer, found string'],
    ['(m.objects { "in": { "x": 1 }, "names": [1] })', 'Type error: expected string, found integer'],
    ['(m.objects { "in": { "x": "1" }, "names": [] })', 'Type error: expected integer, found string'],
    ['(m.objects { "in": { "y": 1 }, "names": [] })', 'Invalid field for {inner}: "y"'],
    ['(m.objects { "in": {}, "names": [] })', 'Missing fields for {inner}: [x:integer]'],
    ['(m.objects {})', 'Missing fields for {outer}: [in:object:{inner}, names:[string]]'],
  ])('%s', (code, message) => {
    expect(fault(4, code)).toBe(message);
  });

  it.each([
    ['[integer]', '["a"]', 'list', 'list integer'],
    ['[[integer]]', '[1]', 'list', 'list (list integer)'],
    ['[object{s}]', '[1]', 'list', 'list (object{n.s})'],
    ['list', '1', 'integer', 'list'],
    ['object{s}', '{"x": 1}', 'object', 'object{n.s}'],
    ['object{o.s}', '{"y": 1}', 'object', 'object{o.s}'],
    ['object', '1', 'integer', 'object'],
    ['table{s}', '1', 'integer', 'table{n.s}'],
    ['module{j,i}', 'n', 'modref', 'module{i, j}'],
    ['keyset', '1', 'integer', 'guard'],
    ['bool', '1.0', 'decimal', 'bool'],
  ])('is the whole value in dialect 5, as for a parameter of type %s', (type, arg, found, expected) => {
    const setUp = `(interface i (defconst A 1)) (interface j (defconst A 1))
      (module o G (defcap G () true) (defschema s x:integer))
      (module n G (defcap G () true) (defschema s y:integer) (defun f (a:${type}) a)) (n.f ${arg})`;
    expect(lastOf(5, [setUp])).toBe(`Runtime typecheck failure, argument is ${found} , but expected type ${expected}`);
  });

  it('in dialect 5 is any guard but for keysets, whose type is another name of that of guards', () => {
    const module = '(module n G (defcap G () true) (defun f:keyset () (create-module-guard "g"))) (typeof (n.f))';
    expect(lastOf(5, [module])).toBe('"guard"');
  });
});

describe('schemas that the language knows', () => {
  it('are those of chain-data and describe-namespace', () => {
    expect(fault(4, '(at "block-height" (m.data))')).toBe('0');
    expect(fault(4, '(m.other { "block-height": 1 })')).toContain(
      'Missing fields for {public-chain-data}: [block-time:time, ',
    );
    const namespace =
      '(define-namespace "n" (sig-keyset) (sig-keyset)) (at "namespace-name" (m.named (describe-namespace "n")))';
    expect(fault(4, namespace)).toBe('"n"');
  });

  it('are unknown in dialect 5', () => {
    const module = '(module n G (defcap G () true) (defun f:object{public-chain-data} () (chain-data)))';
    expect(lastOf(5, [module])).toContain('public-chain-data');
  });
});

describe('a table as an argument', () => {
  const tables = `(module t G (defcap G () true)
    (defschema row x:integer y) (defschema same y x:integer) (defschema other x:integer)
    (deftable rows:{row}) (deftable sames:{same}) (deftable others:{other})
    (defun typed (a:table{row}) true)
    (defun untyped (a:table) true))
    (create-table t.rows) (create-table t.sames) (create-table t.others)`;

  it.each(['rows', 'sames', 'others'])('may be any where no schema is asked for: %s', (name) => {
    expect(lastOf(4, [tables, `(t.untyped t.${name})`])).toBe('true');
  });

  it.each(['rows', 'sames'])('has the fields of the schema: %s', (name) => {
    expect(lastOf(4, [tables, `(t.typed t.${name})`])).toBe('true');
  });

  it.each(['t.others', '1', '{ "x": 1, "y": 2 }'])('is refused with other fields: %s', (value) => {
    expect(lastOf(4, [tables, `(t.typed ${value})`])).toMatch(/^Type error: expected table:\{row\}, found /);
  });
});

describe('a module as an argument', () => {
  const modules = `(interface i (defun f:integer ())) (interface j (defun g:integer ()))
    (module both G (defcap G:bool () true) (implements i) (implements j) (defun f:integer () 1) (defun g:integer () 2))
    (module one G (defcap G:bool () true) (implements i) (defun f:integer () 1))
    (module user G (defcap G:bool () true)
      (defun two:bool (a:module{i,j}) true) (defun single:bool (a:module{i}) true))`;

  it.each([
    ['(user.single one)', 'true'],
    ['(user.single both)', 'true'],
    ['(user.two both)', 'true'],
  ])('implements all interfaces of its type: %s', (code, text) => {
    expect(lastOf(4, [modules, code])).toBe(text);
  });

  it.each(['(user.two one)', '(user.single i)', '(user.single user)', '(user.single 1)'])(
    'is refused without one of them: %s',
    (code) => {
      expect(lastOf(4, [modules, code])).toMatch(/^Type error: expected module\{/);
    },
  );
});

describe('an object as an argument', () => {
  it.each(['1', '[1]', '"a"'])('is refused if it is none: %s', (value) => {
    expect(fault(4, `(m.objects ${value})`)).toMatch(/^Type error: expected object:\{outer\}, found /);
  });
});
