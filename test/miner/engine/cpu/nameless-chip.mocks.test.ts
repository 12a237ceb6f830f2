import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { arch, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Cache } from '#pickaxe/base/system/cache.js';
import { recallTuning, rememberTuning } from '#pickaxe/miner/engine/cpu/kernels/choose.js';

vi.mock('node:os', async (load) => ({ ...(await load<object>()), cpus: vi.fn() }));

const TUNING = { speeds: { wasm: 1e6 }, fastest: 'wasm' } as const;

test.each([
  [undefined, arch()],
  ['  ', arch()],
  [' Ryzen 7 7700 ', 'Ryzen 7 7700'],
])('what is remembered of the chip %j is filed under %s, and found again', (model, name) => {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-nameless-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  vi.mocked(cpus).mockReturnValue(model === undefined ? [] : ([{ model }] as ReturnType<typeof cpus>));
  const [cache, groups] = [new Cache(folder), [{ places: [[]] }]];
  expect(rememberTuning(cache, groups, 0, TUNING)).toBeUndefined();
  expect(recallTuning(cache, groups, 0)).toEqual(TUNING);
  const [file] = readdirSync(folder);
  expect(JSON.parse(readFileSync(join(folder, file), 'utf8')).key.subject).toBe(`cpu ${name}, 1 thread`);
});
