/** What runs, and what is printed of it, for the options of `pickaxe repl`. */

import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Folder } from '../../../app/config/folder.ts';
import { pickaxeIn } from '../../in-process.ts';
import type { Given } from '../../pretended-io.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
  folder.write('good.repl', GOOD);
  // A file that only its owner may read is not loaded.
  chmodSync(join(folder.path, 'good.repl'), 0o644);
  folder.write('bad.repl', '(expect "one" 1 2)\n(expect "two" 2 2)\n');
});
afterEach(() => folder.remove());

const GOOD = `(begin-tx "sums")
(expect "one" 1 1)
(expect "two" 2 (+ 1 1))
(commit-tx)
(begin-tx "products")
(expect "six" 6 (* 2 3))
`;

const repl = (args: string[], given: Given = {}) => pickaxeIn(folder.path, ['repl', ...args], { NO_COLOR: '1' }, given);
const onTerminal = async (...args: string[]) => {
  const { stdout } = await repl(args, { columns: 80 });
  return stdout
    .replace(/ {2}[\d.]+ m?s/g, '')
    .replace(/[\d.]+ m?s/, 'N ms')
    .split('\n');
};

describe('code of -e', () => {
  it.each([
    ['(+ 1 2)', '3'],
    ['(+ 1 2) "a\x1b"', 'a '],
    ['(print "x")', 'x'],
    ['(load "good.repl") [1 2]', '[1 2]\nLoad successful\n1 file, 3 expectations: all passed; dialect 5'],
    ['(expect "a" 1 1)', 'Load successful\n1 file, 1 expectation: passed; dialect 5'],
  ])('%s prints its last value', async (code, stdout) => {
    expect(await repl(['-e', code])).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('that fails shows where', async () => {
    const { code, stdout } = await repl(['--eval', '5 (foo)']);
    expect(code).toBe(1);
    expect(stdout).toContain('<eval>:1:3:Error: Unbound variable foo\n  1 | 5 (foo)\n    |    ^\nLoad failed\n');
  });

  it('goes without files', async () => {
    expect(await repl(['good.repl', '-e', '1'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('-e runs its code alone: leave out the files.'),
    });
  });

  it('can be traced and reported', async () => {
    expect((await repl(['-e', '1 2', '--trace'])).stdout).toBe('<eval>:1:0:Trace: 1\n<eval>:1:2:Trace: 2');
    expect(JSON.parse((await repl(['-e', '1 2', '--json'])).stdout)).toMatchObject({ file: '<eval>', value: '2' });
  });
});

it('standard input prints its last value', async () => {
  expect(await repl([], { stdin: '(+ 1 2)' })).toEqual({ code: 0, stdout: '3', stderr: '' });
  expect((await repl(['-', 'good.repl'], { stdin: '(+ 1 2)' })).stdout).toMatch(/^3\ngood\.repl: Load successful\n/);
});

describe('on a terminal', () => {
  it('the tests of a file are listed by transactions', async () => {
    expect(await onTerminal('good.repl')).toEqual([
      '✓ good.repl  3 tests',
      '  sums',
      '    ✓ one',
      '    ✓ two',
      '  products',
      '    ✓ six',
      '1 file, 3 expectations: all passed; dialect 5; N ms',
    ]);
  });

  it('of several files, the tests are listed of those that failed', async () => {
    const lines = await onTerminal('good.repl', 'bad.repl');
    expect(lines[0]).toBe('✓ good.repl  3 tests');
    expect(lines[1]).toBe('✗ bad.repl  1 of 2 tests failed');
    expect(lines.slice(2, 4)).toEqual(['    ✗ one', '    ✓ two']);
    expect(lines.slice(4)).toEqual([
      '',
      'bad.repl:1:0:ExecError: FAILURE: one expected: 1, received: 2',
      '  1 | (expect "one" 1 2)',
      '    | ^',
      '',
      '2 files, 5 expectations: 4 passed, 1 failed; dialect 5; N ms',
    ]);
  });

  it('a long name is wrapped at blanks, and a note is shown', async () => {
    folder.write(
      'long.repl',
      `(expect "${'name '.repeat(30)}" 1 1)\n(module m G (defcap G () true))\n(typecheck "m")\n(foo)\n`,
    );
    const lines = await onTerminal('long.repl');
    expect(lines[0]).toBe('✗ long.repl  1 test, ended with an error');
    expect(lines[1]).toMatch(/^ {4}✓ (name )+name$/);
    expect(lines[2]).toMatch(/^ {6}(name )+name$/);
    expect(lines.slice(-3, -1).join('')).toContain('typecheck has checked nothing');
  });
});

it.each(['4', '5'])('a test has its name, whatever its failure says, in dialect %s', async (dialect) => {
  folder.write('names.repl', '(expect-failure "the name" "message" 1)\n(expect-that "other" (= 1) 2)\n');
  const { stdout } = await repl(['names.repl', '--dialect', dialect], { columns: 80 });
  expect(stdout.match(/✗ the name|✗ other/g)).toEqual(['✗ the name', '✗ other']);
});

describe('--filter', () => {
  it.each([
    ['TWO', 2, ['good.repl', 'bad.repl']],
    ['products', 1, ['good.repl']],
    ['bad.repl > two', 1, ['bad.repl']],
  ])('%s selects tests by their names, transactions and files', async (text, count, files) => {
    const { stdout, code } = await repl(['good.repl', 'bad.repl', '--filter', text]);
    expect(code).toBe(0);
    expect([...stdout.matchAll(/^(\S+): Load successful$/gm)].map(([, file]) => file)).toEqual(files);
    expect(stdout).toContain(`, ${count} expectation`);
  });

  it('that selects nothing fails', async () => {
    expect(await repl(['good.repl', '--filter', 'none'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'No test has "none" in its name, its transaction or its file.\n',
    });
  });

  it('hides no error that ends a file', async () => {
    folder.write('ends.repl', '(foo)');
    expect(await repl(['good.repl', 'ends.repl', '--filter', 'two'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Unbound variable foo'),
    });
  });
});

it('code that is typed is not remembered as failed', async () => {
  const stdin = '(foo)';
  for (const _ of ['first', 'second']) {
    expect((await repl(['--failed'], { stdin })).stderr).toContain('No file had failed when it was run last');
  }
});

describe('--failed', () => {
  const ran = async (...args: string[]) => {
    const { stdout, stderr } = await repl([...args, 'good.repl', 'bad.repl', '--json']);
    return { files: stdout.split('\n').map((line) => JSON.parse(line).file), stderr };
  };
  const both = ['good.repl', 'bad.repl'];
  const NONE = 'No file had failed when it was run last, so all are run.\n';

  it('runs the files that failed last, until they pass', async () => {
    expect(await ran('--failed')).toEqual({ files: both, stderr: NONE });
    expect(await ran('--failed')).toEqual({ files: ['bad.repl'], stderr: '' });
    expect(await ran('--filter', 'two')).toEqual({ files: both, stderr: '' });
    folder.write('bad.repl', '(expect "one" 1 1)');
    expect(await ran('--failed')).toEqual({ files: ['bad.repl'], stderr: '' });
    expect(await ran('--failed')).toEqual({ files: both, stderr: NONE });
  });
});

it.each([[['-e', '1', '--watch']], [['-', '--watch']], [['--watch']]])('%j cannot be watched', async (args) => {
  expect(await repl(args)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--watch is for files that can change: leave out -e and standard input.'),
  });
});
