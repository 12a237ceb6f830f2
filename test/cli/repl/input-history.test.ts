import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { History, MAX_LINE_LENGTH, MAX_LINES } from '#pickaxe/cli/repl/input-history.js';

let root: string;
let folder: string;
let file: string;
const said: string[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pickaxe-history-'));
  folder = join(root, 'pickaxe');
  file = join(folder, 'repl-history');
  said.length = 0;
});
afterEach(() => {
  expect(said).toEqual([]);
  rmSync(root, { recursive: true });
});

const open = (where: string | undefined = folder) => new History(where, (line) => said.push(line));

async function type(...lines: string[]): Promise<void> {
  const history = open();
  for (const line of lines) history.add(line);
  await history.close();
}

it('is in a private file, which the next prompt reads', async () => {
  expect(open().newestFirst).toEqual([]);
  await type('(+ 1 2)', '(module m g', '\t(defun f () 1))');
  await type('(m.f)');
  expect(open().newestFirst).toEqual(['(m.f)', '\t(defun f () 1))', '(module m g', '(+ 1 2)']);
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('has no blank lines, no repetitions, none that is too long, and no commands to the terminal', async () => {
  const long = 'x'.repeat(MAX_LINE_LENGTH);
  await type('a', 'a', '  ', long, `${long}x`, '\x1b[2J');
  await type(long, 'a');
  expect(open().newestFirst).toEqual(['a', long, 'a']);
  writeFileSync(file, `a\n\x1b[2J\n${long}x\n`);
  expect(open().newestFirst).toEqual(['a']);
});

it('keeps the newest lines', async () => {
  mkdirSync(folder);
  const lines = Array.from({ length: 2 * MAX_LINES }, (_, i) => `(f ${i})`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  const newest = lines.slice(-MAX_LINES).toReversed();
  expect(open().newestFirst).toEqual(newest);
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(MAX_LINES + 1);
  expect(open().newestFirst).toEqual(newest);
});

it('of two prompts at the same time has the lines of both', async () => {
  const [one, other] = [open(), open()];
  one.add('one');
  await one.close();
  other.add('other');
  await other.close();
  expect(open().newestFirst).toEqual(['other', 'one']);
});

it('is not kept for a user without a home', async () => {
  const history = new History(undefined, (line) => said.push(line));
  history.add('a');
  await history.close();
  expect(history.newestFirst).toEqual([]);
});

it.skipIf(process.platform === 'win32')('is not written through a link, and says so once', async () => {
  mkdirSync(folder);
  writeFileSync(join(root, 'other'), '');
  symlinkSync(join(root, 'other'), file);
  const history = open();
  history.add('secret');
  await history.close();
  expect(said.splice(0)).toEqual([expect.stringMatching(/is not kept, because .*: it is a symbolic link/)]);
  expect(readFileSync(join(root, 'other'), 'utf8')).toBe('');
});

it('that is a folder is not used, and says so', () => {
  mkdirSync(file, { recursive: true });
  chmodSync(file, 0o700);
  expect(open().newestFirst).toEqual([]);
  expect(said.splice(0)).toEqual([expect.stringContaining('it is a directory')]);
});
