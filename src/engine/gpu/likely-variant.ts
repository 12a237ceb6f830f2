/**
 * The variant of the kernel that is probably the fastest on a GPU, with which a rig mines until it has measured all. It
 * follows from what the makers' compilers make of the shaders (docs/gpus.md): it takes at most 5 % more instructions
 * than the best one, but 10 % on Intel's Gen9 with Intel's own compiler.
 */

import type { ShaderName, Variant } from './tuning.ts';

/** As WebGPU names them (`GPUAdapterInfo`), in lower case: `nvidia` and `pascal`, `amd` and `rdna-3`. */
export interface Chip {
  readonly vendor: string;
  readonly architecture: string;
}

/** Intel's chips before Xe-HPG and Arc, which cannot add three terms in one instruction. */
const ADDS_TWO = /^gen-(\d|11|12lp)$/;

/** NVIDIA's chips that multiply in several instructions. */
const SLOW_MULTIPLICATION = /^(fermi|kepler|maxwell|pascal)$/;

/** @returns undefined for makers whose compilers were not asked */
export function likelyVariant(chip: Chip): Variant | undefined {
  const shader = likelyShader(chip);
  // How large workgroups should be, and how long their loops, depends on the driver. These are the middle values.
  return shader && { shader, workgroupSize: 128, trips: 16 };
}

function likelyShader({ vendor, architecture }: Chip): ShaderName | undefined {
  const name = architecture.toLowerCase();
  switch (vendor.toLowerCase()) {
    case 'amd':
      return 'wgsl-uniform-rotates';
    case 'intel':
      return ADDS_TWO.test(name) ? 'wgsl-uniform-rotates' : 'wgsl-added-zeros';
    case 'nvidia':
      return SLOW_MULTIPLICATION.test(name) ? 'wgsl' : 'wgsl-multiplied-adds';
    default:
      return undefined;
  }
}
