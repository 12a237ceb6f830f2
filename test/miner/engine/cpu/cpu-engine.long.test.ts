import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { engineContract } from '../../../interfaces/engine-contract.ts';
import { ourNiceness } from '../../../priority.ts';
import { loadableKernels } from './loadable-kernels.ts';

for (const kernel of loadableKernels)
  engineContract(`cpu (${kernel})`, () => new CpuEngine({ kernel, threads: 2, niceness: ourNiceness }));
