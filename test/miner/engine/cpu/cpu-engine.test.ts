import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { engineContract } from '../../../interfaces/engine-contract.ts';
import { ourNiceness } from '../../../priority.ts';
import { loadableKernels } from './loadable-kernels.ts';

/** `cpu-engine.long.test.ts` runs all kernels. */
const [kernel = 'wasm'] = loadableKernels;
engineContract(`cpu (${kernel})`, () => new CpuEngine({ kernel, threads: 2, niceness: ourNiceness }));

test('describes itself', async () => {
  const engine = new CpuEngine({ kernel: 'wasm', threads: 1, affinity: 'none', niceness: Math.max(3, getPriority()) });
  const info = await engine.open();
  await engine.close();
  expect(info).toEqual({
    model: expect.stringMatching(/./),
    kernel: 'wasm',
    threads: 1,
    why: 'asked for',
    detail: expect.stringMatching(
      /^kernel wasm: asked for; 1 thread: asked for; placed by the system, as asked for; \S/,
    ),
  });
});

/** A kernel for another kind of chip. */
const foreign = process.arch === 'x64' ? 'neon' : 'avx2';

test('refuses a kernel that cannot run here, and says so', async () => {
  const opening = new CpuEngine({ kernel: foreign }).open();
  await expect(opening).rejects.toThrow(DeviceError);
  await expect(opening).rejects.toThrow(`CPU kernel ${foreign}:`);
});

test.each([0, -1, 1.5, Number.NaN, 1e6])('refuses %s threads', (threads) => {
  expect(() => new CpuEngine({ threads })).toThrow(RangeError);
});

test('cannot search before it is open', async () => {
  const search = new CpuEngine().search({} as never, {} as never, new AbortController().signal);
  await expect(search[Symbol.asyncIterator]().next()).rejects.toThrow('not open');
});

test('can be closed while it opens, and opened again', async () => {
  const engine = new CpuEngine({ threads: 1, niceness: ourNiceness });
  const opening = engine.open();
  await expect(engine.open()).rejects.toThrow('open already');
  await engine.close();
  await expect(opening).rejects.toThrow('closed while it opened');
  await expect(opening).rejects.toThrow(DeviceError);
  await engine.open();
  await engine.close();
});

test('can be opened again when it could not be opened', async () => {
  const engine = new CpuEngine({ kernel: foreign });
  await expect(engine.open()).rejects.toThrow(DeviceError);
  await expect(engine.open()).rejects.toThrow(DeviceError);
});
