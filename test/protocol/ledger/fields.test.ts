import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  byChain,
  bytes,
  checked,
  hash,
  MAX_TIME_US,
  MAX_U64,
  natural,
  opaqueId,
  reading,
  u32,
  u64Text,
  weight,
} from '#pickaxe/protocol/ledger/fields.js';
import { LedgerFormatError, parseExactJson } from '#pickaxe/protocol/ledger/json.js';

it.each([
  [new LedgerFormatError('is odd'), LedgerFormatError, 'number.0: is odd'],
  [new TypeError('our own fault'), TypeError, 'our own fault'],
])('a reader of a field that throws %s', (thrown, type, message) => {
  const odd = reading(z.string(), () => {
    throw thrown;
  });
  const read = () => checked(z.array(odd), ['1'], 'number');
  expect(read).toThrow(type);
  expect(read).toThrow(message);
});

describe('a field', () => {
  const HASH = 'A'.repeat(43);
  const BYTES = new Uint8Array(32);

  it.each<[what: string, schema: z.ZodType, json: string, value: unknown]>([
    ['of 32 bits, the least', u32, '0', 0],
    ['of 32 bits, the greatest', u32, '4294967295', 2 ** 32 - 1],
    ['of 64 bits, the greatest', natural(MAX_U64), '18446744073709551615', 2n ** 64n - 1n],
    ['of a time, the greatest', natural(MAX_TIME_US), '9223372036854775807', 2n ** 63n - 1n],
    ['of 64 bits as a text', u64Text, '"18446744073709551615"', 2n ** 64n - 1n],
    ['of 64 bits as a text, the least', u64Text, '"0"', 0n],
    ['of bytes', bytes, '"AQ"', Uint8Array.of(1)],
    ['of a hash', hash, `"${HASH}"`, BYTES],
    ['of a weight', weight, `"AQ${'A'.repeat(41)}"`, 1n],
    ['of an id', opaqueId, `"${HASH}"`, HASH],
    [
      'by chain, in the order of the numbers',
      byChain(u32),
      '{"10":1,"9":2,"4294967295":3}',
      [
        [9, 2],
        [10, 1],
        [2 ** 32 - 1, 3],
      ],
    ],
  ])('%s is read', (_, schema, json, value) => {
    expect(checked(schema, parseExactJson(json), 'field')).toEqual(value);
  });

  it.each<[what: string, schema: z.ZodType, json: string, message: string]>([
    ['of 32 bits', u32, '4294967296', 'field: must be from 0 to 4294967295, not 4294967296'],
    ['of 32 bits, below', u32, '-1', 'field: must be from 0 to 4294967295, not -1'],
    ['of 32 bits, as a text', u32, '"1"', 'field: must be an integer'],
    ['of 32 bits, with a point', u32, '1.0', 'field: "1.0" is not an integer in digits'],
    [
      'of 64 bits',
      natural(MAX_U64),
      '18446744073709551616',
      `field: must be from 0 to ${MAX_U64}, not ${MAX_U64 + 1n}`,
    ],
    [
      'of 64 bits as a text',
      u64Text,
      '"18446744073709551616"',
      `field: must be from 0 to ${MAX_U64}, not ${MAX_U64 + 1n}`,
    ],
    [
      'of 64 bits as a long text',
      u64Text,
      '"100000000000000000000"',
      'field: "100000000000000000000" is not a whole number in digits',
    ],
    ['of 64 bits as a text with zeros', u64Text, '"01"', 'field: "01" is not a whole number in digits'],
    ['of an id', opaqueId, `"${HASH}A"`, 'field: must be 43 characters of base64url'],
    [
      'by chain, whose number is too great',
      byChain(u32),
      '{"4294967296":1}',
      'field: must be from 0 to 4294967295, not 4294967296',
    ],
  ])('%s is refused', (_, schema, json, message) => {
    expect(() => checked(schema, parseExactJson(json), 'field')).toThrow(new LedgerFormatError(message));
  });

  it('that is missing, or was rounded, is refused with the cause', () => {
    const of = (json: unknown) => () => checked(z.object({ n: u32 }), json as never, 'header');
    expect(of({})).toThrow(new LedgerFormatError('header.n: is missing'));
    expect(of({ n: 1 })).toThrow(
      new LedgerFormatError('header.n: must be read with its exact text, by parseExactJson'),
    );
  });

  it('by chain has 65,535 chains at most', () => {
    const chains = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, chain) => [chain, 'x']));
    expect(checked(byChain(z.string()), chains(65_535), 'field')).toHaveLength(65_535);
    expect(() => checked(byChain(z.string()), chains(65_536), 'field')).toThrow(
      new LedgerFormatError('field: has 65536 chains'),
    );
  });
});
