/** What `--coverage` and `--lcov` say of real contracts. */

import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coverageLines, lcovText } from '#pickaxe/cli/repl/results/coverage-report.js';
import { inPlain } from '#pickaxe/rig/terminal/screen.js';
import { Folder } from '../../../app/config/folder.ts';
import { pickaxeIn } from '../../in-process.ts';

const CONTRACT = `(module m G
  (defcap G () (enforce false "nobody"))
  (defcap PAY (amount) (enforce (> amount 0) "positive"))
  (defschema row n:integer)
  (deftable rows:{row})
  (defconst LIMIT 10)
  (defun pay (amount)
    (with-capability (PAY amount)
      (if (> amount LIMIT)
        (large amount)
        amount)))
  (defun large (amount)
    (+ amount 0))
  (defun sum (list)
    (fold (+) 0 (map (double) list)))
  (defun double (n)
    (let ((two 2))
      (* two n)))
  (defun unused ()
    (cond ((= 1 2) 3)
      4)))
`;

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
  folder.write('m.pact', CONTRACT);
  chmodSync(join(folder.path, 'm.pact'), 0o644);
  folder.write('a.repl', '(load "m.pact")\n(expect "a" 5 (m.pay 5))\n(expect-failure "b" "positive" (m.pay 0))\n');
  folder.write('b.repl', '(load "m.pact")\n(expect "sums" 6 (m.sum [1 2]))\n');
});
afterEach(() => folder.remove());

const repl = (...args: string[]) => pickaxeIn(folder.path, ['repl', ...args], { NO_COLOR: '1' });

describe.each(['4', '5'])('coverage in dialect %s', (dialect) => {
  it('says which lines and branches of contracts were not run', async () => {
    const { code, stdout } = await repl('a.repl', 'b.repl', '--coverage', '--dialect', dialect);
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(-2)).toEqual([
      'coverage   lines  branches  not run',
      'm.pact      58 %      37 %  2, 10, 13, 20-21; branches of 9',
    ]);
  });

  it('is written for other programs', async () => {
    await repl('a.repl', '--lcov', 'lcov.info', '--dialect', dialect);
    const lines = readFileSync(join(folder.path, 'lcov.info'), 'utf8').split('\n');
    expect(lines.slice(0, 2)).toEqual(['TN:', 'SF:m.pact']);
    expect(lines).toContain('FN:7,pay');
    expect(lines).toContain('FNDA:2,pay');
    expect(lines).toContain('FNDA:0,sum');
    // The enforcement of line 3 held once, and failed once.
    expect(lines.filter((line) => line.startsWith('BRDA:3,'))).toEqual(['BRDA:3,1,0,1', 'BRDA:3,1,1,1']);
    expect(lines.filter((line) => line.startsWith('BRDA:20,'))).toEqual(['BRDA:20,3,0,-', 'BRDA:20,3,1,-']);
    expect(lines).toContain('DA:8,2');
    expect(lines.slice(-2)).toEqual(['end_of_record', '']);
  });
});

it('the results stay the same, and JSON stays alone on stdout', async () => {
  const { stdout, stderr } = await repl('a.repl', '--coverage', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ expectations: 2, passed: 2 });
  expect(stderr).toContain('m.pact ');
});

it('a file that cannot be written is said so', async () => {
  expect(await repl('a.repl', '--lcov', 'none/lcov.info')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Give --lcov another file.'),
  });
});

describe('the formats', () => {
  const file = (name: string, lines: [number, number][], branches: [string, number[]][] = []) => ({
    file: name,
    functions: new Map(),
    lines: new Map(lines),
    branches: new Map(branches),
  });

  it('say nothing of no module', () => {
    expect(coverageLines([], inPlain)).toEqual(['coverage: no module was loaded from a file']);
    expect(lcovText([])).toBe('');
  });

  it('name lines that were run, however often, with a branch that was not', () => {
    const lines: [number, number][] = [
      [1, 1],
      [2, 0],
      [3, 2],
      [4, 1],
    ];
    const branches: [string, number[]][] = [
      ['1:1', [2, 0]],
      ['2:1', [0, 0]],
      ['3:1', [1, 1]],
      ['3:9', [0, 2]],
      ['4:1', [1, 2]],
      ['5:1', [0, 1]],
    ];
    expect(coverageLines([file('a.pact', lines, branches)], inPlain)[1]).toBe(
      'a.pact      75 %      58 %  2; branches of 1, 3',
    );
  });

  it('have a row for all files', () => {
    const files = [
      file('a.pact', [
        [1, 1],
        [2, 0],
        [3, 0],
        [5, 0],
      ]),
      file('long/b.pact', [[1, 1]]),
    ];
    expect(coverageLines(files, inPlain)).toEqual([
      'coverage      lines  branches  not run',
      'a.pact         25 %         –  2-3, 5',
      'long/b.pact   100 %         –',
      'all            40 %         –',
    ]);
  });
});
