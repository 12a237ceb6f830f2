import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Cache } from '#pickaxe/base/system/cache.js';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import {
  chooseKernels,
  forceKernel,
  recallTuning,
  rememberTuning,
  surveyKernels,
  type Tuning,
} from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import { fastestOf, type Speeds } from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';
import type { CoreGroup } from '#pickaxe/miner/engine/cpu/threads.js';
import { ourNiceness } from '../../../priority.ts';
import { loadableKernels } from './loadable-kernels.ts';

let home: string;
let directory: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  directory = join(home, 'pickaxe');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** This number of threads, placed by the system. */
const threads = (count: number) => [{ places: new Array<number[]>(count).fill([]) }];
const remember = (speeds: Speeds, more: Partial<Tuning> = {}, groups: CoreGroup[] = threads(2), index = 0) => {
  const fastest = fastestOf(speeds)!;
  const tuning = { speeds, fastest, ...more };
  expect(rememberTuning(new Cache(directory), groups, index, tuning)).toBeUndefined();
};
const here = () => ({ groups: threads(2), cacheDirectory: directory });
const recall = (groups: CoreGroup[] = threads(2), index = 0) => recallTuning(new Cache(directory), groups, index);
const choose = async (circumstances: Parameters<typeof chooseKernels>[0] = here()) =>
  (await chooseKernels(circumstances))[0];
/** A kernel that cannot run on this kind of chip. */
const foreign = process.arch === 'arm64' ? 'avx2' : 'neon';

test('the first start measures every kernel that can be used, and remembers what it can rely on', async () => {
  const first = await choose();
  expect(first.why).toMatch(new RegExp(`^the fastest of ${loadableKernels.length} here`));
  expect(first.detail).toContain('the fastest here');
  expect(first.detail).not.toContain('before');
  const recalled = recall();
  if (recalled === undefined)
    expect(first.detail).toMatch(/not remembered: only \d+ of \d+ turns of .* agree within 2 %/);
  else {
    expect(Object.keys(recalled.speeds).sort()).toEqual([...loadableKernels].sort());
    expect(recalled.fastest).toBe(first.name);
  }
});

test('a kernel that was asked for says in words where it comes from, if it is native', () => {
  for (const name of loadableKernels) expect(forceKernel(name).why).toMatch(/^asked for(; (built here|prebuilt))?$/);
});

test('later starts use the kernel that was the fastest, and measure nothing', async () => {
  remember({ wasm: 2e6, 'wasm-simd': 1e6 });
  const { name, why, detail } = await choose();
  expect(name).toBe('wasm');
  expect(why).toContain('the fastest of 2 here, as measured before');
  expect(detail).toContain('wasm 2.0, wasm-simd 1.0), as measured before');
  expect(recall()?.speeds).toEqual({ wasm: 2e6, 'wasm-simd': 1e6 });
});

test('when the remembered kernel cannot be used any more, all are measured again', async () => {
  remember({ [foreign]: 1e12, wasm: 1e6 });
  const { name, why, detail } = await choose();
  expect(loadableKernels).toContain(name);
  expect(detail).not.toContain('before');
  expect(why).toContain(`the fastest of ${loadableKernels.length} here`);
});

test.each([
  ['of no kernel', { speeds: {} }],
  ['of an unknown kernel', { speeds: { wasm: 1, abacus: 1 } }],
  ['that are not above 0', { speeds: { wasm: 0 } }],
  ['that are not numbers', { speeds: { wasm: '1e6' } }],
  ['without that of the fastest kernel', { fastest: 'wasm-simd' }],
])('speeds %s are not believed', (_, wrong) => {
  remember({ wasm: 1e6 }, wrong as never);
  expect(recall()).toBeUndefined();
});

test('what an earlier version of the cache remembered, without a format, is not found', () => {
  remember({ wasm: 1e6 });
  const [name] = readdirSync(directory);
  const file = join(directory, name);
  const memory = JSON.parse(readFileSync(file, 'utf8'));
  expect(memory.key.format).toBe(2);
  const { format, ...old } = memory.key;
  writeFileSync(file, JSON.stringify({ key: old, value: { wasm: 1e6 } }));
  expect(recall()).toBeUndefined();
  writeFileSync(file, JSON.stringify(memory));
  expect(recall()).toBeDefined();
});

test('what an earlier version remembered, with the kernels that were close, is read', () => {
  remember({ wasm: 2e6, 'wasm-simd': 1.96e6 }, { close: ['wasm', 'wasm-simd'], proven: false } as never);
  expect(recall()).toEqual({ speeds: { wasm: 2e6, 'wasm-simd': 1.96e6 }, fastest: 'wasm' });
});

test('speeds that cannot be remembered are measured, with the reason', async () => {
  writeFileSync(directory, 'a file where the directory should be');
  const { detail } = await choose();
  // A busy machine gives another reason.
  if (!detail.includes('agree within')) expect(detail).toMatch(/not remembered: E[A-Z]+: .*pickaxe-/);
  const { detail: homeless } = await choose({ groups: threads(1) });
  if (!homeless.includes('agree within')) expect(homeless).toContain('not remembered: there is no cache directory');
});

test('a kernel that is asked for neither reads nor writes what is remembered', async () => {
  expect(forceKernel('wasm')).toEqual({ name: 'wasm', why: 'asked for', detail: 'asked for' });
  const engine = new CpuEngine({ kernel: 'wasm', threads: 1, niceness: ourNiceness, cacheDirectory: directory });
  await engine.open();
  await engine.close();
  expect(existsSync(directory)).toBe(false);
  expect(() => forceKernel(foreign)).toThrow(`CPU kernel ${foreign}: made for another kind of chip`);
});

test('a survey shows every kernel, from memory unless a new measurement is asked for', async () => {
  const all = Object.fromEntries(loadableKernels.map((name) => [name, 5e6]));
  remember(all);
  const [survey] = await surveyKernels(here());
  expect(survey).toMatchObject({ threads: 2, speeds: all, fastest: loadableKernels[0] });
  expect(survey.unusable.get(foreign)).toBe('made for another kind of chip');
  expect((await surveyKernels(here(), true))[0].speeds).not.toEqual(all);
});

test('a survey measures again when there are new kernels without a remembered speed', async () => {
  remember({ wasm: 5e6 });
  expect(Object.keys((await surveyKernels(here()))[0].speeds).sort()).toEqual([...loadableKernels].sort());
});

test('speeds are remembered separately for each number of threads', async () => {
  remember({ wasm: 2e6, 'wasm-simd': 1e6 });
  expect((await choose({ ...here(), groups: threads(1) })).detail).not.toContain('before');
  expect((await choose()).name).toBe('wasm');
});

/** As on a hybrid chip; here the system places the threads. */
const hybrid: CoreGroup[] = [
  { kind: 'performance', places: [[]] },
  { kind: 'efficiency', places: [[]] },
];

test('each kind of cores has a choice of its own, which is remembered separately', async () => {
  remember({ wasm: 2e6, 'wasm-simd': 1e6 }, {}, hybrid, 0);
  expect((await choose({ ...here(), groups: hybrid })).detail).not.toContain('before');
  remember({ wasm: 2e6, 'wasm-simd': 1e6 }, {}, hybrid, 0);
  remember({ wasm: 1e6, 'wasm-simd': 2e6 }, {}, hybrid, 1);
  const choices = await chooseKernels({ groups: hybrid, cacheDirectory: directory });
  expect(choices.map(({ name }) => name)).toEqual(['wasm', 'wasm-simd']);
  expect(recall(hybrid, 1)?.fastest).toBe('wasm-simd');
});

test('the kernels of all kinds of cores are measured at once', async () => {
  const surveys = await surveyKernels({ groups: hybrid });
  expect(surveys.map(({ kind, threads }) => [kind, threads])).toEqual([
    ['performance', 1],
    ['efficiency', 1],
  ]);
  for (const { speeds } of surveys) expect(Object.keys(speeds).sort()).toEqual([...loadableKernels].sort());
});

test('a canceled choice ends with the reason, and nothing is remembered', async () => {
  const closed = new AbortController();
  const choosing = chooseKernels({ ...here(), stop: closed.signal });
  const reason = new Error('closed');
  closed.abort(reason);
  await expect(choosing).rejects.toBe(reason);
  expect(existsSync(directory)).toBe(false);
});
