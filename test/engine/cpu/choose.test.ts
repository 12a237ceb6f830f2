import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CpuEngine } from '#pickaxe/engine/cpu/cpu-engine.js';
import { chooseKernel, forceKernel, surveyKernels } from '#pickaxe/engine/cpu/kernels/choose.js';
import { recallSpeeds, rememberSpeeds } from '#pickaxe/engine/cpu/kernels/tuning.js';
import { Cache } from '#pickaxe/system/cache.js';
import { ourNiceness } from '../../priority.ts';
import { loadableKernels } from './loadable-kernels.ts';

let home: string;
let directory: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  directory = join(home, 'pickaxe');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const remember = (speeds: Parameters<typeof rememberSpeeds>[2]) =>
  expect(rememberSpeeds(new Cache(directory), 2, speeds)).toBeUndefined();
const here = () => ({ threads: 2, cacheDirectory: directory });
const recall = () => recallSpeeds(new Cache(directory), 2);
/** A kernel that cannot run on this kind of chip. */
const foreign = process.arch === 'arm64' ? 'avx2' : 'neon';

test('the first start measures every kernel that can be used, and remembers how fast they are', async () => {
  const first = await chooseKernel(here());
  expect(first.why).toMatch(new RegExp(`^the fastest of ${loadableKernels.length} here`));
  expect(first.detail).toContain('the fastest here');
  expect(first.detail).not.toContain('before');
  expect(Object.keys(recall()!).sort()).toEqual([...loadableKernels].sort());
});

test('a kernel that was asked for says in words where it comes from, if it is native', () => {
  for (const name of loadableKernels) expect(forceKernel(name).why).toMatch(/^asked for(; (built here|prebuilt))?$/);
});

test('later starts use the kernel that was the fastest, and measure nothing', async () => {
  remember({ js: 2e6, wasm: 1e6 });
  const { name, why, detail } = await chooseKernel(here());
  expect(name).toBe('js');
  expect(why).toContain('the fastest of 2 here, as measured before');
  expect(detail).toContain('js 2.0, wasm 1.0), as measured before');
  expect(recall()).toEqual({ js: 2e6, wasm: 1e6 });
});

test('when the remembered kernel cannot be used any more, all are measured again', async () => {
  remember({ [foreign]: 1e12, js: 1e6 });
  const { name, detail } = await chooseKernel(here());
  expect(loadableKernels).toContain(name);
  expect(detail).not.toContain('before');
  expect(Object.keys(recall()!).sort()).toEqual([...loadableKernels].sort());
});

test.each([
  ['of no kernel', {}],
  ['of an unknown kernel', { abacus: 1 }],
  ['that are not above 0', { js: 0 }],
  ['that are not numbers', { js: '1e6' }],
])('speeds %s are not believed', (_, speeds) => {
  remember(speeds as never);
  expect(recall()).toBeUndefined();
});

test('speeds that cannot be remembered are measured, with the reason', async () => {
  writeFileSync(directory, 'a file where the directory should be');
  expect((await chooseKernel(here())).detail).toContain(`measured at each start: `);
  expect((await chooseKernel(here())).detail).toContain(directory);
  expect((await chooseKernel({ threads: 1 })).detail).toContain('measured at each start: there is no cache directory');
});

test('a kernel that is asked for neither reads nor writes what is remembered', async () => {
  expect(forceKernel('js')).toEqual({ name: 'js', why: 'asked for', detail: 'asked for' });
  const engine = new CpuEngine({ kernel: 'js', threads: 1, niceness: ourNiceness, cacheDirectory: directory });
  await engine.open();
  await engine.close();
  expect(existsSync(directory)).toBe(false);
  expect(() => forceKernel(foreign)).toThrow(`CPU kernel ${foreign}: made for another kind of chip`);
});

test('the engine remembers speeds in the given directory', async () => {
  const engine = new CpuEngine({ threads: 1, niceness: ourNiceness, cacheDirectory: directory });
  await engine.open();
  await engine.close();
  expect(readdirSync(directory)).toHaveLength(1);
});

test('a survey shows every kernel, from memory unless a new measurement is asked for', async () => {
  const all = Object.fromEntries(loadableKernels.map((name) => [name, 5e6]));
  remember(all);
  const { speeds, unusable } = await surveyKernels(here());
  expect(speeds).toEqual(all);
  expect(unusable.get(foreign)).toBe('made for another kind of chip');
  expect((await surveyKernels(here(), true)).speeds).not.toEqual(all);
  expect(recall()).not.toEqual(all);
});

test('a survey measures again when there are new kernels without a remembered speed', async () => {
  remember({ js: 5e6 });
  expect(Object.keys((await surveyKernels(here())).speeds).sort()).toEqual([...loadableKernels].sort());
});

test('speeds are remembered separately for each number of threads', async () => {
  remember({ js: 2e6, wasm: 1e6 });
  expect((await chooseKernel({ ...here(), threads: 1 })).detail).not.toContain('before');
  expect((await chooseKernel(here())).name).toBe('js');
});

test('a canceled choice ends with the reason, and nothing is remembered', async () => {
  const closed = new AbortController();
  const choosing = chooseKernel({ ...here(), stop: closed.signal });
  const reason = new Error('closed');
  closed.abort(reason);
  await expect(choosing).rejects.toBe(reason);
  expect(existsSync(directory)).toBe(false);
});
