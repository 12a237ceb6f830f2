/** Processes that write to one cache at once. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { Cache } from '#pickaxe/base/system/cache.js';

const KEY = { chip: 'one', build: 7 };
const SHAPE = z.object({ speed: z.number() });

test('the cache shows only complete files while several processes write', async () => {
  const home = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const directory = join(home, 'made', 'when needed');
  const cache = new Cache(directory);
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
  expect(readdirSync(directory)).toHaveLength(1);
});
