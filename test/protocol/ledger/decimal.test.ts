import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalOf, divideDecimal, formatDecimal, ONE, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { LedgerFormatError, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { refusalOf } from './damage.ts';

describe('decimals', () => {
  it.each([
    ['91', '91.0'],
    ['91.0', '91.0'],
    ['-0.50', '-0.5'],
    ['0', '0.0'],
    ['-0', '0.0'],
    ['5.42e-10', '0.000000000542'],
    ['1.0e-12', '0.000000000001'],
    ['1E+3', '1000.0'],
    ['1.0875895', '1.0875895'],
    ['12345678901234567890.123456789012', '12345678901234567890.123456789012'],
    ['0.1000000000000000000', '0.1'],
    ['0e-999', '0.0'],
    ['9'.repeat(400), `${'9'.repeat(400)}.0`],
  ])('%s is %s', (text, formatted) => {
    expect(formatDecimal(parseDecimal(text))).toBe(formatted);
  });

  it.each(['', '.5', '5.', '+1', '1,5', '1e', '0x10', ' 1', '1 ', 'NaN', '1e1000', '--1', '9'.repeat(401)])(
    'refuses %j',
    (text) => {
      expect(() => parseDecimal(text)).toThrow(/is not a decimal such as/);
    },
  );

  it.each(['1e-13', '0.1234567890123', '1e-999'])('refuses the thirteenth place of %s rather than round it', (text) => {
    expect(() => parseDecimal(text)).toThrow(`"${text}" has more than 12 decimal places`);
  });

  it('gives back every decimal that it formats', () => {
    fc.assert(
      fc.property(fc.bigInt(), (decimal) => {
        const text = formatDecimal(decimal);
        expect(text).toMatch(/^-?\d+\.(\d*[1-9]|0)$/);
        expect(parseDecimal(text)).toBe(decimal);
      }),
    );
  });

  it('has no answer to junk but a LedgerFormatError', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'0123456789.-+eE '.split(''))), (characters) => {
        const text = characters.join('');
        if (refusalOf(() => parseDecimal(text))) return;
        expect(Number(formatDecimal(parseDecimal(text)))).toBeCloseTo(Number(text), 8);
      }),
    );
  });

  it.each([
    ['0.5', ONE / 2n],
    ['{"decimal":"0.12345678901"}', 123_456_789_010n],
    ['{"int":91}', 91n * ONE],
    ['{"int":"90071992547409930"}', 90_071_992_547_409_930n * ONE],
  ])('reads the JSON %s', (json, decimal) => {
    expect(decimalOf(parseExactJson(json))).toBe(decimal);
  });

  it.each(['"0.5"', 'null', '[1]', '{}', '{"decimal":0.5}', '{"int":1.5}', '{"int":"1.5"}', '{"int":1,"decimal":"1"}'])(
    'refuses the JSON %s',
    (json) => {
      expect(() => decimalOf(parseExactJson(json))).toThrow(LedgerFormatError);
    },
  );

  it('divides with banker’s rounding', () => {
    const cases = [-5n, -4n, -3n, -2n, -1n, 0n, 1n, 2n, 3n, 4n, 5n].map((it) => [it, divideDecimal(it, 2n)]);
    expect(cases).toEqual([
      [-5n, -2n],
      [-4n, -2n],
      [-3n, -2n],
      [-2n, -1n],
      [-1n, 0n],
      [0n, 0n],
      [1n, 0n],
      [2n, 1n],
      [3n, 2n],
      [4n, 2n],
      [5n, 2n],
    ]);
    expect(divideDecimal(8n, 3n)).toBe(3n);
    expect(divideDecimal(-8n, 3n)).toBe(-3n);
    expect(divideDecimal(7n, 3n)).toBe(2n);
  });

  it('is never further than half a unit from the quotient', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n, max: 10n ** 20n }), (decimal, divisor) => {
        const twiceOff = 2n * (divideDecimal(decimal, divisor) * divisor - decimal);
        expect(twiceOff <= divisor && twiceOff >= -divisor).toBe(true);
      }),
    );
  });

  it('refuses to divide by nothing', () => {
    for (const divisor of [0n, -1n]) {
      expect(() => divideDecimal(ONE, divisor)).toThrow('a decimal is divided by a positive integer');
    }
  });
});
