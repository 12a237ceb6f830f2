import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { type SettingType, whyOf } from '#pickaxe/app/config/setting-types/basic.js';
import { account, poolUser, publicKey, rigName } from '#pickaxe/app/config/setting-types/rig.js';

const KEY = '0123456789abcdef'.repeat(4);

/** @returns the value of a text, or the reason why it is not valid */
function read(type: SettingType<string>, text: string) {
  const { data, error } = type.schema(z).safeParse(text);
  return error ? { why: whyOf(error.issues) } : data;
}

describe('a public key', () => {
  it('is 64 hex digits, stored in lower case', () => {
    expect(read(publicKey, KEY.toUpperCase())).toBe(KEY);
  });

  it.each([
    ['k: before it', `k:${KEY}`],
    ['the name of a rig after it', `${KEY}.rig1`],
    ['both, as mining systems write it', `k:${KEY.toUpperCase()}.rig 1.example`],
  ])('may have %s', (_, text) => {
    expect(read(publicKey, text)).toBe(KEY);
  });

  it.each([
    ['63 digits', KEY.slice(1), 'it has 63 hex digits'],
    ['65 digits', `${KEY}0`, 'it has 65 hex digits'],
    ['two keys', KEY + KEY, 'it has 128 hex digits'],
    ['a prefix', `0x${KEY}`, 'its character 2, "x", is not a hex digit'],
    ['two prefixes', `k:k:${KEY}`, 'its character 3, "k", is not a hex digit'],
    [
      'other text after k: and the digits',
      `k:${KEY}-rig1`,
      'after its 64 hex digits, only a dot and a rig’s name may follow',
    ],
    ['a line end', `${KEY}\n`, 'after its 64 hex digits, only a dot and a rig’s name may follow'],
    ['a space before it', ` ${KEY}`, 'its character 1, " ", is not a hex digit'],
    ['another letter', `${KEY.slice(1)}g`, 'its character 64, "g", is not a hex digit'],
    ['another letter after k:', `k:${KEY.slice(1)}g`, 'its character 66, "g", is not a hex digit'],
    ['only a dot after it', `${KEY}.`, 'the rig’s name after the dot must have 1 to 64 characters that one can see'],
    [
      'a line end in the name of a rig',
      `${KEY}.a\nb`,
      'the rig’s name after the dot must have 1 to 64 characters that one can see',
    ],
    ['nothing', '', 'it has 0 hex digits'],
    [
      'bytes that are no public key',
      'ab'.repeat(32),
      'no account has this key, because it is no point of the curve: is it perhaps the secret key?',
    ],
  ])('with %s is refused, and the error says why', (_, text, why) => {
    expect(read(publicKey, text)).toEqual({ why });
  });

  it.each([
    ['64 digits', KEY, true],
    ['64 digits and what may stand around them', `k:${KEY}.rig1`, true],
    ['63 digits', KEY.slice(1), false],
    ['65 digits', `${KEY}0`, false],
    ['a prefix', `0x${KEY}`, false],
  ])('whether %s (%s) fit the pattern that editors check with: %s', (_, text, fits) => {
    const { pattern } = z.toJSONSchema(publicKey.schema(z), { io: 'input' }) as { pattern: string };
    expect(new RegExp(pattern).test(text)).toBe(fits);
  });
});

/** Whether a setting accepts a value from a file. */
const takes = (type: SettingType<unknown>, value: unknown) => type.schema(z).safeParse(value).success;

describe('an account', () => {
  it('has 1 to 256 characters', () => {
    const lengths = [0, 1, 256, 257];
    expect(lengths.map((length) => takes(account, 'a'.repeat(length)))).toEqual([false, true, true, false]);
  });

  it('may have the name of a rig after a key, and otherwise dots of its own', () => {
    expect(read(account, `k:${KEY}.rig1`)).toBe(`k:${KEY}`);
    expect(read(account, 'alice.example')).toBe('alice.example');
    expect(takes(account, `k:${KEY}.`)).toBe(false);
  });
});

test('a rig’s name has 1 to 64 characters, without control characters, and at least one that is visible', () => {
  expect([0, 1, 64, 65].map((length) => takes(rigName, 'a'.repeat(length)))).toEqual([false, true, true, false]);
  expect(['Rig 01 #2', ' ', 'a\nb'].map((name) => takes(rigName, name))).toEqual([true, false, false]);
});

test.each([
  ['a control character', '\u0007'],
  ['a change of direction', '\u202e'],
  ['an isolated direction', '\u2066'],
  ['a mark of a direction', '\u200f'],
  ['a mark of Arabic letters', '\u061c'],
  ['a space without a width', '\u200b'],
  ['a byte order mark', '\ufeff'],
  ['a line separator', '\u2028'],
])('names with %s, which nobody sees, are refused', (_, unseen) => {
  for (const type of [account, poolUser, rigName]) {
    expect([takes(type, `farm${unseen}`), takes(type, 'фарма ファーム')]).toEqual([false, true]);
  }
  expect(takes(publicKey, `${KEY}.rig${unseen}`)).toBe(false);
});
