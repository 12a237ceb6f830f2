/**
 * Random texts of any characters. fast-check's own (`unit: 'binary'`) first make a table of all characters, which takes
 * a second in each process.
 */

import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST_CODE_POINT = 0x10ffff;

/** Any code point but those of surrogates, which are no characters. */
const character = fc
  .integer({ min: 0, max: LAST_CODE_POINT - SURROGATES.count })
  .map((index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count));

export function anyText(lengths: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...lengths });
}
