/** The gas of tests, and its comparison with a snapshot, by command lines on real files. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Folder } from '../../../app/config/folder.ts';
import { pickaxeIn } from '../../in-process.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
  folder.write('a.repl', fileOf('(+ 1 2)'));
});
afterEach(() => folder.remove());

const fileOf = (code: string) => `(begin-tx "sums")
(expect "three" 3 ${code})
(expect "again" 3 ${code})
(commit-tx)
(expect "free" 1 1)
`;

const repl = (...args: string[]) => pickaxeIn(folder.path, ['repl', '--dialect', '4', ...args], { NO_COLOR: '1' });
const snapshot = () => JSON.parse(readFileSync(join(folder.path, 'gas.json'), 'utf8'));

it('each test and each transaction has its gas', async () => {
  const { code, stdout } = await repl('a.repl', '--gas');
  expect(code).toBe(0);
  expect(stdout.split('\n').slice(2)).toEqual([
    '       gas',
    '         2  a.repl > sums',
    '         1  a.repl > sums > three',
    '         1  a.repl > sums > again',
    '         0  a.repl > free',
  ]);
});

it('a limit of the interpreter does not end tests whose gas is counted', async () => {
  expect((await repl('a.repl', '--gas', '--dialect', '4')).code).toBe(0);
  expect((await repl('a.repl', '--gas', '--dialect', '5')).code).toBe(0);
});

it('transactions without a name, or with one that is there already, are numbered', async () => {
  const one = '(begin-tx) (+ 1 1) (rollback-tx)';
  // In dialect 4, a transaction that begins in another one ends that one.
  folder.write('a.repl', `${one} ${one} (begin-tx "sums") (+ 1 1) (begin-tx "sums") (+ (+ 1 1) 1) (commit-tx)`);
  expect((await repl('a.repl', '--gas')).stdout.split('\n').slice(3)).toEqual([
    '         1  a.repl > transaction',
    '         1  a.repl > transaction (2)',
    '         1  a.repl > sums',
    '         2  a.repl > sums (2)',
  ]);
});

it('gas that code sets back is not negative', async () => {
  folder.write('a.repl', '(+ 1 1) (begin-tx "a") (expect "set" "Set gas to 0" (env-gas 0)) (commit-tx)');
  expect((await repl('a.repl', '--gas')).stdout.split('\n').slice(3)).toEqual([
    '         0  a.repl > a',
    '         0  a.repl > a > set',
  ]);
});

describe('a snapshot', () => {
  it('is written at first, and then compared', async () => {
    const first = await repl('a.repl', '--gas-snapshot', 'gas.json');
    expect(first).toMatchObject({ code: 0, stderr: 'gas.json has the gas of 4 tests and transactions.\n' });
    const before = snapshot();
    expect(before).toEqual({
      'a.repl > sums': 2,
      'a.repl > sums > three': 1,
      'a.repl > sums > again': 1,
      'a.repl > free': 0,
    });
    expect(await repl('a.repl', '--gas-snapshot', 'gas.json')).toMatchObject({ code: 0, stderr: '' });

    folder.write('a.repl', fileOf('(+ (+ 1 1) 1)').replace('"again"', '"other"'));
    const { code, stdout } = await repl('a.repl', '--gas-snapshot', 'gas.json');
    expect(code).toBe(1);
    expect(stdout.split('\n').slice(2)).toEqual([
      '       gas    change',
      '         4        +2  a.repl > sums',
      '         2        +1  a.repl > sums > three',
      '         2       new  a.repl > sums > other',
      '         1      gone  a.repl > sums > again',
      'gas: 2 changed, 1 new, 1 gone; --update writes the snapshot anew',
    ]);
    expect(snapshot()).toEqual(before);

    expect((await repl('a.repl', '--gas-snapshot', 'gas.json', '--update')).code).toBe(0);
    folder.write('a.repl', fileOf('(+ 1 2)').replace('"again"', '"other"'));
    expect((await repl('a.repl', '--gas-snapshot', 'gas.json')).stdout).toContain('        −1  a.repl > sums > three');
  });

  it('keeps the gas of files and tests that are not run', async () => {
    folder.write('b.repl', '(expect "b" 1 1)');
    await repl('a.repl', 'b.repl', '--gas-snapshot', 'gas.json');
    expect((await repl('b.repl', '--gas-snapshot', 'gas.json')).code).toBe(0);
    expect((await repl('a.repl', '--filter', 'three', '--gas-snapshot', 'gas.json')).code).toBe(0);
    expect((await repl('b.repl', '--gas-snapshot', 'gas.json', '--update')).code).toBe(0);
    expect(Object.keys(snapshot())).toHaveLength(5);
  });

  it('loses what a file no longer has, when it is written anew after a run of the whole file', async () => {
    folder.write('b.repl', '(expect "b" 1 1)');
    await repl('a.repl', 'b.repl', '--gas-snapshot', 'gas.json');
    folder.write('a.repl', '(expect "three" 3 (+ 1 2))');
    const names = async (...args: string[]) => {
      await repl('a.repl', '--gas-snapshot', 'gas.json', '--update', ...args);
      return Object.keys(snapshot()).length;
    };
    expect([await names('--filter', 'three'), await names()]).toEqual([6, 2]);
  });

  it('that is none, or cannot be written, is refused before or after the run', async () => {
    folder.write('gas.json', '{"a": -1}');
    expect(await repl('a.repl', '--gas-snapshot', 'gas.json')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        'gas.json cannot be read: it does not contain a snapshot of gas. Give --gas-snapshot another file.',
      ),
    });
    expect(await repl('a.repl', '--gas-snapshot', '.')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('directory'),
    });
    expect(await repl('a.repl', '--gas-snapshot', 'none/gas.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be written'),
    });
  });

  it('needs a file to be updated', async () => {
    expect(await repl('a.repl', '--update')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--update writes a snapshot: name it with --gas-snapshot FILE.'),
    });
  });
});
