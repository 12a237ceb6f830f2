import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { ContractError } from '#pickaxe/contract/errors.js';
import { ModuleName, QualifiedName } from '#pickaxe/contract/names.js';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import type { Application, Expression, Interface, Module, TopLevel } from '#pickaxe/contract/syntax/tree.js';
import { codeOf, vectors } from '../vectors.ts';

/** The tree without places and code. */
function plain(node: unknown): unknown {
  if (node instanceof ModuleName || node instanceof QualifiedName) return node.text;
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).filter(
    ([key, value]) => key !== 'position' && key !== 'code' && value !== undefined,
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, plain(value)]));
}

function one(code: string, dialect: Dialect = 4): TopLevel {
  const nodes = parseProgram(code, dialect);
  expect(nodes).toHaveLength(1);
  return nodes[0]!;
}

const parse = (code: string, dialect: Dialect = 4) => plain(one(code, dialect));

function moduleOf(items: string, dialect: Dialect = 4): Module {
  const node = one(`(module m G ${items})`, dialect);
  if (node.kind !== 'module') throw new Error(node.kind);
  return node;
}

const item = (code: string, dialect: Dialect = 4) => plain(moduleOf(code, dialect).items[0]);

const interfaceItem = (code: string) => plain((one(`(interface i ${code})`) as Interface).items[0]);

function failure(code: string, dialect: Dialect = 4): { kind: string; message: string; column: number | undefined } {
  try {
    parseProgram(code, dialect);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return { kind: error.kind, message: error.message, column: error.position?.column };
  }
  throw new Error(`${code} was read`);
}

const message = (code: string, dialect: Dialect = 4) => failure(code, dialect).message;

const int = (value: bigint) => ({ kind: 'integer', value });
const text = (value: string) => ({ kind: 'text', value });
const name = (value: string) => ({ kind: 'name', name: value });
const parameter = (value: string, type?: string) =>
  type === undefined ? { name: value } : { name: value, type: { kind: 'primitive', name: type } };

describe('the vectors', () => {
  it.each([4, 5] as const)('of dialect %d are well formed', (dialect) => {
    const codes = codeOf(dialect);
    expect(codes.length).toBeGreaterThan(400);
    const failed = codes.flatMap((code) => {
      try {
        parseProgram(code, dialect);
        return [];
      } catch (error) {
        return [`${code}: ${(error as Error).message}`];
      }
    });
    expect(failed).toEqual(
      dialect === 5
        ? []
        : [
            // Both have to fail.
            '((lambda (x) x) 1): Expected: atom',
            '(module m3 G (defcap G () true) (defun f () 1) (defun f () 2)): definition name conflict: f',
          ],
    );
  });

  it.each(vectors.syntax_errors)('refuse $code in dialect $dialect', ({ code, dialect, error }) => {
    const failed = failure(code, dialect === '4' ? 4 : 5);
    expect(failed.message).toContain(error);
    expect(failed.kind).toBe(error === 'definition name conflict' ? 'eval' : 'syntax');
    expect(failed.column).toBeTypeOf('number');
  });

  it('are fifteen errors', () => {
    expect(vectors.syntax_errors).toHaveLength(15);
  });
});

describe('literals and names', () => {
  it('are themselves', () => {
    expect(parseProgram(`1 -1.50 "a" 'b true x m.f ns.m.f r::f`).map(plain)).toEqual([
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
    const [dotted] = parseProgram('ns.m.f');
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
    expect(message('[1, 2 3]')).toBe('Expected: end of expression');
    expect(message('[1, 2 3]', 5)).toBe('Expected: []]');
    expect(message('[1 2, 3]')).toBe('Expected: literal');
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
    expect(message('(bind o {"a" := x "b" := y} x)')).toBe('Expected: end of expression');
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
    expect(message('(let ((x 1 2)) x)')).toBe('Expected: end of expression');
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
    expect(message('(let ((x:[integer string] 1)) x)')).toBe('Expected: end of expression');
    expect(message('(let ((x:module{} 1)) x)')).toBe('Unexpected end of input');
    expect(message('(let ((x:module{a.b.c} 1)) x)')).toBe('Expected: qualified module name reference');
  });
});

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
    const [module, rest] = parseProgram('(module m G (defcap G () true)) ; end\n1');
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
    expect(message('(module m G (deftable t))', 5)).toBe('Expected: [{]');
  });

  it('of flows', () => {
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

describe('hostile code', () => {
  /** Mulberry32: the same sequence in every run. */
  function random(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
      return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
    };
  }

  const PIECES = [
    ...['(', ')', '[', ']', '{', '}', '"', "'", ':', ':=', '::', ',', '.', ';', '\\', '\n', ' ', '-', '1', '1.5'],
    ...['let', 'module', 'defun', 'defcap', '@managed', '@doc', 'step', 'use', 'cond', '{"a" := x}', '(f)', 'é', '😀'],
    ...['\ud800', '\0'],
  ];

  function mutated(code: string, next: (below: number) => number): string {
    let changed = code;
    for (let count = 1 + next(4); count > 0; count--) {
      const at = next(changed.length + 1);
      const end = Math.min(changed.length, at + next(2) * next(30));
      const piece =
        next(3) === 0 ? changed.slice(next(changed.length + 1)).slice(0, next(40)) : PIECES[next(PIECES.length)];
      changed = changed.slice(0, at) + piece + changed.slice(end);
    }
    return changed;
  }

  /** Whether the code is well formed. Fails if anything but a ContractError is thrown. */
  function isWellFormed(code: string, dialect: Dialect): boolean {
    try {
      parseProgram(code, dialect);
      return true;
    } catch (error) {
      if (!(error instanceof ContractError)) throw new Error(`Not refused as it should be: ${code}`, { cause: error });
      if (!error.position || error.position.offset > code.length) throw new Error(`No position: ${code}`);
      return false;
    }
  }

  it('of 20,000 mutated programs is read or refused', () => {
    const next = random(20_000);
    const seeds = { 4: codeOf(4), 5: codeOf(5) };
    let wellFormed = 0;
    for (let count = 0; count < 20_000; count++) {
      const dialect = next(2) === 0 ? 4 : 5;
      const code = seeds[dialect][next(seeds[dialect].length)]!;
      if (isWellFormed(mutated(code, next), dialect)) wellFormed++;
    }
    // Both outcomes must be common, or the mutations would try nothing.
    expect(wellFormed).toBeGreaterThan(2000);
    expect(wellFormed).toBeLessThan(18_000);
  });

  it('of random bytes is read or refused', () => {
    const next = random(1);
    for (let count = 0; count < 2000; count++) {
      const bytes = Uint8Array.from({ length: next(200) }, () => next(256));
      isWellFormed(new TextDecoder('latin1').decode(bytes), count % 2 === 0 ? 4 : 5);
      isWellFormed(new TextDecoder().decode(bytes), count % 2 === 0 ? 4 : 5);
    }
  });

  it.each(['(', '()', '[', '[1,', '{"a":', '(let ((x ', '(f {"a" := x} ', '(lambda (x) ', '[[] '])(
    'of a megabyte of %j is refused',
    (piece) => {
      for (const dialect of [4, 5] as const) {
        if (piece === '()' && dialect === 5) continue;
        expect(isWellFormed(piece.repeat(Math.floor(1_000_000 / piece.length)), dialect)).toBe(false);
      }
    },
  );
});
