import { expect, it } from 'vitest';
import { parseInteger } from '#pickaxe/contract/values/integers.js';

it.each(['', ' ', ' 1', '1 ', '+1', '0x10', '1.5', '1e3', 'a', '--1', '-'])('"%s" is no integer', (text) => {
  expect(parseInteger(text)).toBeUndefined();
});

it.each([
  ['0', 0n],
  ['-0', 0n],
  ['007', 7n],
  ['-12', -12n],
])('"%s" is an integer', (text, value) => {
  expect(parseInteger(text)).toBe(value);
});
