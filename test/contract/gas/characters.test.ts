/** Numbers of characters and of bits. */

import { expect, it } from 'vitest';
import { bitCount, characterCount } from '#pickaxe/contract/gas/sizes.js';

it.each([
  ['', 0],
  ['a', 1],
  ['\u{10000}', 1],
  ['\u{103ff}', 1],
  ['\u{10fc00}', 1],
  ['\u{10ffff}', 1],
  ['a\u{10000}b', 3],
  ['\u{10000}\u{10000}', 2],
  // Halves of surrogate pairs count alone.
  ['\ud800', 1],
  ['\ud800\ue000', 2],
  ['\ud800\udbff', 2],
  ['\ud7ff\udc00', 2],
  ['\udc00\udc00', 2],
  ['\ue000\udc00', 2],
])('%j has %i characters', (text, count) => {
  expect(characterCount(text)).toBe(count);
});

it.each([0n, 1n, 2n, 3n, 7n, 8n, 15n, 16n, 255n, 256n, 2n ** 64n - 1n, 2n ** 64n])('%i has its bits', (integer) => {
  const bits = integer === 0n ? 0 : integer.toString(2).length;
  expect([bitCount(integer), bitCount(-integer)]).toEqual([bits, bits]);
});
