import { expect, test } from 'vitest';
import { fromHex } from '#pickaxe/protocol/chain/bytes.js';
import { integerToTarget } from '#pickaxe/protocol/chain/target.js';
import { parseHeader, parseTarget } from '#pickaxe/protocol/wire/stratum.js';

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
