import { expect, test } from 'vitest';
import { z } from 'zod';
import { publicKey } from '#pickaxe/config/kinds.js';

const KEY = '0123456789abcdef'.repeat(4);

test('a public key is 64 hex digits, kept in lower case', () => {
  const schema = publicKey.schema(z);
  expect(schema.parse(KEY.toUpperCase())).toBe(KEY);
});

test.each([
  ['63 digits', KEY.slice(1)],
  ['65 digits', `${KEY}0`],
  ['two keys', KEY + KEY],
  ['a prefix', `0x${KEY}`],
  ['an account', `k:${KEY}`],
  ['a line end', `${KEY}\n`],
  ['a space before it', ` ${KEY}`],
  ['another letter', `${KEY.slice(1)}g`],
  ['nothing', ''],
])('%s is no public key', (_, text) => {
  expect(publicKey.schema(z).safeParse(text).success).toBe(false);
});
