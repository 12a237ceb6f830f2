import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { ContractError } from '#pickaxe/contract/errors.js';
import * as arithmetic from '#pickaxe/contract/values/arithmetic.js';
import { Decimal, MAX_PLACES } from '#pickaxe/contract/values/decimal.js';
import { floorDivide, floorModulo, integerPower, MAX_BITS, shiftInteger } from '#pickaxe/contract/values/integers.js';
import { decimals, smallIntegers } from '../arbitraries.ts';

const decimal = (text: string) => {
  const parsed = Decimal.parse(text);
  if (!parsed) throw new Error(`no decimal: ${text}`);
  return parsed;
};
const digits = (a: { toString(): string }) => a.toString();

describe('decimals', () => {
  it.each(['1.50', '-0.00', '3', '-12.5', '0.001', `0.${'3'.repeat(255)}`])('keep the places of %s', (text) => {
    expect(digits(decimal(text))).toBe(text.replace('-0.00', '0.00'));
  });

  it.each(['', '.5', '1.', '+1', '1e3', ' 1', '1 ', '0x1', '--1', '1.2.3', '１'])('are not written as %j', (text) => {
    expect(Decimal.parse(text)).toBeUndefined();
  });

  it.each(['', 'ten', '1.', '.5', '1e', '1e1.5', '+1', ' 1', '0x1'])('are not read from %j of JSON', (text) => {
    expect(Decimal.parseScientific(text)).toBeUndefined();
  });

  it.each([
    ['1', '1'],
    ['1.0', '1'],
    ['110.00', '110'],
    ['1.0e-8', '0.00000001'],
    ['2.5E+3', '2500'],
    ['-1e-255', `-0.${'0'.repeat(254)}1`],
    ['5e-256', '0'],
    ['15e-256', `0.${'0'.repeat(254)}2`],
    ['1e-999999999999', '0'],
    ['0e999999999999', '0'],
  ])('read %s of JSON as %s', (json, text) => {
    expect(digits(Decimal.parseScientific(json)!)).toBe(text);
  });

  it('have at most 255 places', () => {
    expect(decimal(`0.${'1'.repeat(255)}`).places).toBe(255);
    expect(() => decimal(`0.${'1'.repeat(256)}`)).toThrow('decimal precision overflow (255 max)');
  });

  it.each([
    ['+', '1.50', '0.50', '2.00'],
    ['+', '1.5', '0.25', '1.75'],
    ['+', '0.00', '1.5', '1.50'],
    ['-', '1.00', '1.0', '0.00'],
    ['*', '1.50', '2.00', '3'],
    ['*', '-0.5', '0.5', '-0.25'],
    ['*', '100.0', '10.0', '1000'],
    ['/', '10.0', '4.0', '2.5'],
    ['/', '-1.0', '8.00', '-0.125'],
    ['/', '1.0', '-8.0', '-0.125'],
    ['/', '0.0', '-8.0', '0'],
  ])('%s of %s and %s is %s', (operation, a, b, result) => {
    const operations = { '+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide' } as const;
    const method = operations[operation as keyof typeof operations];
    expect(digits(decimal(a)[method](decimal(b)))).toBe(result);
  });

  it('round a product and a quotient half-even at 255 places', () => {
    const tiny = (mantissa: bigint) => new Decimal(mantissa, 255);
    const half = decimal('0.5');
    expect(tiny(5n).multiply(half).mantissa).toBe(2n);
    expect(tiny(7n).multiply(half).mantissa).toBe(4n);
    expect(tiny(-5n).divide(decimal('2')).mantissa).toBe(-2n);
    expect(tiny(-7n).divide(decimal('2')).mantissa).toBe(-4n);
  });

  it.each([
    ['2.5', 0n, '2', '2', '3'],
    ['3.5', 0n, '4', '3', '4'],
    ['-2.5', 0n, '-2', '-3', '-2'],
    ['1.005', 2n, '1.00', '1.00', '1.01'],
    ['-1.015', 2n, '-1.02', '-1.02', '-1.01'],
    ['1.0', 3n, '1.000', '1.000', '1.000'],
  ])('%s rounded to %s places is %s, down %s, and up %s', (text, places, nearest, down, up) => {
    const rounded = (['half-even', 'floor', 'ceiling'] as const).map((way) => decimal(text).roundTo(places, way, 4));
    expect(rounded.map(digits)).toEqual([nearest, down, up]);
  });

  it('are rounded to negative places only by dialect 5, which takes them as none', () => {
    expect(() => decimal('1.25').roundTo(-1n, 'floor', 4)).toThrow('Negative precision not allowed');
    expect(digits(decimal('1.25').roundTo(-1n, 'floor', 5))).toBe('1');
    for (const places of [256n, 2n ** 64n]) {
      expect(() => decimal('1.25').roundTo(places, 'floor', 4)).toThrow('decimal precision overflow (255 max)');
    }
  });

  it('times and divided by another come back to within the last place', () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        if (b.mantissa === 0n) return;
        const back = a.divide(b).multiply(b);
        // The error of the quotient is at most half of its last place.
        const error = back.subtract(a).abs().mantissa * 10n ** BigInt(MAX_PLACES - back.subtract(a).places);
        expect(error <= b.abs().round('ceiling') + 1n).toBe(true);
      }),
    );
  });

  it('form a ring with their order', () => {
    fc.assert(
      fc.property(decimals, decimals, decimals, (a, b, c) => {
        expect(a.add(b).subtract(b).equals(a)).toBe(true);
        expect(a.multiply(b).equals(b.multiply(a))).toBe(true);
        expect(
          a
            .add(b)
            .multiply(c)
            .equals(a.multiply(c).add(b.multiply(c))),
        ).toBe(true);
        expect(Math.sign(a.compare(b))).toBe(Math.sign(a.add(c).compare(b.add(c))));
        expect(a.negate().negate()).toEqual(a);
        expect(a.abs().mantissa >= 0n).toBe(true);
      }),
    );
  });

  it('hold every number of binary64 that needs at most 255 places, and give it back', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const back = Decimal.ofNumber(number).toNumber();
        // Smaller numbers can need more than 255 places, so their last digits are rounded.
        if (Math.abs(number) >= 2 ** -202) expect(back).toBe(number === 0 ? 0 : number);
        else expect(Math.abs(back - number)).toBeLessThanOrEqual(1e-255);
      }),
    );
    expect(digits(Decimal.ofNumber(0.1))).toBe('0.1000000000000000055511151231257827021181583404541015625');
    expect(digits(Decimal.ofNumber(-(2 ** 70)))).toBe('-1180591620717411303424');
    expect(digits(Decimal.ofNumber(Number.MIN_VALUE))).toBe('0');
    expect(Decimal.ofNumber(Number.MAX_VALUE).toNumber()).toBe(Number.MAX_VALUE);
  });
});

describe('integers', () => {
  it('are divided and rounded down', () => {
    fc.assert(
      fc.property(smallIntegers, smallIntegers, (a, b) => {
        if (b === 0n) return;
        const rest = floorModulo(a, b);
        expect(floorDivide(a, b) * b + rest).toBe(a);
        expect(b > 0n ? rest >= 0n && rest < b : rest <= 0n && rest > b).toBe(true);
      }),
    );
  });

  it.each([
    [0n, 0n, 1n],
    [0n, 5n, 0n],
    [1n, 10n ** 40n, 1n],
    [-1n, 10n ** 40n + 1n, -1n],
    [-1n, 10n ** 40n, 1n],
    [2n, 10n, 1024n],
    [-3n, 3n, -27n],
    [420n, 420n, 420n ** 420n],
  ])('%s to the power %s is exact', (base, exponent, result) => {
    expect(integerPower(base, exponent)).toBe(result);
  });

  it('are shifted as in two’s complement, however far to the right', () => {
    expect(shiftInteger(-255n, -1n)).toBe(-128n);
    expect(shiftInteger(-255n, -(10n ** 30n))).toBe(-1n);
    expect(shiftInteger(255n, -(10n ** 30n))).toBe(0n);
    expect(shiftInteger(0n, 10n ** 30n)).toBe(0n);
  });

  it('and decimals that would have more than 65,536 bits end in an error at once', () => {
    const largest = 2n ** BigInt(MAX_BITS) - 1n;
    const hostile = [
      () => integerPower(2n, BigInt(MAX_BITS)),
      () => integerPower(10n ** 1000n, 10n ** 1000n),
      () => integerPower(3n, 10n ** 12n),
      () => shiftInteger(1n, 10n ** 12n),
      () => arithmetic.add(largest, 1n),
      () => arithmetic.subtract(-largest, 1n),
      () => arithmetic.multiply(largest, largest),
      () => arithmetic.add(new Decimal(largest, 0), decimal('0.1')),
      () => arithmetic.multiply(new Decimal(largest, 0), decimal('10.0')),
      () => arithmetic.divide(new Decimal(largest, 0), decimal('0.1'), 4),
      () => new Decimal(largest, 0).roundTo(255n, 'floor', 4),
      () => Decimal.parse('9'.repeat(100_000)),
      () => Decimal.parse('9'.repeat(19_900)),
      () => Decimal.parseScientific('1e20000'),
      () => Decimal.parseScientific('1e99999999999'),
    ];
    for (const compute of hostile) {
      expect(compute).toThrow(new ContractError('eval', 'A number has more than 65536 bits'));
    }
    expect(arithmetic.negate(largest)).toBe(-largest);
    expect(integerPower(2n, BigInt(MAX_BITS - 1))).toBe(2n ** BigInt(MAX_BITS - 1));
  });
});

const SQRT_IN_4 = 'Sqrt must be non-negative';
const LOG_IN_4 = 'Illegal base or argument in log';
const LN_IN_4 = 'Illegal argument for ln: must be greater than zero';
const LN_IN_5 = 'Natural logarithm must be greater then 0';

describe('arithmetic', () => {
  it('names the operands of a division by 0', () => {
    const cases = [
      [1n, 0n, '(1, 0)', ''],
      [11n, decimal('0.0'), '(11, 0.0)', ', decimal'],
      [decimal('1.50'), 0n, '(1.50, 0)', ', decimal'],
      [decimal('3'), decimal('0.00'), '(3.0, 0.00)', ', decimal'],
    ] as const;
    for (const [a, b, operands, kind] of cases) {
      expect(() => arithmetic.divide(a, b, 4)).toThrow(new ContractError('eval', `Division by 0: ${operands}`));
      expect(() => arithmetic.divide(a, b, 5)).toThrow(`Arithmetic exception: div by zero${kind}`);
    }
    expect(() => arithmetic.modulo(5n, 0n)).toThrow('divide by zero');
  });

  it('refuses a negative exponent of integers', () => {
    expect(() => arithmetic.power(2n, -1n, 4)).toThrow('Integral power must be >= 0: (2, -1)');
    expect(() => arithmetic.power(2n, -1n, 5)).toThrow('Arithmetic exception: negative exponent in integer power');
  });

  it.each<[string, (dialect: Dialect) => unknown, string, string]>([
    ['sqrt -1', (dialect) => arithmetic.squareRoot(-1n, dialect), SQRT_IN_4, 'Square root must be non-negative'],
    ['ln 0', (dialect) => arithmetic.naturalLogarithm(0n, dialect), LN_IN_4, LN_IN_5],
    ['ln -0.1', (dialect) => arithmetic.naturalLogarithm(decimal('-0.1'), dialect), LN_IN_4, LN_IN_5],
    ['log 1 0', (dialect) => arithmetic.logarithm(1n, 0n, dialect), LOG_IN_4, 'Base 1 not supported'],
    ['log -2 4', (dialect) => arithmetic.logarithm(-2n, 4n, dialect), LOG_IN_4, 'Negative log base'],
    ['log 0 0', (dialect) => arithmetic.logarithm(0n, 0n, dialect), LOG_IN_4, 'Non-positive log argument'],
  ])('refuses %s, which is not defined', (_, compute, in4, in5) => {
    expect(() => compute(4)).toThrow(new ContractError('eval', in4));
    expect(() => compute(5)).toThrow(new ContractError('eval', `Arithmetic exception: ${in5}`));
  });

  it.each<[string, (dialect: Dialect) => unknown]>([
    ['exp 710', (dialect) => arithmetic.exponential(710n, dialect)],
    ['exp of a large integer', (dialect) => arithmetic.exponential(420n ** 420n, dialect)],
    ['sqrt of a large decimal', (dialect) => arithmetic.squareRoot(new Decimal(10n ** 400n, 0), dialect)],
  ])('takes the infinity of %s as 2^1024, and refuses it in dialect 5', (_, compute) => {
    expect(compute(4)).toEqual(Decimal.ofInteger(2n ** 1024n));
    expect(() => compute(5)).toThrow('Floating point error: Floating operation resulted in Infinity or NaN');
  });

  it('takes the infinity of ln of a large integer as 2^1024 in dialect 4 only', () => {
    expect(arithmetic.naturalLogarithm(10n ** 400n, 4)).toEqual(Decimal.ofInteger(2n ** 1024n));
    expect(arithmetic.naturalLogarithm(10n ** 400n, 5).toNumber()).toBeCloseTo(400 * Math.LN10, 9);
  });

  it.each<[string, (dialect: Dialect) => unknown, string?]>([
    ['log 1 5.0', (dialect) => arithmetic.logarithm(1n, decimal('5.0'), dialect), 'Arithmetic exception: Base 1'],
    [
      '0 ^ -1.0',
      (dialect) => arithmetic.power(0n, decimal('-1.0'), dialect),
      'Floating point error: zero to a negative power is undefined',
    ],
    ['-2.0 ^ 0.5', (dialect) => arithmetic.power(decimal('-2.0'), decimal('0.5'), dialect)],
    ['10 ^ 309.0', (dialect) => arithmetic.power(10n, decimal('309.0'), dialect)],
  ])('refuses %s, which is no finite number', (_, compute, in5) => {
    expect(() => compute(4)).toThrow(new ContractError('eval', 'Operation resulted in +- infinity or NaN'));
    expect(() => compute(5)).toThrow(in5 ?? 'Floating point error: Floating operation resulted in Infinity or NaN');
  });

  it('raises 1 to powers beyond binary64', () => {
    expect(digits(arithmetic.power(decimal('1.0'), new Decimal(10n ** 400n, 0), 4))).toBe('1');
    expect(digits(arithmetic.power(decimal('-1.0'), new Decimal(10n ** 400n, 0), 4))).toBe('1');
  });

  it.each([
    // Digits of Euler's number, of the square root of 2 and of natural logarithms, as in mathematical tables.
    ['exp 1', arithmetic.exponential(1n, 4), '2.7182818284590'],
    ['sqrt 2', arithmetic.squareRoot(2n, 4), '1.4142135623730'],
    ['ln 2', arithmetic.naturalLogarithm(2n, 4), '0.6931471805599'],
    ['ln 10', arithmetic.naturalLogarithm(decimal('10.0'), 4), '2.3025850929940'],
    ['log 10 2', arithmetic.logarithm(decimal('10.0'), 2n, 4), '0.3010299956639'],
    ['2 ^ 0.5', arithmetic.power(2n, decimal('0.5'), 4), '1.4142135623730'],
  ])('computes %s to 12 digits', (_, result, expected) => {
    expect(digits(result).slice(0, expected.length)).toBe(expected);
  });

  it('gives the logarithm of two integers as an integer', () => {
    expect(arithmetic.logarithm(2n, 256n, 4)).toBe(8n);
    expect(arithmetic.logarithm(10n, 999n, 4)).toBe(3n);
  });
});
