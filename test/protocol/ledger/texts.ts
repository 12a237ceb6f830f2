/** Texts of any Unicode characters, for property tests. */

import fc from 'fast-check';

/**
 * Mostly ASCII, with control characters, and sometimes any character of Unicode except for half of a surrogate pair.
 */
const character = fc.oneof(
  { weight: 3, arbitrary: fc.nat(0x7f) },
  { weight: 1, arbitrary: fc.nat(0xd7ff) },
  { weight: 1, arbitrary: fc.integer({ min: 0xe000, max: 0x10ffff }) },
);

export const texts: fc.Arbitrary<string> = fc
  .array(character, { maxLength: 12 })
  .map((codes) => String.fromCodePoint(...codes));
