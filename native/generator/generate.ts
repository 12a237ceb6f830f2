/**
 * `npm run generate`: prints all kernels from their one description, and writes the files that are kept in git. It is
 * compiled to native/build/generator/, and never runs on a rig.
 */

import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { printC } from './c.ts';
import { describe } from './last-block.ts';
import { printGpuPreparation } from './ts.ts';
import { HIT_CAPACITY, jobWords, printWgsl } from './wgsl.ts';
import { printAssembly } from './x86/assembly.ts';
import { ASSEMBLY_KERNELS } from './x86/instruction-sets.ts';

/** The kernel for GPUs: they add three terms at once, and the host computes what depends on the job and the page. */
export const gpuKernel = describe({ addends: 3, loopsOverPages: false, result: 'plain' });

/** The kernel for CPUs: they loop over pages, with a table of what depends on the counter. */
export const cpuKernel = describe({ addends: 2, loopsOverPages: true, result: 'rotated' });

/** @returns the text of each generated file that is kept in git, by its path from the repository's root */
export function generatedFiles(): Record<string, string> {
  return {
    'shaders/scan.wgsl': printWgsl(gpuKernel, 'plain'),
    'shaders/scan-uniform-rotates.wgsl': printWgsl(gpuKernel, 'uniform rotates'),
    'shaders/scan-added-zeros.wgsl': printWgsl(gpuKernel, 'added zeros'),
    'shaders/scan-multiplied-adds.wgsl': printWgsl(gpuKernel, 'multiplied adds'),
    'src/miner/engine/gpu/prepare.generated.ts': printGpuPreparation(gpuKernel, jobWords(gpuKernel), HIT_CAPACITY),
    'native/scan.generated.h': printC(cpuKernel),
  };
}

/**
 * @returns the assembly of the x86 kernels, by name. It is long, and nobody needs to read it, so it is not kept in git
 *   but printed when the native kernels are built (scripts/build-native.mjs)
 */
export function assemblyFiles(): Map<string, string> {
  return new Map(ASSEMBLY_KERNELS.map((kernel) => [kernel.name, printAssembly(cpuKernel, kernel)]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [path, text] of Object.entries(generatedFiles())) {
    writeFileSync(new URL(`../../../${path}`, import.meta.url), text);
  }
}
