import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import * as kinds from '#pickaxe/config/kinds.js';
import { ENTRIES } from '#pickaxe/config/settings.js';

const { publicKey } = kinds;

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

/** Whether a setting takes a value, as files have it. */
const takes = (kind: kinds.Kind<unknown>, value: unknown) => kind.schema(z).safeParse(value).success;

const isNumberKind = (kind: kinds.Kind<unknown>): kind is kinds.NumberKind => 'least' in kind;

describe('a number', () => {
  const numbers = ENTRIES.flatMap(({ path, setting: { kind } }) => (isNumberKind(kind) ? [[path, kind] as const] : []));

  it.each(numbers)('of %s is from the least to the most that its error tells', (_, kind) => {
    const [, least, most] = /from (\d+)\b.* to (\d+)\b/.exec(kind.says)!.map(Number);
    expect([least, most].map((value) => takes(kind, value))).toEqual([true, true]);
    expect([least - 0.5, least - 1, most + 0.5, most + 1].filter((value) => takes(kind, value))).toEqual([]);
    expect(takes(kind, least + 0.5)).toBe(!kind.whole);
  });

  it('of seconds ends where a timer would end at once', () => {
    expect(['2000000', 2_000_000].map((value) => takes(kinds.duration, value))).toEqual([true, true]);
    expect(['2000001', 2_000_001].map((value) => takes(kinds.duration, value))).toEqual([false, false]);
  });
});

test('a list has 1 to 256 items, each of them once', () => {
  const names = Array.from({ length: 257 }, (_, index) => `gpu${index}`);
  const devices = kinds.list(kinds.deviceName);
  expect([0, 1, 256, 257].map((length) => takes(devices, names.slice(0, length)))).toEqual([false, true, true, false]);
  expect(devices.schema(z).parse(['gpu1', 'cpu', 'gpu1'])).toEqual(['gpu1', 'cpu']);
});

test('an account has 1 to 256 characters', () => {
  const lengths = [0, 1, 256, 257];
  expect(lengths.map((length) => takes(kinds.account, 'a'.repeat(length)))).toEqual([false, true, true, false]);
});

test.each([
  ['a user', 'http://me@host:1'],
  ['a password alone', 'http://:hunter2@host:1'],
  ['a query', 'http://host:1?key=hunter2'],
  ['a fragment', 'http://host:1/#top'],
  ['a space', 'http://host:1/a b'],
  ['no host', 'http://'],
])('a node URL is none with %s', (_, url) => {
  expect(takes(kinds.nodeUrl, 'http://host:1/chainweb/0.0/mainnet01')).toBe(true);
  expect(takes(kinds.nodeUrl, url)).toBe(false);
});
