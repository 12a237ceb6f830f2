import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  integerOf,
  JsonNumber,
  LedgerFormatError,
  parseExactJson,
  parseExactJsonBytes,
  quoted,
  safeInteger,
  stringifyExactJson,
} from '#pickaxe/protocol/ledger/json.js';
import { refusalOf } from './damage.ts';

describe('exact JSON', () => {
  it('keeps the text of numbers that JSON.parse would round', () => {
    const text = '{"featureFlags":15652723681697760986,"amount":0.12345678901234567890,"price":1.0e-8,"zero":-0}';
    expect(parseExactJson(text)).toEqual({
      featureFlags: new JsonNumber('15652723681697760986'),
      amount: new JsonNumber('0.12345678901234567890'),
      price: new JsonNumber('1.0e-8'),
      zero: new JsonNumber('-0'),
    });
    expect(stringifyExactJson(parseExactJson(text))).toBe(text);
  });

  it('means what JSON.parse means', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(stringifyExactJson(parseExactJson(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('makes a key such as __proto__ an ordinary key', () => {
    const value = parseExactJson('{"__proto__":{"polluted":true},"constructor":"text"}');
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['a missing quote', '{"a":"b}'],
    ['a comma at the end', '[1,]'],
    ['a number with a zero before it', '[01]'],
    ['a number without an integer part', '[.5]'],
    ['NaN', '[NaN]'],
    ['a comment', '[1] // one'],
    ['single quotes', "{'a':1}"],
    ['a raw line break in a string', '"a\nb"'],
    ['two values', '1 2'],
    ['two values of one key', '{"a":1,"a":1}'],
    ['two values of one key that is written in two ways', '{"a":1,"\\u0061":2}'],
    ['two values of the key __proto__', '{"__proto__":1,"__proto__":2}'],
    ['a key without quotes', '{a:1}'],
    ['a key without a value', '{"a"}'],
    ['a backslash before the end of the text', '"\\'],
    ['an escape that there is not', '"\\x41"'],
    ['half of a word', '[tru]'],
    ['a number with a plus', '+1'],
    ['a number that ends with its point', '[1.]'],
    ['a space that JSON does not know', '\u00a01'],
    ['a number of 1001 digits', `1${'0'.repeat(1000)}`],
    ['arrays nested 201 deep', '['.repeat(201) + ']'.repeat(201)],
    ['objects nested a million deep', '{"a":'.repeat(1e6)],
  ])('refuses %s', (_, text) => {
    expect(() => parseExactJson(text)).toThrow(LedgerFormatError);
  });

  it('reads what is nested 200 deep, and brackets in strings do not count', () => {
    expect(parseExactJson('['.repeat(200) + ']'.repeat(200))).toBeDefined();
    const brackets = `\\"${'[{'.repeat(300)}\\\\`;
    expect(parseExactJson(`"${brackets}"`)).toBe(`"${'[{'.repeat(300)}\\`);
  });

  it('reads strings that end with backslashes, or have quotes, of any length', () => {
    const long = 'a'.repeat(100_000);
    for (const text of ['', '\\', '"', '\\"', '\\\\"\\', `"${long}\\`, `${long}"${long}`, '\u007f\u2028\ud800']) {
      expect(parseExactJson(` [ ${JSON.stringify(text)} , {${JSON.stringify(text)} : 1 } ] `)).toEqual([
        text,
        { [text]: new JsonNumber('1') },
      ]);
    }
  });

  it('has 2^25 characters at most', () => {
    expect(() => parseExactJson(' '.repeat(2 ** 25 + 1))).toThrow('The JSON has 33554433 characters');
  });

  it('is quoted to its sixtieth character', () => {
    expect([60, 61].map((length) => quoted('x'.repeat(length)))).toEqual([
      `"${'x'.repeat(60)}"`,
      `"${'x'.repeat(60)}…"`,
    ]);
  });

  it('says where the fault is', () => {
    expect(() => parseExactJson('{"a":tru}')).toThrow(/^This is not JSON: .* position 5$/);
  });

  it('refuses bytes that are not UTF-8, and a byte order mark', () => {
    expect(parseExactJsonBytes(new TextEncoder().encode('"ä€😀"'))).toBe('ä€😀');
    expect(() => parseExactJsonBytes(Uint8Array.of(0x22, 0xff, 0x22))).toThrow('its bytes are not UTF-8');
    expect(() => parseExactJsonBytes(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))).toThrow(LedgerFormatError);
  });

  it('has no answer to junk but a LedgerFormatError', () => {
    const junk = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...'{}[]",:\\01eE.-ntu'.split(''))).map((it) => it.join('')),
    );
    fc.assert(
      fc.property(junk, (text) => {
        if (refusalOf(() => parseExactJson(text))) expect(() => parseWithoutDuplicates(text)).toThrow();
        else expect(JSON.parse(stringifyExactJson(parseExactJson(text)))).toEqual(JSON.parse(text));
      }),
    );
  });
});

/** @throws for text that is not JSON, and for JSON with duplicate keys */
function parseWithoutDuplicates(text: string): void {
  const again = JSON.stringify(JSON.parse(text));
  if (again.split(':').length < text.split(':').length) throw new Error('a key came twice');
}

describe('integers in JSON', () => {
  it.each([
    ['0', 0n],
    ['-7', -7n],
    ['18446744073709551615', 2n ** 64n - 1n],
  ])('%s is exact', (text, value) => {
    expect(integerOf(new JsonNumber(text))).toBe(value);
  });

  it.each(['1.0', '1e3', '0.5'])('%s is not written as an integer', (text) => {
    expect(() => integerOf(new JsonNumber(text))).toThrow(`"${text}" is not an integer in digits`);
  });

  it('a safe integer lies within ±(2^53 − 1)', () => {
    expect(safeInteger(new JsonNumber('9007199254740991'))).toBe(Number.MAX_SAFE_INTEGER);
    expect(safeInteger(new JsonNumber('-9007199254740991'))).toBe(Number.MIN_SAFE_INTEGER);
    for (const text of ['9007199254740992', '9007199254740993', '-9007199254740992', '9'.repeat(999)]) {
      expect(() => safeInteger(new JsonNumber(text))).toThrow(LedgerFormatError);
    }
  });

  it.each(['', '+1', '01', '1.', '.5', '1e', ' 1', '0x1', 'Infinity', '1_000'])('%j is no JSON number', (text) => {
    expect(() => new JsonNumber(text)).toThrow(LedgerFormatError);
  });
});
