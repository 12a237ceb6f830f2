/** The built command line on real files of contract code. */

import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReplReport } from '#pickaxe/cli/repl/report.js';
import { Folder } from '../../app/config/folder.ts';
import { expectShape } from '../../expect-shape.ts';
import { pickaxeIn } from '../in-process.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

const repl = (...args: string[]) => pickaxeIn(folder.path, ['repl', ...args]);

describe('a file', () => {
  it('loads others, whose paths begin at the folder of the file in which they stand', async () => {
    folder.write('tests/all.repl', '(load "part/one.repl")\n(load "two.repl")\n');
    folder.write('tests/part/one.repl', '(load "../lib.repl")\n(expect "one" 1 (+ 0 1))\n');
    folder.write('tests/two.repl', '\n(expect "two" 3 (+ 1 1))\n');
    folder.write('tests/lib.repl', '(expect "lib" 1 1)\n');
    const { code, stdout } = await repl('tests/all.repl', '--json');
    expect(code).toBe(1);
    const report = JSON.parse(stdout) as ReplReport;
    expectShape(ReplReport, report);
    expect(report).toMatchObject({ file: 'tests/all.repl', expectations: 3, passed: 2, error: null });
    expect(report.failures).toEqual([
      { file: 'tests/two.repl', line: 2, column: 0, text: 'FAILURE: two expected: 3, received: 2' },
    ]);
  });

  it('that loads one that is not there ends with an error that names it', async () => {
    folder.write('a.repl', '(expect "before" 1 1)\n  (load "gone.repl")\n(expect "after" 1 1)\n');
    const { code, stdout } = await repl('a.repl');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^a\.repl:2:2:Error: load: file load failed: gone\.repl, there is no such file\n/);
    expect(stdout).toMatch(/\nLoad failed\n1 file, 1 expectation: passed; 1 file ended with an error; dialect 5$/);
  });

  it('shows the values of its forms with --trace', async () => {
    folder.write('a.repl', '(+ 1 2)\n "a text" (expect "sums" 3 (+ 1 2))\n');
    expect((await repl('a.repl', '--trace')).stdout.split('\n')).toEqual([
      'a.repl:1:0:Trace: 3',
      'a.repl:2:1:Trace: a text',
      'a.repl:2:10:Trace: Expect: success sums',
      'Load successful',
      '1 file, 1 expectation: passed; dialect 5',
    ]);
  });

  it('is summed up behind the values of --trace though it has no tests', async () => {
    folder.write('a.repl', '(+ 1 2)\n');
    expect((await repl('a.repl', '--trace')).stdout.split('\n')).toEqual([
      'a.repl:1:0:Trace: 3',
      'Load successful',
      '1 file, 0 expectations; dialect 5',
    ]);
  });

  it('can choose its dialect in a comment, if the command does not', async () => {
    folder.write('old.repl', ';; dialect: 4\n(expect "version" "4.13.2" (pact-version))\n');
    folder.write('new.repl', '(expect "version" "5.4" (pact-version))\n');
    const lastLine = async (...args: string[]) => (await repl(...args)).stdout.trimEnd().split('\n').at(-1);
    expect(await lastLine('old.repl')).toBe('1 file, 1 expectation: passed; dialect 4');
    expect(await lastLine('old.repl', 'new.repl')).toBe('2 files, 2 expectations: all passed; dialects 4 and 5');
    expect(await lastLine('old.repl', '--dialect', '5')).toBe('1 file, 1 expectation: 0 passed, 1 failed; dialect 5');
  });

  it('ends with the form that fails, and the calls that led to it', async () => {
    folder.write(
      'a.repl',
      `(begin-tx)
(module m G
  (defcap G () true)
  (defun f (x) (enforce (> x 1) "too small"))
  (defun g (x) (f x)))
(commit-tx)
(m.g 1)
`,
    );
    const { code, stdout } = await repl('a.repl');
    expect(code).toBe(1);
    const [first, , , ...frames] = stdout.split('\n');
    expect(first).toMatch(/^a\.repl:\d+:\d+:Error: too small$/);
    expect(frames[0]).toMatch(/^ at a\.repl:\d+:\d+: \(m\.f|^ at a\.repl:\d+:\d+: \(enforce/);
    expect(stdout).toMatch(/ at a\.repl:7:0: \(m\.g/);
  });

  it('with a fault of syntax says where it is', async () => {
    folder.write('a.repl', '(+ 1 2)\n(+ 1\n');
    const { code, stdout } = await repl('a.repl');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^a\.repl:\d+:\d+:Error: /);
  });

  it('has a session of its own', async () => {
    folder.write('a.repl', '(module m G (defcap G () true) (defun f () 1))\n(expect "here" 1 (m.f))\n');
    folder.write('b.repl', '(m.f)\n');
    expect(await repl('a.repl', 'b.repl', 'a.repl')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^a\.repl: Load successful\nb\.repl:1:1:Error: .*m\.f.*\n.*\n.*\nb\.repl: Load failed\na\.repl: Load successful\n/,
      ),
    });
  });

  it('that checks nothing with typecheck says so', async () => {
    folder.write('a.repl', '(begin-tx)\n(module m G (defcap G () true) (defun f () 1))\n(typecheck "m")\n');
    const { code, stdout } = await repl('a.repl', '--json');
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as ReplReport).notes).toEqual([expect.stringContaining('typecheck')]);
  });

  it('whose code prints commands to the terminal cannot reach it', async () => {
    folder.write('a.repl', '(print "\\x1b[2J")\n(expect "\\x1b[2J" 1 2)\n');
    const { stdout } = await repl('a.repl', '--trace');
    expect(stdout).not.toContain('\x1b');
    expect(stdout).toContain('[2J');
  });

  it('that loads itself ends', async () => {
    folder.write('a.repl', '(load "a.repl")\n');
    expect(await repl('a.repl')).toMatchObject({ code: 1, stdout: expect.stringContaining('Error:') });
  });

  it('writes JUnit XML', async () => {
    folder.write('a.repl', '(expect "sums" 3 (+ 1 2))\n(expect "sums" 4 (+ 1 2))\n(enforce false "no")\n');
    expect(await repl('a.repl', '--junit', 'results.xml')).toMatchObject({ code: 1 });
    const xml = readFileSync(`${folder.path}/results.xml`, 'utf8');
    expect(xml).toContain('<testsuite name="a.repl" tests="3" failures="1" errors="1" skipped="0">');
    expect([...xml.matchAll(/<testcase name="([^"]*)"/g)].map(([, name]) => name)).toEqual([
      'sums',
      'sums (2)',
      'the file runs to its end',
    ]);
  });
});
