import { expect, test } from 'vitest';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { engineContract } from '../../../interfaces/engine-contract.ts';
import { ourNiceness } from '../../../priority.ts';
import { loadableKernels } from './loadable-kernels.ts';

for (const kernel of loadableKernels)
  engineContract(`cpu (${kernel})`, () => new CpuEngine({ kernel, threads: 2, niceness: ourNiceness }));

test('chooses the fastest kernel', async () => {
  const engine = new CpuEngine({ niceness: ourNiceness });
  const info = await engine.open();
  await engine.close();
  expect(loadableKernels).toContain(info.kernel);
  expect(info.why).toMatch(/^the fastest of \d+ here/);
  expect(info.detail).toContain('the fastest here');
});
