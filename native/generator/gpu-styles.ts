/** The styles in which the kernel for GPUs is written. Which one a driver compiles best differs between makers. */

import { type Dialect, hex } from './print.ts';

export const GPU_STYLES = {
  plain: 'All rotates are by constants.',
  'uniform rotates':
    'The distances of the rotates by 12 and 7 come from a uniform: Mesa RADV then compiles them to faster code.',
  'multiplied adds': 'Additions multiply by a one from a uniform: NVIDIA chips have separate units for multiply-add.',
} as const;
export type GpuStyle = keyof typeof GPU_STYLES;

/**
 * The rotates whose distances come from a uniform, so that the compiler does not know them: 16 % faster on Mesa's RADV.
 */
const UNIFORM_ROTATES = [12, 7];

/** @returns whether a rotate by this distance reads it from a uniform */
export const isUniform = (style: GpuStyle, bits: number): boolean =>
  style === 'uniform rotates' && UNIFORM_ROTATES.includes(bits);

/** @returns the fields of the control uniform that hold constants of the kernel, so that the compiler does not see them */
export function unseenOf(style: GpuStyle): string[] {
  if (style === 'uniform rotates') return UNIFORM_ROTATES.map((bits) => `rotate${bits}`);
  return style === 'multiplied adds' ? ['one'] : [];
}

/** @returns how WGSL and OpenCL C, which write expressions alike, compute values */
export const gpuDialect = (style: GpuStyle): Omit<Dialect, 'declare'> => ({
  constant: (number) => `${hex(number)}u`,
  add: (terms) =>
    style === 'multiplied adds'
      ? terms.reduce((sum, term, i) => `${i > 1 ? `(${sum})` : sum} * one + ${term}`)
      : terms.join(' + '),
  xor: (operands) => operands.join(' ^ '),
  rotr: (x, bits) =>
    isUniform(style, bits)
      ? `(${x} >> rotate${bits}) | (${x} << (32u - rotate${bits}))`
      : `(${x} >> ${bits}u) | (${x} << ${32 - bits}u)`,
});
