import {
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
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Cache } from '#pickaxe/base/system/cache.js';
import { version } from '#pickaxe/base/system/version.js';

const KEY = { chip: 'one', build: 7 };
const SHAPE = z.object({ speed: z.number() });

let home: string;
let directory: string;
let cache: Cache;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  directory = join(home, 'made', 'when needed');
  cache = new Cache(directory);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** The only file in the directory. */
function onlyFile(): string {
  const files = readdirSync(directory);
  expect(files).toHaveLength(1);
  return join(directory, files[0]);
}

describe('the cache', () => {
  test('recalls what was remembered last', () => {
    cache.remember('cpu A', KEY, { speed: 1 });
    cache.remember('cpu A', KEY, { speed: 2 });
    expect(new Cache(directory).recall('cpu A', KEY, SHAPE)).toEqual({ speed: 2 });
    expect(readFileSync(onlyFile(), 'utf8')).toContain(version);
  });

  test.each([
    [65_536, { speed: 1 }],
    [65_537, undefined],
  ])('reads a file of %i bytes as %j', (bytes, value) => {
    cache.remember('cpu A', KEY, { speed: 1 });
    const file = onlyFile();
    writeFileSync(file, readFileSync(file, 'utf8').padEnd(bytes));
    expect(cache.recall('cpu A', KEY, SHAPE)).toEqual(value);
  });

  test('recalls nothing when nothing was remembered, and makes no directory for it', () => {
    expect(cache.recall('cpu A', KEY, SHAPE)).toBeUndefined();
    expect(readdirSync(home)).toEqual([]);
  });

  test.each([
    ['another value', { chip: 'two', build: 7 }],
    ['fewer fields', { chip: 'one' }],
    ['more fields', { ...KEY, driver: '1' }],
  ])('recalls nothing under a key with %s', (_, key) => {
    cache.remember('cpu A', KEY, { speed: 1 });
    expect(cache.recall('cpu A', key, SHAPE)).toBeUndefined();
  });

  test('keeps subjects apart, even if they differ only in punctuation', () => {
    cache.remember('cpu A', KEY, { speed: 1 });
    cache.remember('gpu A', KEY, { speed: 2 });
    expect(cache.recall('cpu A', KEY, SHAPE)).toEqual({ speed: 1 });
    cache.remember('cpu (A', KEY, { speed: 3 });
    expect(cache.recall('cpu A', KEY, SHAPE)).toEqual({ speed: 1 });
    expect(cache.recall('cpu (A', KEY, SHAPE)).toEqual({ speed: 3 });
  });

  test('keeps values for several keys, whatever the order of their fields', () => {
    cache.remember('cpu A', { chip: 'one', build: 7 }, { speed: 1 });
    cache.remember('cpu A', { chip: 'one', build: 8 }, { speed: 2 });
    expect(cache.recall('cpu A', { build: 7, chip: 'one' }, SHAPE)).toEqual({ speed: 1 });
    expect(cache.recall('cpu A', { build: 8, chip: 'one' }, SHAPE)).toEqual({ speed: 2 });
  });

  test('forgets a subject’s oldest memory when it has too many keys', () => {
    cache.remember('cpu', KEY, { speed: 0 });
    const before = new Date('2020-01-01');
    for (let build = 1; build <= 20; build++) {
      cache.remember('cpu A', { build }, { speed: build });
      // The files get different times, even on file systems with coarse clocks.
      for (const name of readdirSync(directory)) {
        const file = join(directory, name);
        if (statSync(file).mtimeMs > Date.now() - 60_000) utimesSync(file, before, new Date(+before + 1000 * build));
      }
    }
    const recalled = Array.from({ length: 20 }, (_, i) => cache.recall('cpu A', { build: i + 1 }, SHAPE)?.speed);
    expect(recalled).toEqual([...new Array(12).fill(undefined), 13, 14, 15, 16, 17, 18, 19, 20]);
    expect(cache.recall('cpu', KEY, SHAPE)).toEqual({ speed: 0 });
  });

  test('keeps its files in its directory, whatever the subject is called', () => {
    cache.remember(`../../${'x'.repeat(1000)}/\0`, KEY, { speed: 1 });
    expect(readdirSync(home)).toEqual(['made']);
    expect(onlyFile().length).toBeLessThan(directory.length + 130);
  });

  test('does not recall what another version remembered', () => {
    cache.remember('cpu A', KEY, { speed: 1 });
    const file = onlyFile();
    writeFileSync(file, readFileSync(file, 'utf8').replace(`"pickaxe": "${version}"`, '"pickaxe": "0.0.1"'));
    expect(cache.recall('cpu A', KEY, SHAPE)).toBeUndefined();
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{"key":'],
    ['null', 'null'],
    ['a list', '[]'],
    ['more than it may', `"${'x'.repeat(70_000)}"`],
    ['bytes', Buffer.from([0xff, 0xfe, 0])],
  ])('recalls nothing from a file that holds %s, and replaces it', (_, content) => {
    cache.remember('cpu A', KEY, { speed: 1 });
    writeFileSync(onlyFile(), content);
    expect(cache.recall('cpu A', KEY, SHAPE)).toBeUndefined();
    cache.remember('cpu A', KEY, { speed: 2 });
    expect(cache.recall('cpu A', KEY, SHAPE)).toEqual({ speed: 2 });
  });

  test('does not recall values of another shape', () => {
    cache.remember('cpu A', KEY, { speed: 'fast' });
    expect(cache.recall('cpu A', KEY, SHAPE)).toBeUndefined();
  });

  test('says why it cannot remember, and leaves nothing behind', () => {
    writeFileSync(join(home, 'made'), 'a file where the directory should be');
    expect(cache.recall('cpu A', KEY, SHAPE)).toBeUndefined();
    expect(cache.remember('cpu A', KEY, { speed: 1 })).toContain(directory);

    rmSync(join(home, 'made'));
    cache.remember('cpu A', KEY, { speed: 1 });
    const file = onlyFile();
    rmSync(file);
    mkdirSync(join(file, 'a directory where the file should be'), { recursive: true });
    expect(cache.recall('cpu A', KEY, SHAPE)).toBeUndefined();
    expect(cache.remember('cpu A', KEY, { speed: 1 })).toContain(file);
    expect(onlyFile()).toBe(file);
  });
});
