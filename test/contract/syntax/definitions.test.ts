/** Syntax trees of modules, interfaces and definitions, and the messages for faulty ones. */

import { describe, expect, it } from 'vitest';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import { failure, int, interfaceItem, item, message, moduleOf, name, parameter, parse, plain, text } from './trees.ts';

describe('modules', () => {
  it('have a governance, documentation and items', () => {
    const node = moduleOf('"doc" (defcap G () true) (use n) (bless "YQo") (implements ns.i)');
    expect(plain(node)).toMatchObject({
      kind: 'module',
      name: 'm',
      governance: { kind: 'capability', name: 'G' },
      documentation: 'doc',
      items: [
        { kind: 'defcap' },
        { kind: 'use', module: 'n' },
        { kind: 'bless', hash: 'YQo' },
        { kind: 'implements', module: 'ns.i' },
      ],
    });
    expect(parse(`(module m 'k (defun f () 1))`)).toMatchObject({ governance: { kind: 'keyset', name: 'k' } });
    expect(parse('(module m "ns.k" (defun f () 1))')).toMatchObject({ governance: { kind: 'keyset', name: 'ns.k' } });
  });

  it('have a code that their hash covers', () => {
    const [module, rest] = parseProgram('(module m G (defcap G () true)) ; end\n1', 4);
    expect(module?.code).toBe('(module m G (defcap G () true)) ; end\n');
    expect(rest?.position).toEqual({ line: 2, column: 0, offset: 38 });
  });

  it('have at least one item, and only known ones', () => {
    expect(message('(module m G)')).toBe('Unexpected end of input');
    expect(message('(module m G 1)')).toBe('Expected: (list)');
    expect(message('(module m G (f))')).toBe('Expected: reserved word');
    expect(message('(module m G (let ((a 1)) a))')).toBe('Expected: module level form (use, def..., special form)');
    for (const inner of ['(module n G (defcap G () 1))', '(interface n (defconst A 1))']) {
      expect(failure(`(module m G ${inner})`)).toMatchObject({
        message: 'Invalid nested module or interface',
        column: 12,
      });
      expect(message(`(interface m ${inner})`)).toBe('Invalid nested module or interface');
    }
    expect(message('(module m.n G (defun f () 1))')).toBe('Expected: unqualified atom');
    expect(message('(module m 1 (defun f () 1))')).toBe('Expected: atom');
  });

  it('define each name once', () => {
    const twice = '(module m G (defcap G () true) (defconst f 1) (defun f () 2))';
    expect(failure(twice)).toEqual({ kind: 'eval', message: 'definition name conflict: f', column: 46 });
    expect(message(twice, 5)).toBe('Duplicate definition: m.f');
  });

  it('are imported with a hash and names', () => {
    expect(parse('(use ns.m "YQo" [a b])')).toEqual({ kind: 'use', module: 'ns.m', hash: 'YQo', names: ['a', 'b'] });
    expect(parse(`(use m 'YQo)`)).toEqual({ kind: 'use', module: 'm', hash: 'YQo' });
    expect(parse('(use m [])')).toEqual({ kind: 'use', module: 'm', names: [] });
    expect(message('(use a.b.c)')).toBe('Expected: qualified module name reference');
    expect(message('(use m "a+b")')).toBe('bad hash: a+b');
    expect(message('(use m [a] b)')).toBe('Expected: end of expression');
    expect(message('(use m [a, b])')).toBe('Expected: atom');
  });
});

describe('definitions', () => {
  it('of functions', () => {
    expect(item('(defun f:integer (a:integer b) "doc" (g a) b)')).toEqual({
      kind: 'defun',
      name: 'f',
      returnType: { kind: 'primitive', name: 'integer' },
      parameters: [parameter('a', 'integer'), parameter('b')],
      documentation: 'doc',
      body: [{ kind: 'application', callee: name('g'), arguments: [name('a')] }, name('b')],
    });
    expect(message('(module m G (defun f ()))')).toBe('Unexpected end of input');
  });

  it('take a text at their end as documentation in dialect 4, as body in dialect 5', () => {
    expect(failure('(module m G (defun f () "a"))')).toMatchObject({
      message: 'Unexpected end of input',
      column: 12,
    });
    expect(item('(defun f () "a")', 5)).toEqual({ kind: 'defun', name: 'f', parameters: [], body: [text('a')] });
    expect(item('(defun f () "a" "b")', 5)).toMatchObject({ documentation: 'a', body: [text('b')] });
    expect(item(`(defun f () 'a 1)`)).toMatchObject({ documentation: 'a', body: [int(1n)] });
    expect(item(`(defun f () 'a 1)`, 5)).toMatchObject({ body: [text('a'), int(1n)] });
  });

  it('have @doc and @model in either order, at most once', () => {
    for (const meta of ['@doc "d" @model [(x {}) : ,]', '@model [(x {}) : ,] @doc "d"', '@doc "d"']) {
      expect(item(`(defun f () ${meta} 1)`)).toMatchObject({ documentation: 'd', body: [int(1n)] });
    }
    expect(message('(module m G (defun f () @doc "a" @doc "b" 1))')).toBe('Expected: @doc and/or @model declarations');
    expect(message('(module m G (defun f () @model [] @model [] 1))')).toBe(
      'Expected: @doc and/or @model declarations',
    );
    expect(message('(module m G (deftable t @doc "a" @doc "b"))')).toBe('Expected: @doc declaration');
    expect(message('(module m G (deftable t @model []))')).toBe('Unexpected: @model not allowed in this declaration');
    expect(message('(module m G (defun f () @doc 1 1))')).toBe('Expected: string');
    expect(message('(module m G (defun f () @model (x) 1))')).toBe('Expected: [list]');
  });

  it('of capabilities', () => {
    expect(item('(defcap C (a b) "d" @managed a f (g))')).toEqual({
      kind: 'defcap',
      name: 'C',
      parameters: [parameter('a'), parameter('b')],
      documentation: 'd',
      meta: { kind: 'managed', manager: { parameter: 'a', function: name('f') } },
      body: [{ kind: 'application', callee: name('g'), arguments: [] }],
    });
    expect(item('(defcap C (a) @managed (g))')).toMatchObject({ meta: { kind: 'managed' } });
    expect(item('(defcap C (a) @managed true)')).toMatchObject({ meta: { kind: 'managed' } });
    expect(item('(defcap C (a) @managed a (g))')).toMatchObject({
      meta: { kind: 'managed' },
      body: [name('a'), { kind: 'application' }],
    });
    for (const dialect of [4, 5] as const) {
      expect(item('(defcap C (a) @managed (g) a)', dialect)).toMatchObject({
        meta: { kind: 'managed' },
        body: [{ kind: 'application' }, name('a')],
      });
    }
    expect(item('(defcap C (a) @managed a n.f true)')).toMatchObject({ body: [{}, {}, {}] });
    expect(item('(defcap C (a) @managed a n.f true)', 5)).toMatchObject({ meta: { manager: { parameter: 'a' } } });
    expect(item('(defcap C () @event true)')).toMatchObject({ meta: { kind: 'event' } });
    expect(item('(defcap C () true)')).not.toHaveProperty('meta');
    expect(message('(module m G (defcap C (a) @managed a f))')).toBe('Unexpected end of input');
  });

  it('of constants', () => {
    expect(item('(defconst X:integer 1 "d")')).toEqual({
      kind: 'defconst',
      name: 'X',
      type: { kind: 'primitive', name: 'integer' },
      value: int(1n),
      documentation: 'd',
    });
    expect(item('(defconst X "a")')).toEqual({ kind: 'defconst', name: 'X', value: text('a') });
    expect(message('(module m G (defconst X 1 2))')).toBe('Expected: end of expression');
  });

  it('of schemas and tables', () => {
    expect(item('(defschema s "d" a:integer b)')).toEqual({
      kind: 'defschema',
      name: 's',
      documentation: 'd',
      fields: [parameter('a', 'integer'), parameter('b')],
    });
    expect(item('(deftable t:{s} "d")')).toEqual({
      kind: 'deftable',
      name: 't',
      schema: name('s'),
      documentation: 'd',
    });
    expect(item('(deftable t)')).toEqual({ kind: 'deftable', name: 't' });
    expect(message('(module m G (deftable t:object))')).toBe('Expected: user type');
    expect(message('(module m G (deftable t))', 5)).toBe("Expected: ['{']");
  });

  it('of defpacts', () => {
    expect(item('(defpact p:integer (a) "d" (step-with-rollback 1 2) (step 3))')).toEqual({
      kind: 'defpact',
      name: 'p',
      returnType: { kind: 'primitive', name: 'integer' },
      parameters: [parameter('a')],
      documentation: 'd',
      steps: [{ value: int(1n), rollback: int(2n) }, { value: int(3n) }],
    });
    expect(
      item('(defpact p () (step-with-rollback "e" 1 2) (step @model [x] "e" 3) (step 4 @model [x]))'),
    ).toMatchObject({
      steps: [
        { entity: text('e'), value: int(1n), rollback: int(2n) },
        { entity: text('e'), value: int(3n) },
        { value: int(4n) },
      ],
    });
    expect(message('(module m G (defpact p () 1))')).toBe('Expected: (list)');
    expect(message('(module m G (defpact p () (f)))')).toBe('Expected: step or step-with-rollback');
    expect(message('(module m G (defpact p ()))')).toBe('Unexpected end of input');
    expect(message('(module m G (defpact p () (step)))')).toBe('Unexpected end of input');
    expect(message('(module m G (defpact p () (step-with-rollback 1) (step 1)))')).toBe('Unexpected end of input');
    expect(message('(module m G (defpact p () (step 1 2 3)))')).toBe('Expected: end of expression');
    const last = '(module m G (defpact p () (step 1) (step-with-rollback 1 2)))';
    expect(failure(last)).toMatchObject({
      message:
        "rollbacks aren't allowed on the last step (the last step can never roll back -- once it's executed the pact is complete)",
      column: 35,
    });
    expect(message(last, 5)).toBe("rollbacks aren't allowed on the last step in: m.p");
  });
});

describe('interfaces', () => {
  it('have signatures, constants, schemas and imports', () => {
    expect(interfaceItem('(defun f:integer (a) @doc "d")')).toEqual({
      kind: 'defun-signature',
      name: 'f',
      returnType: { kind: 'primitive', name: 'integer' },
      parameters: [parameter('a')],
      documentation: 'd',
    });
    expect(interfaceItem('(defpact p (a) "d")')).toMatchObject({ kind: 'defpact-signature', documentation: 'd' });
    expect(interfaceItem('(defcap C (a b) "d" @managed a f)')).toMatchObject({
      kind: 'defcap-signature',
      meta: { kind: 'managed', manager: { parameter: 'a', function: name('f') } },
    });
    expect(interfaceItem('(defcap C (a) @managed)')).toMatchObject({ meta: { kind: 'managed' } });
    expect(interfaceItem('(defcap C (a) @event)')).toMatchObject({ meta: { kind: 'event' } });
    expect(interfaceItem('(defconst X 1)')).toMatchObject({ kind: 'defconst' });
    expect(interfaceItem('(defschema s a)')).toMatchObject({ kind: 'defschema' });
    expect(interfaceItem('(use m)')).toMatchObject({ kind: 'use' });
  });

  it('have no bodies and nothing else', () => {
    expect(message('(interface i (defun f () 1))')).toBe('Expected: end of expression');
    expect(message('(interface i (deftable t))')).toBe('Invalid interface declaration: "deftable"');
    expect(message('(interface i (f))')).toBe('Expected: reserved word');
    expect(message('(interface i)')).toBe('Unexpected end of input');
  });
});
