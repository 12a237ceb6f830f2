import { describe, expect, it } from 'vitest';
import { CborWriter } from '#pickaxe/contract/translation/cbor.js';

function written(write: (writer: CborWriter) => void): string {
  const writer = new CborWriter();
  write(writer);
  return Buffer.from(writer.bytes()).toString('hex');
}

/** Examples of RFC 8949, appendix A, and the numbers on both sides of each length. */
describe('CBOR of', () => {
  it.each<[bigint, string]>([
    [0n, '00'],
    [23n, '17'],
    [24n, '1818'],
    [255n, '18ff'],
    [256n, '190100'],
    [65_535n, '19ffff'],
    [65_536n, '1a00010000'],
    [4_294_967_295n, '1affffffff'],
    [4_294_967_296n, '1b0000000100000000'],
    [18_446_744_073_709_551_615n, '1bffffffffffffffff'],
    [18_446_744_073_709_551_616n, 'c249010000000000000000'],
    [-1n, '20'],
    [-24n, '37'],
    [-25n, '3818'],
    [-1000n, '3903e7'],
    [-18_446_744_073_709_551_616n, '3bffffffffffffffff'],
    [-18_446_744_073_709_551_617n, 'c349010000000000000000'],
    [2n ** 67n, 'c249080000000000000000'],
  ])('the integer %d', (integer, hex) => {
    expect(written((writer) => writer.integer(integer))).toBe(hex);
  });

  it.each<[string, (writer: CborWriter) => void, string]>([
    ['texts', (writer) => ['', 'a', 'ü', '𐅑'].map((text) => writer.text(text)), '60616162c3bc64f0908591'],
    ['bytes', (writer) => writer.binary(new Uint8Array([1, 2, 3, 4])), '4401020304'],
    ['true, false and null', (writer) => [writer.boolean(true), writer.boolean(false), writer.null()], 'f5f4f6'],
    ['an empty list', (writer) => writer.list([], (item) => writer.integer(item)), '80'],
    ['a list', (writer) => writer.list([1, 2], (item) => writer.integer(item)), '9f0102ff'],
    ['an empty set', (writer) => writer.sized([], (item) => writer.integer(item)), '80'],
    ['a set', (writer) => writer.sized([1, 2, 3], (item) => writer.integer(item)), '83010203'],
    [
      'a map',
      (writer) => {
        const entries = [
          ['a', 'A'],
          ['b', 'B'],
        ] as const;
        writer.map(entries, (value) => writer.text(value));
      },
      'a26161614161626142',
    ],
    ['a missing value', (writer) => writer.optional(undefined, (value: string) => writer.text(value)), '80'],
    ['a value that is there', (writer) => writer.optional('a', (value) => writer.text(value)), '816161'],
  ])('%s', (_, write, hex) => {
    expect(written(write)).toBe(hex);
  });

  it('a text that is longer than what the writer has room for at first', () => {
    const text = 'x'.repeat(70_000);
    expect(written((writer) => [writer.text(text), writer.null()])).toBe(`7a00011170${'78'.repeat(70_000)}f6`);
  });
});
