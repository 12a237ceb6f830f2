import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  inToolOrder,
  normalised,
  numberText,
  scientificOf,
  scientificOfDecimal,
  toolArg,
  toolJson,
} from '#pickaxe/protocol/ledger/command/tool-json.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { LedgerFormatError, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { commands, keyOrder } from '../command-vectors.ts';
import { texts } from '../texts.ts';

const decimals = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
const argText = (json: string) => toolJson(toolArg(parseExactJson(json)));

describe('the keys of an object', () => {
  it.each(keyOrder.orders)('stand in the tool’s order: %s', (...keys) => {
    expect(inToolOrder([...keys].reverse())).toEqual(keys);
    expect(inToolOrder([...keys].sort())).toEqual(keys);
  });

  it('stand in one order, however they come', () => {
    const keys = fc.uniqueArray(texts, { maxLength: 12 });
    const twoOrders = keys.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(twoOrders, ([one, other]) => {
        expect(inToolOrder(other)).toEqual(inToolOrder(one));
      }),
    );
  });
});

describe('a number', () => {
  test.each(Object.entries(keyOrder.numbers))('%s of an amount or a price is written as %s', (text, written) => {
    expect(numberText(normalised(scientificOf(text)))).toBe(written);
    expect(numberText(scientificOfDecimal(parseDecimal(text)))).toBe(written);
  });

  test.each([
    ['110.0', '110.0'],
    ['1.50', '1.5'],
    ['0.0', '0.0'],
    ['-0.05', '-5.0e-2'],
    ['9999999.5', '9999999.5'],
    ['0.1', '0.1'],
    ['0.123', '0.123'],
    ['0.09', '9.0e-2'],
    ['-0.1', '-0.1'],
    ['0e1', '0'],
    ['0.000', '0.0'],
    ['1234567.0', '1234567.0'],
    ['12345678.0', '1.2345678e7'],
    ['1000000.0', '1000000.0'],
    ['-1e2', '-100'],
    ['1.5E+2', '150'],
    ['1e-1', '0.1'],
    ['10000000.5', '1.00000005e7'],
    ['1.5e3', '1500'],
    ['15e-1', '1.5'],
    ['1e1024', `1${'0'.repeat(1024)}`],
    ['1e1025', '1.0e1025'],
    ['12345678901234567890.123', '1.2345678901234567890123e19'],
    ['18446744073709551615', '18446744073709551615'],
  ])('%s of the data is written as %s', (text, written) => {
    expect(toolJson(parseExactJson(text))).toBe(written);
  });

  it('keeps its value', () => {
    fc.assert(
      fc.property(decimals, (decimal) => {
        expect(parseDecimal(numberText(scientificOfDecimal(decimal)))).toBe(decimal);
      }),
    );
  });
});

describe('an argument of a capability', () => {
  test.each([
    ['100.1', '100.1'],
    ['110.0', '110'],
    ['"a"', '"a"'],
    ['{"decimal":"91.0"}', '91'],
    ['{"int":5}', '{"int":5}'],
    ['{"int":"12345678901234567890"}', '{"int":"12345678901234567890"}'],
    ['9007199254740991', '9007199254740991'],
    ['9007199254740992', '{"decimal":"9007199254740992"}'],
    ['12345678901.1234567', '{"decimal":"12345678901.1234567"}'],
    ['{"decimal":"-12345678901.1234567"}', '{"decimal":"-12345678901.1234567"}'],
    ['0.12345678901234567', '{"decimal":"0.12345678901234567"}'],
    ['12345678901234567.5', '{"decimal":"12345678901234567.5"}'],
    ['-0.98765432109876543', '{"decimal":"-0.98765432109876543"}'],
    [`{"decimal":"${'1'.repeat(255)}.${'2'.repeat(255)}"}`, `{"decimal":"${'1'.repeat(255)}.${'2'.repeat(255)}"}`],
    [`{"int":"-${'1'.repeat(1_000)}"}`, `{"int":"-${'1'.repeat(1_000)}"}`],
    ['{"decimal":"91.50"}', '91.5'],
    ['{"decimal":"-0.05"}', '-5.0e-2'],
    ['[1.0,true,{"b":2.0}]', '[1,true,{"b":2}]'],
    ['{"constructor":1.0}', '{"constructor":1}'],
    ['-9007199254740991', '-9007199254740991'],
    ['-9007199254740992', '{"decimal":"-9007199254740992"}'],
    ['{"int":9007199254740991}', '{"int":9007199254740991}'],
    ['{"int":"-9007199254740992"}', '{"int":"-9007199254740992"}'],
    ['{"int":5,"decimal":"1.0"}', '{"decimal":"1.0","int":5}'],
    ['1e255', `{"decimal":"1${'0'.repeat(255)}"}`],
    ['1e-255', '1.0e-255'],
    ['{"keys":["b","a","b"]}', '{"pred":"keys-all","keys":["a","b"]}'],
    ['{"keys":["b","a"],"pred":"keys-any"}', '{"pred":"keys-any","keys":["a","b"]}'],
    ['{"keys":"a","pred":"keys-any"}', '{"pred":"keys-any","keys":"a"}'],
    ['{"pred":"keys-all"}', '{"pred":"keys-all"}'],
    ['{"keys":["b","a"],"more":1}', '{"more":1,"keys":["b","a"]}'],
  ])('%s is written as %s', (json, written) => {
    expect(argText(json)).toBe(written);
  });

  test.each([
    'null',
    '[null]',
    '{"int":1.5}',
    '{"decimal":5}',
    '{"decimal":"x"}',
    '{"decimal":"1e5"}',
    '1e300',
    '1e256',
    '1e-256',
    `{"int":"${'1'.repeat(1001)}"}`,
    `{"decimal":"${'1'.repeat(256)}"}`,
    `{"decimal":"1.${'1'.repeat(256)}"}`,
    '{"decimal":"1."}',
    '{"int":"x"}',
    '{"int":true}',
    '{"keys":[1]}',
    '{"keys":["a"],"pred":1}',
  ])('cannot be %s', (json) => {
    expect(() => argText(json)).toThrow(LedgerFormatError);
  });

  it('is written in the same way again', () => {
    fc.assert(
      fc.property(decimals, (decimal) => {
        const written = argText(numberText(scientificOfDecimal(decimal)));
        expect(argText(written)).toBe(written);
      }),
    );
  });
});

describe('JSON', () => {
  it('means what it was made of', () => {
    const values = fc.oneof(fc.jsonValue(), texts, fc.dictionary(texts, texts));
    fc.assert(
      fc.property(values, (value) => {
        const json = JSON.stringify(value);
        expect(JSON.parse(toolJson(parseExactJson(json)))).toEqual(JSON.parse(json));
      }),
    );
  });

  it('escapes what the tool escapes, and nothing else', () => {
    expect(toolJson('"\\\b\f\n\r\t\x1f\x7f\u0085é\u2028😀')).toBe(
      '"\\"\\\\\\u0008\\u000c\\n\\r\\t\\u001f\x7f\u0085é\u2028😀"',
    );
  });

  it('has no half of a surrogate pair', () => {
    expect(() => toolJson(['\ud800'])).toThrow(LedgerFormatError);
  });

  it('is byte for byte that of the commands that the tool and the node have written', () => {
    const theirs = commands.filter(({ keyOrder }) => keyOrder === 'networkId,payload,signers,meta,nonce');
    const same = theirs.filter(({ command: { cmd } }) => toolJson(parseExactJson(cmd)) === cmd);
    // Another program uses the same order of keys, but writes small numbers without an exponent.
    const others = theirs.filter((each) => !same.includes(each));
    expect(others.every(({ command: { cmd } }) => cmd.includes('"gasPrice":0.0000'))).toBe(true);
    expect(same.length).toBeGreaterThanOrEqual(23);
  });
});

describe('a text that is no such number', () => {
  it.each(['', '1.', '.5', '0x1', '1e', '1e1234567890', '--1', 'NaN'])('%j is refused', (text) => {
    expect(() => scientificOf(text)).toThrow(
      new LedgerFormatError(`${JSON.stringify(text)} is not a number such as 91.0 or 1.0e-8`),
    );
  });

  it('has parts', () => {
    expect(scientificOf('-91.50e-123456789')).toEqual({ coefficient: -9_150n, exponent: -123_456_791 });
    expect(scientificOf('7')).toEqual({ coefficient: 7n, exponent: 0 });
    expect(normalised({ coefficient: 0n, exponent: -3 })).toEqual({ coefficient: 0n, exponent: 0 });
    expect(normalised({ coefficient: 1_500n, exponent: -1 })).toEqual({ coefficient: 150n, exponent: 0 });
    expect(normalised({ coefficient: 1_500n, exponent: -3 })).toEqual({ coefficient: 15n, exponent: -1 });
    expect(normalised({ coefficient: 1_500n, exponent: 2 })).toEqual({ coefficient: 1_500n, exponent: 2 });
  });
});
