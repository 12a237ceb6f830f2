import { describe, expect, it } from 'vitest';
import { Coverage, type FileCoverage, mergedCoverage } from '#pickaxe/contract/repl/coverage.js';
import { Session } from '#pickaxe/contract/repl/repl-session.js';

/** @returns what tests run of the module `m` whose items, one a line, begin at line 2 of m.pact */
function coverageOf(items: readonly string[], tests: string, dialect: 4 | 5 = 4): FileCoverage {
  const texts: Record<string, string> = {
    'm.pact': `(module m G\n${items.join('\n')}\n)`,
    'a.repl': `(load "m.pact")\n${tests}`,
  };
  const coverage = new Coverage();
  const session = new Session({
    dialect,
    coverage,
    readFile: (path) => texts[path],
    resolvePath: (_, path) => path,
  });
  expect(session.runFile('a.repl').error).toBeUndefined();
  const [file, ...others] = coverage.files();
  expect(others).toEqual([]);
  return file;
}

const G = '(defcap G () true)';

describe.each([4, 5] as const)('in dialect %d, what runs is counted of', (dialect) => {
  const hits = (items: readonly string[], tests: string) => {
    return [...coverageOf([G, ...items], tests, dialect).lines].filter(([line]) => line > 2);
  };

  it.each<[what: string, items: string[], tests: string, lines: [number, number][]]>([
    [
      'functions that natives call',
      ['(defun f (n)', '(+ n 1))', '(defun g ()', '(map', '(f)', '[1 2 3]))'],
      '(m.g)',
      [
        [4, 3],
        [6, 1],
        [7, 3],
      ],
    ],
    [
      'capabilities that are acquired, composed and required',
      [
        '(defcap A () (compose-capability',
        '(B)))',
        '(defcap B ()',
        'true)',
        '(defun f () (with-capability',
        '(A)',
        '(g)))',
        '(defun g () (require-capability',
        '(B)))',
      ],
      '(m.f)',
      [
        [3, 1],
        [4, 1],
        [6, 1],
        [7, 1],
        [8, 1],
        [9, 1],
        [10, 1],
        [11, 1],
      ],
    ],
    [
      'guards that are functions',
      ['(defun ok (n)', '(enforce (= n 1) "no"))', '(defun f () (enforce-guard (create-user-guard', '(ok 1))))'],
      '(m.f)',
      [
        [4, 1],
        [5, 1],
        [6, 1],
      ],
    ],
    [
      'bindings and partial applications',
      ['(defun f () (bind { "a": 1 } { "a" := a }', 'a))', '(defun g () (filter', "(where 'a (= 1))", '[{ "a": 1 }]))'],
      '(m.f) (m.g)',
      [
        [3, 1],
        [4, 1],
        [5, 1],
        [6, 1],
      ],
    ],
    [
      'steps of defpacts, and their rollbacks',
      ['(defpact p ()', '(step-with-rollback', '(+ 1 1)', '(+ 2 2))', '(step', '(+ 3 3)))'],
      '(begin-tx) (m.p) (continue-pact 0 true)',
      [
        [5, 1],
        [6, 1],
        [8, 0],
      ],
    ],
  ])('%s', (_, items, tests, lines) => {
    expect(hits(items, tests)).toEqual(lines);
  });

  it.each<[what: string, code: string, tests: string, branches: number[]]>([
    ['if', '(if (> n 0) 1 2)', '(m.f 1) (m.f 0) (m.f 2)', [2, 1]],
    ['cond', '(cond ((= n 1) 1) ((= n 2) 2) 3)', '(m.f 2) (m.f 2) (m.f 0)', [0, 2, 1]],
    ['enforce', '(enforce (> n 0) "no")', '(m.f 1) (expect-failure "a" (m.f 0)) (m.f 2)', [2, 1]],
    ['enforce-one', '(enforce-one "no" [(> n 0)])', '(m.f 1)', [1, 0]],
  ])('the branches of %s', (_, code, tests, branches) => {
    const { branches: all } = coverageOf([G, `(defun f (n) ${code})`], tests, dialect);
    expect([...all]).toEqual([['3:13', branches]]);
  });
});

it('in dialect 5, a function without some of its arguments is counted when it becomes a value', () => {
  const items = [G, '(defun add (a b) (+ a b))', '(defun f () (let ((g', '(add 1)))', '(map g [1 2])))'];
  expect([...coverageOf(items, '(m.f)', 5).lines].slice(1)).toEqual([
    [3, 2],
    [4, 1],
    [5, 1],
    [6, 1],
  ]);
});

it('functions have the line of their definition, and the names of what was never run are there', () => {
  const { functions, file } = coverageOf([G, '(defun f () 1)', '(defun g () 2)', '(defconst C 3)'], '(m.f) (m.f)');
  expect(file).toBe('m.pact');
  expect([...functions]).toEqual([
    ['G', { line: 2, hits: 0 }],
    ['f', { line: 3, hits: 2 }],
    ['g', { line: 4, hits: 0 }],
  ]);
});

it('a module that is loaded twice has the sum of both, and typed modules are not counted', () => {
  const { lines } = coverageOf([G, '(defun f ()', '1)'], '(m.f) (load "m.pact") (m.f) (m.f)');
  expect([...lines].at(-1)).toEqual([4, 3]);
  const coverage = new Coverage();
  const session = new Session({ coverage, readFile: () => '', resolvePath: (_, path) => path });
  session.runText('(module m G (defcap G () true) (defun f () 1)) (m.f)');
  expect(coverage.files()).toEqual([]);
});

it('what several sessions have run is added up, and sorted by the files', () => {
  const of = (file: string, hits: number, line = 1): FileCoverage => ({
    file,
    functions: new Map([[`f${line}`, { line, hits }]]),
    lines: new Map([[line, hits]]),
    branches: new Map([[`${line}:0`, [hits, 0]]]),
  });
  expect(mergedCoverage([of('b', 1), of('a', 2), of('b', 3), of('b', 0, 2)])).toEqual([
    of('a', 2),
    {
      file: 'b',
      functions: new Map([
        ['f1', { line: 1, hits: 4 }],
        ['f2', { line: 2, hits: 0 }],
      ]),
      lines: new Map([
        [1, 4],
        [2, 0],
      ]),
      branches: new Map([
        ['1:0', [4, 0]],
        ['2:0', [0, 0]],
      ]),
    },
  ]);
});
