import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Cache } from '#pickaxe/base/system/cache.js';

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
  test('shows only complete files while several processes write', async () => {
    cache.remember('cpu A', KEY, { speed: 0 });
    const write = `
      import { Cache } from '#pickaxe/base/system/cache.js';
      const cache = new Cache(process.argv[1]);
      for (let speed = 1; speed <= 200; speed++) cache.remember('cpu A', ${JSON.stringify(KEY)}, { speed });`;
    const writers = Array.from({ length: 3 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', write, directory], { stdio: 'inherit' }),
    );
    let running = writers.length;
    const codes = Promise.all(
      writers.map(async (writer) => {
        const [code] = await once(writer, 'exit');
        running--;
        return code;
      }),
    );
    while (running > 0) {
      for (let i = 0; i < 50; i++) expect(cache.recall('cpu A', KEY, SHAPE)).toBeDefined();
      await new Promise(setImmediate);
    }
    expect(await codes).toEqual([0, 0, 0]);
    expect(cache.recall('cpu A', KEY, SHAPE)).toEqual({ speed: 200 });
    onlyFile();
  });
});
