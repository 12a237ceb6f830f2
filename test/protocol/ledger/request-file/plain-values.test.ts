/** What a value without quotes means. */

import { describe, expect, it } from 'vitest';
import { JsonNumber } from '#pickaxe/protocol/ledger/json.js';
import { Place } from '#pickaxe/protocol/ledger/request-file/yaml.js';

const number = (text: string) => new JsonNumber(text);
const placeOf = (plain: string) => Place.read(`x: ${plain}\n`, 'f.yaml').fields('x').x;

describe('a value without quotes is', () => {
  it.each(['', '~', 'null', 'Null', 'NULL'])('nothing: %s', (plain) => {
    expect([placeOf(plain).json(), placeOf(plain).isAbsent]).toEqual([null, true]);
  });

  it.each([
    ...['y', 'Yes', 'true', 'TRUE', 'on', 'On'].map((plain) => [plain, true] as const),
    ...['n', 'No', 'false', 'FALSE', 'off', 'OFF'].map((plain) => [plain, false] as const),
  ])('a boolean: %s', (plain, value) => {
    expect([placeOf(plain).json(), placeOf(plain).boolean(), placeOf(plain).isAbsent]).toEqual([value, value, false]);
  });

  it.each([
    ['0', '0'],
    ['007', '7'],
    ['-0.50', '-0.50'],
    ['+1.', '1'],
    ['1e-8', '1e-8'],
    ['2.E+3', '2E+3'],
    ['0x1F', '31'],
    ['0o17', '15'],
    ['1'.repeat(63), '1'.repeat(63)],
    ['1'.repeat(65), '1'.repeat(65)],
    ['1'.repeat(1_000), '1'.repeat(1_000)],
    [`1e${'9'.repeat(9)}`, `1e${'9'.repeat(9)}`],
  ])('a number: %s', (plain, text) => {
    expect(placeOf(plain).json()).toEqual(number(text));
    expect(placeOf(plain).text()).toBe(plain);
  });

  it.each([
    // Keys of which all digits are decimal.
    ['1'.repeat(64)],
    [`${'1'.repeat(31)}e${'1'.repeat(32)}`],
    // Longer than any number of a ledger.
    ['1'.repeat(1_001)],
    // A number of 998 hexadecimal digits has more decimal ones.
    [`0x${'f'.repeat(998)}`],
    [`1e${'9'.repeat(10)}`],
    ...['0x', '0xg', '0o8', '1_000', '1e', '.5', '--1', '1 2', 'yEs', 'nuLL', 'abc'].map((plain) => [plain]),
  ])('a text: %s', (plain) => {
    expect([placeOf(plain).json(), placeOf(plain).text(), placeOf(plain).isAbsent]).toEqual([plain, plain, false]);
  });
});

it.each(['null', 'true', 'off', '12', '1e-8', '0x1F', '~', ''])('%j in quotes is a text', (text) => {
  expect([placeOf(`"${text}"`).json(), placeOf(`'${text}'`).isAbsent]).toEqual([text, false]);
});

describe('a whole number is read', () => {
  it.each([
    ['0', 0],
    ['"12"', 12],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('from %s', (plain, value) => {
    expect(placeOf(plain).integer()).toBe(value);
  });

  it.each(['9007199254740992', '00000000000000001', '-1', '1.0', '1e3', '0x1', 'true', '', '[1]'])(
    'not from %s',
    (plain) => {
      expect(() => placeOf(plain).integer()).toThrow('must be a whole number of at least 0');
    },
  );
});
