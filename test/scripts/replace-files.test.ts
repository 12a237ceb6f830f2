/** How a finished build replaces the previous one. */

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { oneAtATime, removeLeft, replaceFiles } from '../../scripts/replace-files.mjs';

const root = mkdtempSync(join(tmpdir(), 'pickaxe-replace-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
function folder(files: Record<string, string> = {}): string {
  const made = join(root, String(folders++));
  mkdirSync(made);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(made, name)), { recursive: true });
    writeFileSync(join(made, name), text);
  }
  return made;
}

const filesOf = (path: string) =>
  Object.fromEntries(
    readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((name) => !statSync(join(path, name)).isDirectory())
      .map((name) => [name.replaceAll('\\', '/'), readFileSync(join(path, name), 'utf8')]),
  );

/** The number of a process that has ended. */
const endedPid = () => spawnSync(process.execPath, ['--version']).pid;

describe('a build that takes the place of another', () => {
  const next = { 'main.js': 'new', 'cli/same.js': 'same', 'cli/new/deep.js': 'deep' };

  it('replaces what has changed, keeps what has not, and removes what is gone, empty folders included', () => {
    const [from, to] = [folder(next), folder({ 'main.js': 'old', 'cli/same.js': 'same', 'gone/away.js': 'gone' })];
    const longAgo = new Date(1_000_000);
    utimesSync(join(to, 'cli/same.js'), longAgo, longAgo);
    replaceFiles(from, to);
    expect(filesOf(to)).toEqual(next);
    expect(statSync(join(to, 'cli/same.js')).mtime).toEqual(longAgo);
    expect(existsSync(join(to, 'gone'))).toBe(false);
  });

  it('is put where there was none', () => {
    const to = join(folder(), 'not/yet');
    replaceFiles(folder(next), to);
    expect(filesOf(to)).toEqual(next);
  });
});

describe('two builds at once', () => {
  it('take their places one after the other', () => {
    const lock = join(folder(), 'lock');
    expect(oneAtATime(lock, () => readFileSync(lock, 'utf8'))).toBe(String(process.pid));
    expect(existsSync(lock)).toBe(false);
    expect(() => oneAtATime(lock, () => expect.fail('it fails'))).toThrow('it fails');
    expect(existsSync(lock)).toBe(false);
  });

  it('of which one was killed do not wait for it', () => {
    const lock = join(folder(), 'lock');
    for (const left of [String(endedPid()), '']) {
      writeFileSync(lock, left);
      const longAgo = new Date(1_000_000);
      utimesSync(lock, longAgo, longAgo);
      expect(oneAtATime(lock, () => 'done')).toBe('done');
    }
  });

  it('do not remove what the other one is making, but what a killed one has left', () => {
    const [lives, ended] = [`made-${process.pid}`, `made-${endedPid()}`];
    const where = folder({ [`${lives}/a`]: '', [`${ended}/a`]: '', 'made-/a': '', 'other-1/a': '' });
    removeLeft(where, 'made-');
    expect(readdirSync(where).sort()).toEqual([lives, 'made-', 'other-1'].sort());
    removeLeft(join(where, 'nowhere'), 'made-');
  });
});
