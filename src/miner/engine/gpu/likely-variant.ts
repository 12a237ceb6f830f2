/**
 * The variant of the kernel that is probably the fastest on a GPU. A rig mines with it until the variants are measured.
 * The choice follows from the machine code that the makers' compilers generate (native/compilers/README.md). The likely
 * variant takes at most 5 % more instructions than the best variant.
 */

import type { ShaderName, Variant } from './tuning.ts';

/**
 * Maker and architecture of a chip, as in WebGPU's `GPUAdapterInfo`, such as `nvidia` and `pascal`, or `amd` and
 * `rdna-3`.
 */
interface Chip {
  readonly vendor: string;
  readonly architecture: string;
}

/** Architectures of Intel's older chips, which have no instruction that rotates. */
const NO_ROTATE = /^gen-[789]$/;
/** Architectures of Intel's chips that can rotate in one instruction, but can add only two terms in one instruction. */
const ADDS_TWO = /^gen-(11|12lp)$/;

/** Architectures of NVIDIA's chips that need several instructions for a multiplication. */
const SLOW_MULTIPLICATION = /^(fermi|kepler|maxwell|pascal)$/;

/** @returns undefined for chips of makers whose compilers were not tried */
export function likelyVariant(chip: Chip): Variant | undefined {
  const shader = likelyShader(chip);
  // The best workgroup size and the best length of the loop depend on the driver. These are the middle ones of
  // the values that are tried.
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
