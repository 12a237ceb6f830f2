/** The styles in which the kernel for GPUs is written. Which one a driver compiles best differs between makers. */

import { type Dialect, hex } from './print.ts';

export const GPU_STYLES = {
  plain: 'All rotates are by constants.',
  'uniform rotates':
    'The distances of all rotates come from a uniform: Mesa then compiles them to rotates, and not to shifts.',
  'added zeros':
    'As with uniform rotates; and sums of two terms have a zero from a uniform as a third: Intel’s compiler then adds less.',
  'multiplied adds': 'Additions multiply by a one from a uniform: NVIDIA chips have separate units for multiply-add.',
} as const;
export type GpuStyle = keyof typeof GPU_STYLES;

/** The distances of rotates. */
const ROTATES = [16, 12, 8, 7];

/**
 * Mesa 25 makes a rotate of two shifts and an or if it does not know their distances when it compiles. If it knows
 * them, RADV makes a rotate for 16 and 8 only, and takes 17 % more instructions for a nonce; ANV makes none, and takes
 * 66 % more on Xe-HPG.
 */
export const hasUniformRotates = (style: GpuStyle): boolean => style === 'uniform rotates' || style === 'added zeros';

/**
 * For chips that add three terms, IGC makes x = (a + b) + c and y = x + d to x = add3(a, b, c) and y = add3(a + b, c,
 * d): a + b takes an instruction that nothing else needs. With a zero that IGC does not know when it compiles, y = (x +
 * d) + 0 becomes add3(x, d, 0), and a nonce takes 898 instructions instead of 965 on Xe-HPG.
 *
 * @returns the terms with which a sum is written
 */
export const termsOf = (style: GpuStyle, terms: readonly string[]): readonly string[] =>
  style === 'added zeros' && terms.length === 2 ? [...terms, 'zero'] : terms;

/** @returns the fields of the control uniform that hold constants of the kernel, so that the compiler does not see them */
export function unseenOf(style: GpuStyle): string[] {
  if (hasUniformRotates(style)) return ROTATES.map((bits) => `rotate${bits}`);
  return style === 'multiplied adds' ? ['one'] : [];
}

/** @returns how WGSL and OpenCL C, which write expressions alike, compute values */
export const gpuDialect = (style: GpuStyle): Omit<Dialect, 'declare'> => ({
  constant: (number) => `${hex(number)}u`,
  add: (terms) =>
    style === 'multiplied adds'
      ? terms.reduce((sum, term, i) => `${i > 1 ? `(${sum})` : sum} * one + ${term}`)
      : termsOf(style, terms).join(' + '),
  xor: (operands) => operands.join(' ^ '),
  rotr: (x, bits) =>
    hasUniformRotates(style)
      ? `(${x} >> rotate${bits}) | (${x} << (32u - rotate${bits}))`
      : `(${x} >> ${bits}u) | (${x} << ${32 - bits}u)`,
});
