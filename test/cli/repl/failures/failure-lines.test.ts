/** What a person sees of failures of real code. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Folder } from '../../../app/config/folder.ts';
import { pickaxeIn } from '../../in-process.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

/** @returns the lines that are printed for a file */
async function linesOf(text: string, ...options: string[]): Promise<string[]> {
  folder.write('a.repl', text);
  const { stdout } = await pickaxeIn(folder.path, ['repl', 'a.repl', ...options]);
  return stdout.split('\n');
}

const MODULE = `(module m G (defcap G () true)
  (defun f:string (x:integer) x)
  (defun balance (amount) amount))`;

it('a form with too many parts in dialect 5 is not taken for one that lacks its end', async () => {
  const lines = await linesOf('(let ((a 1 2)) a)');
  expect(lines.slice(0, 3)).toEqual([
    "a.repl:1:11:Error: Expected: [')']",
    '  1 | (let ((a 1 2)) a)',
    '    |            ^',
  ]);
});

describe.each(['4', '5'])('in dialect %s', (dialect) => {
  const after = async (form: string) => (await linesOf(`${MODULE}\n${form}\n`, '--dialect', dialect)).slice(1, 3);

  it.each([
    ['(expect "a" 1 2)', '  4 | (expect "a" 1 2)', '    | ^'],
    ['(+ 1 (m.balnce 2))', '  4 | (+ 1 (m.balnce 2))', '    |       ^ did you mean m.balance?'],
    ['(env-sig [])', '  4 | (env-sig [])', '    |  ^ did you mean env-sigs?'],
    [
      '(let ((total 1)) (+ 1 totl))',
      '  4 | (let ((total 1)) (+ 1 totl))',
      '    |                       ^ did you mean total?',
    ],
    ['(+ 1 q)', '  4 | (+ 1 q)', '    |      ^'],
    ['(unlike-any-name-here 1)', '  4 | (unlike-any-name-here 1)', '    |  ^'],
    ['(m.f 1)', '  4 | (m.f 1)', '    | ^ the result of m.f'],
    ['(m.f "a")', '  4 | (m.f "a")', '    | ^ the argument x of m.f'],
    ['(expect "a" 1 (m.f 1))', '  4 | (expect "a" 1 (m.f 1))', '    | ^ the result of m.f'],
    ['(+ 1 [2 3)', '  4 | (+ 1 [2 3)', '    |      ^ this [ lacks its ]: a.repl:4:5'],
    ['(+ 1 (- 2]', '  4 | (+ 1 (- 2]', '    |      ^ this ( lacks its ): a.repl:4:5'],
    ['(+ 1 (- 2}', '  4 | (+ 1 (- 2}', '    |      ^ this ( lacks its ): a.repl:4:5'],
    ['(+ 1\n  (+ 2 3\n', '  5 |   (+ 2 3', '    |   ^ this ( lacks its ): a.repl:5:2'],
  ])('%s shows its source', async (form, ...excerpt) => {
    expect(await after(form)).toEqual(excerpt);
  });

  it('two values that do not fit in a line are compared on several', async () => {
    const value = (name: string) => `{ "name": "${name}", "keys": ["${'k'.repeat(40)}"] }`;
    const lines = await linesOf(`(expect "objects" ${value('Alice')} ${value('Alicf')})`, '--dialect', dialect);
    expect(lines[0]).toBe('a.repl:1:0:ExecError: FAILURE: objects: the values differ');
    expect(lines.slice(3, -2)).toEqual([
      '  - expected + received',
      '    {',
      `      "keys": ["${'k'.repeat(40)}"],`,
      '  -   "name": "Alice"',
      '  +   "name": "Alicf"',
      '    }',
    ]);
  });
});

it('a bracket that is forgotten in a module is found by the indentation of what follows', async () => {
  const text = `(module m G
  (defcap G () true)
  (defun f (x) (+ 1 x)
  (defun g (x) x))
(expect "a" 1 1)
`;
  expect(await linesOf(text)).toEqual([
    "a.repl:6:0:Error: Expected: [')']",
    '  3 |   (defun f (x) (+ 1 x)',
    '    |   ^ perhaps this ( lacks its ): a.repl:3:2',
    'Load failed',
    '1 file, 0 expectations; 1 file ended with an error; dialect 5',
  ]);
});

it('an error in a loaded file shows the source of that file', async () => {
  folder.write('m.pact', '; a comment\n(unknown)\n');
  const lines = await linesOf('(load "m.pact")\n');
  expect(lines.slice(0, 2)).toEqual(['m.pact:2:1:Error: Unbound variable unknown', '  2 | (unknown)']);
});

it.each(['4', '5'])('an expectation that fails in a contract shows both places, in dialect %s', async (dialect) => {
  folder.write('m.pact', `(module m G (defcap G () true)\n  (defun f (x) (enforce (> x 0) "small")))\n`);
  expect((await linesOf('(load "m.pact")\n(expect "a" 1 (m.f 0))', '--dialect', dialect)).slice(1, 6)).toEqual([
    '  2 | (expect "a" 1 (m.f 0))',
    '    | ^',
    ' at m.pact:2:15',
    '  2 |   (defun f (x) (enforce (> x 0) "small")))',
    '    |                ^',
  ]);
});

it('JSON has the whole text of both values', async () => {
  const [line] = await linesOf(`(expect "a" "${'a'.repeat(200)}" "b")`, '--json');
  expect(JSON.parse(line).failures[0].text).toContain('a'.repeat(200));
});
