import { expect, test } from 'vitest';
import { fromHex } from '#pickaxe/protocol/chain/bytes.js';
import { integerToTarget } from '#pickaxe/protocol/chain/target.js';
import {
  formatNonce1,
  formatNonce2,
  formatTarget,
  parseHeader,
  parseNonce2,
  parseTarget,
} from '#pickaxe/protocol/wire/stratum.js';

test('a target is written with the most significant digit first', () => {
  const target = integerToTarget(2n ** 214n - 1n);
  const hex = `${'0'.repeat(10)}3${'f'.repeat(53)}`;
  expect(formatTarget(target)).toBe(hex);
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

// Nonces are numbers here: nonce1 "0102" is stored as the bytes 02 01.
test.each([
  [{ value: 0x0102, bytes: 2 }, '0102', '0000deadbeef', 0x0000_dead_beef_0102n],
  [{ value: 0x09e8, bytes: 2 }, '09e8', 'ffffffffffff', 0xffff_ffff_ffff_09e8n],
  [{ value: 0x0a, bytes: 1 }, '0a', '00000000000001', 0x010an],
  [{ value: 0, bytes: 0 }, '', '0123456789abcdef', 0x0123_4567_89ab_cdefn],
] as const)('a nonce is nonce2 above nonce1 %j', (nonce1, hex1, hex2, nonce) => {
  expect(formatNonce1(nonce1)).toBe(hex1);
  expect(formatNonce2(nonce, nonce1)).toBe(hex2);
  expect(parseNonce2(hex2, nonce1)).toBe(nonce);
});

test('a nonce2 may lack leading zeros, and nothing else', () => {
  const nonce1 = { value: 0x0102, bytes: 2 } as const;
  expect(parseNonce2('1', nonce1)).toBe(0x1_0102n);
  expect(parseNonce2('0x1', nonce1)).toBe(0x1_0102n);
  for (const hex of ['', '0x', 'x', '0'.repeat(13), '1 ', '-1']) expect(parseNonce2(hex, nonce1)).toBeUndefined();
});
