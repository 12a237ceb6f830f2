import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64url, encodeBase64url, LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';
import { refusalOf } from './damage.ts';

/** The hash of mainnet01's block 1,000,000 on chain 0. */
const HASH = 'k0an0qEORusqQg9ZjKrxa-0Bo0-hQVYLXqWi5LHxg3k';

describe('base64url', () => {
  it('reads and writes a block hash', () => {
    const bytes = decodeBase64url(HASH, 32);
    expect([...bytes.subarray(0, 4)]).toEqual([0x93, 0x46, 0xa7, 0xd2]);
    expect(encodeBase64url(bytes)).toBe(HASH);
  });

  it('gives back any bytes, also those in the middle of a buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(5), (bytes, from) => {
        const part = bytes.subarray(from);
        expect(decodeBase64url(encodeBase64url(part), part.length)).toEqual(Uint8Array.from(part));
      }),
    );
  });

  it.each([
    ['padding', 'AA=='],
    ['the alphabet of base64', 'ab+/'],
    ['a space', 'AA AA'],
    ['a line break at the end', 'AAAA\n'],
    ['bits that no byte has', 'AB'],
    ['one character', 'A'],
    ['five characters', 'AAAAA'],
    ['a letter of another alphabet', 'AAAÄ'],
  ])('refuses %s', (_, text) => {
    expect(() => decodeBase64url(text)).toThrow(LedgerFormatError);
  });

  it('says how many bytes there are, and how many there must be', () => {
    expect(() => decodeBase64url('AAAA', 32)).toThrow('"AAAA" stands for 3 bytes, but must stand for 32');
  });

  it('never reads two texts as the same bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 12 }), (text) => {
        if (refusalOf(() => decodeBase64url(text))) return;
        expect(encodeBase64url(decodeBase64url(text))).toBe(text);
      }),
    );
  });
});
