/** Syntax trees of literals, names, applications, special forms and types, and the messages for faulty ones. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { ModuleName } from '#pickaxe/contract/names.js';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import type { Application, Expression } from '#pickaxe/contract/syntax/tree.js';
import { failure, int, message, name, one, parameter, parse, plain, text } from './trees.ts';

describe('literals and names', () => {
  it('are themselves', () => {
    expect(parseProgram(`1 -1.50 "a" 'b true x m.f ns.m.f r::f`, 4).map(plain)).toEqual([
      int(1n),
      { kind: 'decimal', mantissa: -150n, places: 2 },
      text('a'),
      text('b'),
      { kind: 'boolean', value: true },
      name('x'),
      { kind: 'dotted-name', name: 'm.f' },
      { kind: 'dotted-name', name: 'ns.m.f' },
      { kind: 'dynamic-name', reference: 'r', member: 'f' },
    ]);
    const [dotted] = parseProgram('ns.m.f', 4);
    expect(dotted?.kind === 'dotted-name' && dotted.name.module).toEqual(new ModuleName('m', 'ns'));
  });

  it('have a position and the code up to the next token', () => {
    const node = one('(f\n (> 2) ; more than 2\n x)') as Application;
    expect(node.arguments.map(({ position, code }) => ({ position, code }))).toEqual([
      { position: { line: 2, column: 1, offset: 4 }, code: '(> 2) ; more than 2\n ' },
      { position: { line: 3, column: 1, offset: 25 }, code: 'x' },
    ]);
  });

  it('have at most three parts, none of them reserved', () => {
    expect(message('a.b.c.d')).toBe('Expected: bareword or qualified atom');
    for (const code of ['let', 'm.defun', 'module.f', 'use::f', '(f step)', '(let ((bless 1)) 1)']) {
      expect(message(code), code).toBe('Unexpected: reserved word');
      expect(message(code, 5), code).toBe('Expected: [IDENT]');
    }
    expect(message('cond')).toBe('Unexpected: reserved word');
    expect(parse('cond', 5)).toEqual(name('cond'));
    expect(parse('@doc')).toEqual(name('@doc'));
    expect(message('@doc', 5)).toBe('Expected: [IDENT]');
  });

  it('include () in dialect 5', () => {
    expect(parse('()', 5)).toEqual({ kind: 'unit' });
    expect(failure('()')).toEqual({ kind: 'syntax', message: 'Unexpected end of input', column: 0 });
  });
});

describe('lists and objects', () => {
  it('have items behind each other or between commas', () => {
    expect(parse('[1 2]')).toEqual({ kind: 'list', items: [int(1n), int(2n)] });
    expect(parse('[1, 2]')).toEqual(parse('[1 2]'));
    expect(parse('[]')).toEqual({ kind: 'list', items: [] });
    expect(parse('[1, 2 3]')).toEqual(parse('[1 2]'));
    expect(message('[1, 2 3]', 5)).toBe("Expected: [']']");
    expect(parse('[1 2, 3]')).toEqual(parse('[1 2]'));
    expect(message('[1 2, 3]', 5)).toBe('Expected: [expression]');
    expect(message('[1,]')).toBe('Unexpected end of input');
    expect(message('[(module m g (defcap g () 1))]')).toContain('Expected: value level form');
  });

  it('have fields between commas, with texts or symbols as keys', () => {
    expect(parse(`{"a": 1, 'b: {}}`)).toEqual({
      kind: 'object',
      fields: [
        { key: 'a', value: int(1n) },
        { key: 'b', value: { kind: 'object', fields: [] } },
      ],
    });
    expect(message(`{ 'a: 1 'b: 2}`)).toBe('Expected: end of expression');
    expect(message('{a: 1}')).toBe('Expected: string');
    expect(message('{"a" 1}')).toBe('Expected: :');
    expect(message('{"a" := b}')).toBe('Expected: :');
  });
});

describe('applications', () => {
  it('have arguments', () => {
    expect(parse('(m.f 1 {"a": 2})')).toEqual({
      kind: 'application',
      callee: { kind: 'dotted-name', name: 'm.f' },
      arguments: [int(1n), { kind: 'object', fields: [{ key: 'a', value: int(2n) }] }],
    });
    expect(message('(f 1 : 2)')).toBe('Expected: literal');
  });

  it('apply only names in dialect 4, and any expression in dialect 5', () => {
    expect(message('("f" 1)')).toBe('Expected: atom');
    expect(message('((f) 1)')).toBe('Expected: atom');
    expect(parse('((f) 1)', 5)).toMatchObject({ kind: 'application', callee: { kind: 'application' } });
  });

  it('may end with a binding and its body', () => {
    const binding = {
      pairs: [
        { key: text('a'), variable: parameter('x') },
        { key: text('b'), variable: parameter('y', 'integer') },
      ],
      body: [name('x'), { kind: 'object', fields: [{ key: 'a', value: name('y') }] }],
    };
    expect(parse(`(with-read t "k" {"a" := x, 'b := y:integer} x {"a": y})`)).toEqual({
      kind: 'application',
      callee: name('with-read'),
      arguments: [name('t'), text('k')],
      binding,
    });
    expect(parse('(bind o {KEY := x} x)')).toMatchObject({ binding: { pairs: [{ key: name('KEY') }] } });
    expect(message('(bind o {KEY := x} x)', 5)).toBe('Expected: [STR]');
    expect(message('(bind o {"a" := x})')).toBe('Unexpected end of input');
    expect(message('(bind o {"a" := x})', 5)).toBe('Bind expression lacks an accompanying body');
    expect(parse('(bind o {"a" := x "b" := y} x)')).toEqual(parse('(bind o {"a" := x} x)'));
    expect(message('(bind o {"a" := x "b" := y} x)', 5)).toBe("Expected: ['}']");
    expect(message('(bind o {"a" := x, "b" : y} x)')).toBe('Expected: :=');
  });
});

describe('special forms', () => {
  it('let and let*', () => {
    expect(parse('(let ((x 1) (y:integer x)) x y)')).toEqual({
      kind: 'let',
      isSequential: false,
      variables: [
        { variable: parameter('x'), value: int(1n) },
        { variable: parameter('y', 'integer'), value: name('x') },
      ],
      body: [name('x'), name('y')],
    });
    expect(parse('(let* ((x 1)) x)')).toMatchObject({ kind: 'let', isSequential: true });
    expect(message('(let () 1)')).toBe('Unexpected end of input');
    expect(message('(let ((x 1)))')).toBe('Unexpected end of input');
    expect(message('(let (x 1) x)')).toBe('Expected: (list)');
    expect(parse('(let ((x 1 2)) x)')).toEqual(parse('(let ((x 1)) x)'));
    expect(message('(let ((x 1 2)) x)', 5)).toBe("Expected: [')']");
    expect(message('(let ((m.x 1)) 1)')).toBe('Expected: unqualified atom');
  });

  it('lambda', () => {
    expect(parse('(map (lambda (a:integer b) a b) xs)')).toMatchObject({
      arguments: [
        { kind: 'lambda', parameters: [parameter('a', 'integer'), parameter('b')], body: [name('a'), name('b')] },
        name('xs'),
      ],
    });
  });

  it('cond', () => {
    expect(parse('(f (cond (a 1) (b 2) 3))')).toMatchObject({
      arguments: [
        {
          kind: 'cond',
          branches: [
            { condition: name('a'), value: int(1n) },
            { condition: name('b'), value: int(2n) },
          ],
          otherwise: int(3n),
        },
      ],
    });
    expect(message('(f (cond 1))')).toBe('Unexpected end of input');
    expect(message('(cond 1)', 5)).toBe(
      'Desugar syntax failure: cond: expected list of conditions with a default case',
    );
  });

  it('with-capability', () => {
    expect(parse('(f (with-capability (m.C 1) 2 3))')).toMatchObject({
      arguments: [
        {
          kind: 'with-capability',
          capability: { kind: 'application', callee: { kind: 'dotted-name', name: 'm.C' } },
          body: [int(2n), int(3n)],
        },
      ],
    });
    expect(message('(f (with-capability C 1))')).toBe('Expected: (list)');
    expect(message('(f (with-capability (C)))')).toBe('Unexpected end of input');
    expect(message('(with-capability (C))', 5)).toBe(
      'Desugar syntax failure: with-capability must take at least 2 expressions',
    );
  });

  it('stand at the top level in dialect 5 only, except let', () => {
    const topLevel = 'Expected: top-level form (use, let[*], module, interface)';
    for (const code of [
      '(lambda (x) x)',
      '(cond (a 1) 2)',
      '(with-capability (C) 1)',
      '(defconst X 1)',
      '(bless "")',
    ]) {
      expect(message(code), code).toBe(topLevel);
    }
    expect(parse('(lambda (x) x)', 5)).toMatchObject({ kind: 'lambda' });
    expect(parse('(defun f () 1)', 5)).toMatchObject({ kind: 'defun', name: 'f' });
    expect(parse('(defconst X 1)', 5)).toMatchObject({ kind: 'defconst', name: 'X' });
    expect(message('(defcap C () 1)', 5)).toBe('Expected: [expression]');
    expect(message('(f (use m))')).toBe('Expected: value level form (let, let*, with-capability, cond)');
  });
});

describe('types', () => {
  const typeOf = (type: string, dialect: Dialect = 4) => {
    const { variables } = one(`(let ((x:${type} 1)) x)`, dialect) as Extract<Expression, { kind: 'let' }>;
    return plain(variables[0]?.variable.type);
  };

  it.each(['integer', 'decimal', 'time', 'bool', 'string', 'keyset', 'guard'])('%s', (type) => {
    expect(typeOf(type)).toEqual({ kind: 'primitive', name: type });
  });

  it('of lists, objects, tables and modules', () => {
    expect(typeOf('list')).toEqual({ kind: 'list' });
    expect(typeOf('[[integer]]')).toEqual({
      kind: 'list',
      item: { kind: 'list', item: { kind: 'primitive', name: 'integer' } },
    });
    expect(typeOf('object')).toEqual({ kind: 'object' });
    expect(typeOf('object{s}')).toEqual({ kind: 'object', schema: name('s') });
    expect(typeOf('object{m.s}')).toEqual({ kind: 'object', schema: { kind: 'dotted-name', name: 'm.s' } });
    expect(typeOf('table{s}')).toEqual({ kind: 'table', schema: name('s') });
    expect(typeOf('{s}')).toEqual({ kind: 'schema', schema: name('s') });
    expect(typeOf('module{i, ns.j}')).toEqual({ kind: 'module', interfaces: ['i', 'ns.j'] });
    expect(typeOf('unit', 5)).toEqual({ kind: 'primitive', name: 'unit' });
  });

  it('leave an object after them alone', () => {
    expect(parse('(let ((x:object {"a": 1})) x)')).toMatchObject({
      variables: [{ variable: { type: { kind: 'object' } }, value: { kind: 'object' } }],
    });
  });

  it('must exist', () => {
    expect(message('(let ((x:number 1)) x)')).toBe('Expected: type');
    expect(message('(let ((x:number 1)) x)', 5)).toBe('No such type: number');
    expect(message('(let ((x:table 1)) x)', 5)).toBe('No such type: table');
    expect(typeOf('[integer string]')).toEqual(typeOf('[integer]'));
    expect(typeOf('module{i j}')).toEqual(typeOf('module{i}'));
    expect(typeOf('object{s t}')).toEqual(typeOf('object{s}'));
    expect(message('(let ((x:module{} 1)) x)')).toBe('Unexpected end of input');
    expect(message('(let ((x:module{a.b.c} 1)) x)')).toBe('Expected: qualified module name reference');
  });
});
