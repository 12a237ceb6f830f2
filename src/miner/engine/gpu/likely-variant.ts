/**
 * The variant of the kernel that is probably the fastest on a GPU, with which a rig mines until it has measured all. It
 * follows from what the makers' compilers make of the shaders (native/compilers/README.md): it takes at most 5 % more
 * instructions than the best one.
 */

import type { ShaderName, Variant } from './tuning.ts';

/** As WebGPU names them (`GPUAdapterInfo`), in lower case: `nvidia` and `pascal`, `amd` and `rdna-3`. */
interface Chip {
  readonly vendor: string;
  readonly architecture: string;
}

/** Intel's chips without an instruction that rotates; and the later ones whose additions have two terms only. */
const NO_ROTATE = /^gen-[789]$/;
const ADDS_TWO = /^gen-(11|12lp)$/;

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
      if (NO_ROTATE.test(name)) return 'wgsl';
      return ADDS_TWO.test(name) ? 'wgsl-uniform-rotates' : 'wgsl-added-zeros';
    case 'nvidia':
      return SLOW_MULTIPLICATION.test(name) ? 'wgsl' : 'wgsl-multiplied-adds';
    default:
      return undefined;
  }
}
