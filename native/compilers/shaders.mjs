// The variants of the GPU kernel, as GPU compilers get them: SPIR-V from Dawn, PTX and OpenCL C from the generator.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { listGpus } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { gpuKernel } from '../build/generator/generate.js';
import { printOpenCl } from '../build/generator/opencl.js';
import { printPtx } from '../build/generator/ptx.js';

/** The styles of native/generator/gpu-styles.ts, by the shaders' names for people. */
const STYLES = {
  wgsl: 'plain',
  'wgsl-uniform-rotates': 'uniform rotates',
  'wgsl-added-zeros': 'added zeros',
  'wgsl-multiplied-adds': 'multiplied adds',
};
const VARIANT_NAMES = Object.keys(STYLES);

/** Workgroup and trips of the variants that are compiled: others differ in two constants only. */
const SHAPE = { workgroupSize: 128, trips: 16 };

/** Makes a folder for a while. @returns what `use` returns */
export async function withFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-gpu-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Has Dawn translate the shaders on Mesa's software GPU, which writes what it gets to files.
 * @returns the paths of the SPIR-V, by variant
 * @throws Error without that driver
 */
export async function writeSpirv(folder) {
  const gpus = await listGpus({ softwareGpu: true });
  const adapter = gpus.find(({ software, model }) => software && model.startsWith('llvmpipe'))?.model;
  if (!adapter) throw new Error('Dawn translates on Mesa’s software GPU: apt-get install mesa-vulkan-drivers');
  const paths = {};
  for (const shader of VARIANT_NAMES) {
    const dump = join(folder, shader);
    mkdirSync(dump);
    const engine = new GpuEngine({
      name: 'gpu0',
      adapter,
      softwareGpu: true,
      variant: { shader, ...SHAPE },
      batchMs: 5,
      environment: { MESA_SPIRV_DUMP_PATH: dump, MESA_SHADER_CACHE_DISABLE: 'true' },
    });
    await engine.open();
    await engine.close();
    const files = readdirSync(dump);
    if (files.length !== 1) throw new Error(`Mesa wrote ${files.length} files of SPIR-V for ${shader}, not one`);
    paths[shader] = join(dump, files[0]);
  }
  return paths;
}

/** @returns the paths of the kernels that the generator prints, by variant. @param extension `ptx` or `cl` */
export function writePrinted(folder, extension) {
  const print = { ptx: printPtx, cl: printOpenCl }[extension];
  return Object.fromEntries(
    Object.entries(STYLES).map(([variant, style]) => {
      const path = join(folder, `${variant}.${extension}`);
      writeFileSync(path, print(gpuKernel, style, SHAPE));
      return [variant, path];
    }),
  );
}
