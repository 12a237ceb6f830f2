/** `npm run generate`: writes every kernel that is printed from the one description. */

import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { printC } from './c.ts';
import { describe } from './last-block.ts';
import { printCpuKernel, printGpuPreparation } from './ts.ts';
import { HIT_CAPACITY, jobWords, printWgsl } from './wgsl.ts';
import { printAssembly } from './x86/assembly.ts';
import { ASSEMBLY_KERNELS } from './x86/instruction-sets.ts';

/** What a GPU runs: its adders take three terms, and the host prepares what depends on the job and the page. */
export const gpuKernel = describe({ addends: 3, loopsOverPages: false, result: 'plain' });

/** What a CPU runs: a table over counters times a loop over pages. */
export const cpuKernel = describe({ addends: 2, loopsOverPages: true, result: 'rotated' });

/** Every generated file that is kept: its path from the repository's root, and its text. */
export function generatedFiles(): Record<string, string> {
  return {
    'shaders/scan.wgsl': printWgsl(gpuKernel, 'plain'),
    'shaders/scan-uniform-rotates.wgsl': printWgsl(gpuKernel, 'uniform rotates'),
    'shaders/scan-multiplied-adds.wgsl': printWgsl(gpuKernel, 'multiplied adds'),
    'src/engine/gpu/prepare.generated.ts': printGpuPreparation(gpuKernel, jobWords(gpuKernel), HIT_CAPACITY),
    'src/engine/cpu/kernels/scan.generated.ts': printCpuKernel(cpuKernel),
    'native/scan.generated.h': printC(cpuKernel),
  };
}

/**
 * The assembly of x86 kernels, by their names. It is long and nobody's to read, so it is printed when the native kernels
 * are built (scripts/build-native.mjs).
 */
export function assemblyFiles(): Map<string, string> {
  return new Map(ASSEMBLY_KERNELS.map((kernel) => [kernel.name, printAssembly(cpuKernel, kernel)]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [path, text] of Object.entries(generatedFiles())) {
    writeFileSync(new URL(`../../${path}`, import.meta.url), text);
  }
}
