import { expect, test } from 'vitest';
import { fromHex } from '#pickaxe/protocol/chain/bytes.js';
import { integerToTarget } from '#pickaxe/protocol/chain/target.js';
import { formatNonce2, parseHeader, parseTarget } from '#pickaxe/protocol/wire/stratum.js';

test('a target is written with the most significant digit first', () => {
  const target = integerToTarget(2n ** 214n - 1n);
  const hex = `${'0'.repeat(10)}3${'f'.repeat(53)}`;
  expect(parseTarget(hex)).toEqual(target);
  expect(parseTarget(hex.toUpperCase().replace(/^0+/, ''))).toEqual(target);
  expect(parseTarget(`0x${hex}`)).toEqual(target);
});

test.each(['', '0x', 'g'.repeat(64), '0'.repeat(65), '-1', ' 1'])('“%s” is no target', (hex) => {
  expect(parseTarget(hex)).toBeUndefined();
});

test('a header has 572 hex digits', () => {
  expect(parseHeader('ab'.repeat(286))).toEqual(fromHex('ab'.repeat(286)));
  for (const hex of ['', 'ab'.repeat(285), `${'ab'.repeat(285)}zz`]) expect(parseHeader(hex)).toBeUndefined();
});

test.each([
  [0, '0102030405060708'],
  [2, '010203040506'],
  [4, '01020304'],
] as const)('nonce2 is the nonce without the %i bytes of nonce1, the most significant first', (bytes, nonce2) => {
  expect(formatNonce2(0x0102030405060708n, { value: 0, bytes })).toBe(nonce2);
});
