/**
 * The variant of the kernel that is probably the fastest on a GPU. A rig mines with it until it has measured all
 * variants. The choice follows from the code that the makers' compilers generate (native/compilers/README.md): the
 * likely variant takes at most 5 % more instructions than the best one.
 */

import type { ShaderName, Variant } from './tuning.ts';

/** Names as in WebGPU's `GPUAdapterInfo`, in lower case: `nvidia` and `pascal`, `amd` and `rdna-3`. */
interface Chip {
  readonly vendor: string;
  readonly architecture: string;
}

/**
 * Intel's older chips have no instruction that rotates. Gen 11 and 12LP have one, but add only two terms in an
 * instruction.
 */
const NO_ROTATE = /^gen-[789]$/;
const ADDS_TWO = /^gen-(11|12lp)$/;

/** NVIDIA's chips that multiply in several instructions. */
const SLOW_MULTIPLICATION = /^(fermi|kepler|maxwell|pascal)$/;

/** @returns undefined for makers whose compilers were not tried */
export function likelyVariant(chip: Chip): Variant | undefined {
  const shader = likelyShader(chip);
  // The best size of workgroups and length of loops depend on the driver. These are the middle values.
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
