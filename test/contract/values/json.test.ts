import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ContractError } from '#pickaxe/contract/errors.js';
import { ModuleName, QualifiedName } from '#pickaxe/contract/names.js';
import { Decimal } from '#pickaxe/contract/values/decimal.js';
import { hashedText, hashText } from '#pickaxe/contract/values/hash.js';
import {
  fieldsOf,
  jsonTextOf,
  messageField,
  readDecimal,
  readInteger,
  readKeyset,
  readMessage,
  readString,
  valueOfJson,
} from '#pickaxe/contract/values/json.js';
import { printed } from '#pickaxe/contract/values/printing.js';
import { Time } from '#pickaxe/contract/values/time.js';
import {
  areEqual,
  CapabilityGuard,
  DefpactGuard,
  isStorable,
  KeysetGuard,
  KeysetRefGuard,
  ModuleGuard,
  ModuleRef,
  type Storable,
  UserGuard,
} from '#pickaxe/contract/values/values.js';
import { JsonNumber, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { storables } from '../arbitraries.ts';
import { evaluate } from '../evaluate.ts';
import { faultOf } from '../faults.ts';
import { vectors } from '../vectors.ts';

const module = new ModuleName('m');
const myModule = new ModuleRef(new ModuleName('my-mod'), [new ModuleName('iface')]);

/** Values that the vectors describe in words. */
const DESCRIBED: Readonly<Record<string, Storable>> = {
  'keyset {keys: [a], pred: keys-all}': new KeysetGuard(['a']),
  'keyset reference k': new KeysetRefGuard('k'),
  'keyset reference n.k': new KeysetRefGuard('n.k'),
  'user guard m.f (1)': new UserGuard(new QualifiedName(module, 'f'), [1n]),
  'module guard': new ModuleGuard(module, 'x'),
  'pact guard': new DefpactGuard('…', 'x'),
  'capability guard': new CapabilityGuard(new QualifiedName(module, 'C'), []),
  'module reference': new ModuleRef(module, [new ModuleName('i')]),
  'list of the module reference my-mod (implements iface), an object with it under a, and the user guard (f my-mod)': [
    myModule,
    new Map([['a', myModule]]),
    new UserGuard(new QualifiedName(myModule.name, 'f'), [myModule]),
  ],
};

const read = (json: string) => readMessage(parseExactJson(json), 4);

describe('the JSON of values', () => {
  it.each(vectors.json_forms)('$value', ({ value, json, hash }) => {
    const evaluated = Object.hasOwn(DESCRIBED, value) ? DESCRIBED[value] : evaluate(value).value;
    if (!isStorable(evaluated)) throw new Error('not storable');
    expect(jsonTextOf(evaluated)).toBe(json);
    if (hash !== undefined) expect(hashText(hashedText(evaluated))).toBe(hash);
    expect(areEqual(read(json), evaluated)).toBe(true);
  });

  it.each<[string, Storable, string]>([
    ['a large negative integer', -(2n ** 53n), '{"int":"-9007199254740992"}'],
    ['an integer that fits', -(2n ** 53n - 1n), '{"int":-9007199254740991}'],
    ['a decimal with zeros', new Decimal(11000n, 2), '110'],
    ['a large decimal', new Decimal(2n ** 53n, 1), '{"decimal":"900719925474099.2"}'],
    ['a large whole decimal', new Decimal(2n ** 53n, 0), '{"decimal":"9007199254740992"}'],
    ['a small decimal', new Decimal(542n, 12), '5.42e-10'],
    ['zero with places', new Decimal(0n, 3), '0'],
    ['ten million and a half', new Decimal(100000005n, 1), '1.00000005e7'],
    ['a time before 1970', new Time(-1n), '{"timep":"1969-12-31T23:59:59.999999Z"}'],
    ['a whole millisecond, whose fraction is lost', new Time(1000n), '{"time":"1970-01-01T00:00:00Z"}'],
    ['a text', 'a"\\\n\u0001\u007fé😀', '"a\\"\\\\\\n\\u0001\u007fé😀"'],
    [
      'an object, in the order of hashes',
      new Map<string, Storable>([
        ['receiver-guard', 'g'],
        ['source-chain', '0'],
        ['receiver', 'r'],
        ['amount', new Decimal(15n, 1)],
      ]),
      '{"amount":1.5,"receiver":"r","source-chain":"0","receiver-guard":"g"}',
    ],
    ['keys that objects of ECMAScript have', new Map([['__proto__', true]]), '{"__proto__":true}'],
    [
      'a defpact’s capability guard',
      new CapabilityGuard(new QualifiedName(module, 'C'), [], 'P'),
      '{"cgPactId":"P","cgArgs":[],"cgName":"m.C"}',
    ],
    [
      'a guard of a module in a namespace',
      new ModuleGuard(new ModuleName('m', 'ns'), 'x'),
      '{"moduleName":{"namespace":"ns","name":"m"},"name":"x"}',
    ],
    [
      'an interface',
      new ModuleRef(new ModuleName('i'), undefined),
      '{"refSpec":null,"refName":{"namespace":null,"name":"i"}}',
    ],
  ])('of %s', (_, value, json) => {
    expect(jsonTextOf(value)).toBe(json);
  });

  it('comes back as an equal value, except for whole milliseconds', () => {
    fc.assert(
      fc.property(storables, (value) => {
        const json = jsonTextOf(value);
        const back = read(json);
        expect(jsonTextOf(back)).toBe(json);
        if (!json.includes('"time"')) expect(areEqual(back, value)).toBe(true);
      }),
    );
  });

  it('cannot have half of a surrogate pair', () => {
    expect(faultOf(() => jsonTextOf('\ud800')).message).toContain('surrogate');
    expect(faultOf(() => jsonTextOf(new Map([['\ud800', 1n]]))).kind).toBe('eval');
  });
});

describe('hashes', () => {
  it.each(vectors.module_hashes.texts)('of $text', ({ text, hash }) => {
    expect(hashText(text)).toBe(hash);
  });

  it('of the texts that are proven', () => {
    expect(hashText('')).toBe('DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g');
    expect(hashText('hello')).toBe('Mk3PAn3UowqTLEQfNlol6GsXPe-kuOWJSCU0cbgbcs8');
    expect(hashText(hashedText(new Map([['foo', 1n]])))).toBe('h9BZgylRf_M4HxcBXr15IcSXXXSz74ZC2IAViGle_z4');
  });
});

describe('the data of a message', () => {
  it.each([
    ['1', '1.0'],
    ['1.50', '1.5'],
    ['[1, 2]', '[1.0 2.0]'],
    ['{"b": 1, "a": {"int": 2}}', '{"a": 2,"b": 1.0}'],
    ['{"int": 1.5}', '2'],
    ['{"int": "-12"}', '-12'],
    ['{"int": "x"}', '{"int": "x"}'],
    ['{"int": 1, "more": 2}', '{"int": 1.0,"more": 2.0}'],
    ['{"decimal": "1.50"}', '1.50'],
    ['{"time": "2016-07-22T12:00:00Z"}', '"2016-07-22T12:00:00Z"'],
    ['{"time": "noon"}', '{"time": "noon"}'],
    ['{"keys": ["b", "a"], "pred": "keys-any"}', 'KeySet {keys: [a, b],pred: keys-any}'],
    ['{"keys": ["b", "a"]}', '{"keys": ["b" "a"]}'],
    ['{"keys": [1], "pred": "keys-any"}', '{"keys": [1.0],"pred": "keys-any"}'],
    ['{"keysetref": 1}', '{"keysetref": 1.0}'],
    // Guards and references that lack a part.
    [
      '{"moduleName": {"namespace": "ns", "name": "m"}, "name": 1}',
      '{"moduleName": {"name": "m","namespace": "ns"},"name": 1.0}',
    ],
    ['{"moduleName": "m", "name": 1}', '{"moduleName": "m","name": 1.0}'],
    ['{"name": "n", "pactId": 1}', '{"name": "n","pactId": 1.0}'],
    ['{"name": 1, "pactId": "p"}', '{"name": 1.0,"pactId": "p"}'],
    ['{"refName": 1, "refSpec": []}', '{"refName": 1.0,"refSpec": []}'],
    ['{"cgName": "m.C", "cgArgs": [], "cgPactId": 1}', '{"cgArgs": [],"cgName": "m.C","cgPactId": 1.0}'],
    ['{"fun": "f", "args": []}', '{"args": [],"fun": "f"}'],
    ['{"fun": 1, "args": []}', '{"args": [],"fun": 1.0}'],
    ['{"fun": "m.f", "args": 1}', '{"args": 1.0,"fun": "m.f"}'],
    ['{"cgName": "C", "cgArgs": [], "cgPactId": "p"}', '{"cgArgs": [],"cgName": "C","cgPactId": "p"}'],
    ['{"cgName": "m.C", "cgArgs": 1, "cgPactId": "p"}', '{"cgArgs": 1.0,"cgName": "m.C","cgPactId": "p"}'],
    ['{"cgName": "m.C", "cgArgs": [1], "cgPactId": null}', 'CapabilityGuard {name: m.C,args: [1.0],pactId: }'],
    ['{"cgName": "m.C", "cgArgs": [1], "cgPactId": "p"}', 'CapabilityGuard {name: m.C,args: [1.0],pactId: p}'],
    [
      '{"moduleName": {"namespace": 1, "name": "m"}, "name": "x"}',
      '{"moduleName": {"name": "m","namespace": 1.0},"name": "x"}',
    ],
    [
      '{"moduleName": {"namespace": "n", "name": 1}, "name": "x"}',
      '{"moduleName": {"name": 1.0,"namespace": "n"},"name": "x"}',
    ],
    ['{"moduleName": {"namespace": "n", "name": "m"}, "name": "x"}', 'ModuleGuard {module: n.m,name: x}'],
    [
      '{"refName": {"namespace": "n", "name": "m"}, "refSpec": 1}',
      '{"refName": {"name": "m","namespace": "n"},"refSpec": 1.0}',
    ],
    [
      '{"refName": {"namespace": "n", "name": "m"}, "refSpec": [1]}',
      '{"refName": {"name": "m","namespace": "n"},"refSpec": [1.0]}',
    ],
    ['{"refName": {"namespace": "n", "name": "m"}, "refSpec": null}', 'n.m'],
    ['{"refName": {"namespace": "n", "name": "m"}, "refSpec": []}', 'n.m'],
    ['{"keysetref": {"ns": 1, "ksn": "k"}}', '{"keysetref": {"ksn": "k","ns": 1.0}}'],
    ['{"keysetref": {"ns": "n", "ksn": 1}}', '{"keysetref": {"ksn": 1.0,"ns": "n"}}'],
    ['{"time": 1}', '{"time": 1.0}'],
    ['{"timep": 1}', '{"timep": 1.0}'],
    ['{"timep": "2016-07-22T12:00:00Z"}', '{"timep": "2016-07-22T12:00:00Z"}'],
    ['{"time": "2016-07-22T12:00:00.5Z"}', '{"time": "2016-07-22T12:00:00.5Z"}'],
    ['{"decimal": 1}', '{"decimal": 1.0}'],
    ['{"keys": 1, "pred": "p"}', '{"keys": 1.0,"pred": "p"}'],
    ['{"keys": ["a"], "pred": 1}', '{"keys": ["a"],"pred": 1.0}'],
    ['{"keys": ["a", 1], "pred": "p"}', '{"keys": ["a" 1.0],"pred": "p"}'],
    ['{"int": true}', '{"int": true}'],
    ['{"keys,pred": 1}', '{"keys,pred": 1.0}'],
  ])('%s is %s', (json, text) => {
    expect(printed(read(json), { dialect: 4 })).toBe(text);
  });

  it.each([
    ['null', '()'],
    ['[1, null]', '[1.0 ()]'],
    ['{"a": {"b": null}}', '{"a": {"b": ()}}'],
    ['{"int": 1, "more": 2}', '1'],
    ['{"int": {"int": 5}}', '{"int": 5}'],
    ['{"int": true, "decimal": "1.5"}', '1.5'],
    ['{"decimal": "1.50", "more": 1}', '1.50'],
    ['{"time": "2016-07-22T12:00:00Z", "more": 1}', '"2016-07-22T12:00:00Z"'],
    ['{"time": 1, "timep": "2016-07-22T12:00:00.000001Z"}', '"2016-07-22T12:00:00Z"'],
    ['{"keys": ["b", "a"]}', 'KeySet {keys: [a, b],pred: keys-all}'],
    ['{"keys": ["a"], "pred": null, "more": 1}', 'KeySet {keys: [a],pred: keys-all}'],
    ['{"keys": ["a"], "pred": "n.m.any"}', 'KeySet {keys: [a],pred: n.m.any}'],
    ['{"keys": ["a"], "pred": "no name"}', '{"keys": ["a"],"pred": "no name"}'],
    ['{"keys": ["a"], "pred": 1}', '{"keys": ["a"],"pred": 1.0}'],
    ['{"keys": [1]}', '{"keys": [1.0]}'],
    ['{"keysetref": "k", "more": 1}', "'k"],
    ['{"keysetref": {"ksn": "k"}}', "'k"],
    ['{"keysetref": {"ns": null, "ksn": "k", "more": 1}}', "'k"],
    ['{"keysetref": {"ns": "n", "ksn": "k"}}', "'n.k"],
    ['{"keysetref": {"ns": "n"}}', '{"keysetref": {"ns": "n"}}'],
    ['{"keysetref": {"ns": 1, "ksn": "k"}}', '{"keysetref": {"ksn": "k","ns": 1.0}}'],
    ['{"fun": "m.f", "args": [null], "more": 1}', 'UserGuard {fun: m.f,args: [()]}'],
    ['{"cgName": "m.C", "cgArgs": []}', 'CapabilityGuard {name: m.C,args: [],pactId: }'],
    ['{"cgName": "m.C", "cgArgs": [], "cgPactId": 1}', '{"cgArgs": [],"cgName": "m.C","cgPactId": 1.0}'],
    ['{"moduleName": {"name": "m"}, "name": "x", "more": 1}', 'ModuleGuard {module: m,name: x}'],
    [
      '{"moduleName": {"name": "m", "namespace": 1}, "name": "x"}',
      '{"moduleName": {"name": "m","namespace": 1.0},"name": "x"}',
    ],
    ['{"moduleName": {"name": "a b"}, "name": "x"}', '{"moduleName": {"name": "a b"},"name": "x"}'],
    ['{"moduleName": {"name": "m"}, "name": 1}', '{"moduleName": {"name": "m"},"name": 1.0}'],
    ['{"refName": {"name": 1}}', '{"refName": {"name": 1.0}}'],
    ['{"refName": null}', '{"refName": ()}'],
    ['{"keysetref": null}', '{"keysetref": ()}'],
    ['{"name": "n", "pactId": "p", "more": 1}', 'PactGuard {pactId: p,name: n}'],
    ['{"refName": {"namespace": "n", "name": "m", "more": 1}}', 'n.m'],
    ['{"refName": {"name": "m"}, "refSpec": null}', 'm'],
    ['{"refName": {"name": "m"}, "refSpec": [1]}', '{"refName": {"name": "m"},"refSpec": [1.0]}'],
    // An object with several forms has the first of them.
    ['{"keys": ["a"], "int": 1}', '1'],
    ['{"time": "2016-07-22T12:00:00Z", "keys": ["a"]}', 'KeySet {keys: [a],pred: keys-all}'],
  ])('%s is %s in dialect 5', (json, text) => {
    expect(printed(readMessage(parseExactJson(json), 5), { dialect: 5 })).toBe(text);
  });

  it('have no keys in dialect 5 if they stand for another value', () => {
    const keyset = parseExactJson('{"keys": ["a"], "more": 1}');
    expect(fieldsOf(keyset, 4)).toBe(keyset);
    expect(fieldsOf(keyset, 5)).toBeUndefined();
    expect(fieldsOf(null, 5)).toBeUndefined();
    const { keys } = fieldsOf(parseExactJson('{"keys": [1]}'), 5) ?? {};
    expect(keys).toEqual([new JsonNumber('1')]);
  });

  it('cannot have null anywhere in dialect 4', () => {
    const plain = ['null', '[1, null]', '{"a": {"b": null}}', '{"fun": "m.f", "args": [null]}', '{"keysetref": null}'];
    const names = ['{"refName": null, "refSpec": []}', '{"moduleName": null, "name": "x"}'];
    for (const json of [...plain, ...names]) {
      expect(valueOfJson(parseExactJson(json), 4)).toBeUndefined();
      const text = JSON.stringify(JSON.parse(json));
      expect(faultOf(() => read(json))).toEqual(new ContractError('eval', `read-msg: parse failed: ${text}`));
    }
  });

  it('has its keys', () => {
    const data = parseExactJson('{"a": 1, "toString": 2}');
    expect(printed(readMessage(messageField(fieldsOf(data, 4), 'a', 'read-msg', 4), 4), { dialect: 4 })).toBe('1.0');
    expect(faultOf(() => messageField(fieldsOf(data, 4), 'b', 'read-msg', 4))).toEqual(
      new ContractError('tx-failure', 'No such key in message: b'),
    );
    expect(faultOf(() => messageField({}, 'toString', 'read-msg', 4)).kind).toBe('tx-failure');
    expect(faultOf(() => messageField(fieldsOf('text', 4), 'a', 'read-msg', 4)).kind).toBe('tx-failure');
    expect(faultOf(() => messageField(fieldsOf(data, 5), 'b', 'read-decimal', 5)).message).toBe('read-decimal failure');
  });
});

describe('natives that read a key', () => {
  const natives = { readInteger, readDecimal, readString, readKeyset };

  test.each<[keyof typeof natives, string, string]>([
    ['readInteger', '12', '12'],
    ['readInteger', '2.5', '2'],
    ['readInteger', '3.5', '4'],
    ['readInteger', '{"int": 7}', '7'],
    ['readInteger', '{"int": "90071992547409921"}', '90071992547409921'],
    ['readInteger', '"-12"', '-12'],
    ['readDecimal', '1.50', '1.5'],
    ['readDecimal', '"2.50"', '2.50'],
    ['readDecimal', '"3"', '3.0'],
    ['readString', '"x"', '"x"'],
    ['readKeyset', '{"keys": ["k2", "k1"], "pred": "keys-any"}', 'KeySet {keys: [k1, k2],pred: keys-any}'],
    ['readKeyset', '{"keys": ["k1"]}', 'KeySet {keys: [k1],pred: keys-all}'],
    ['readKeyset', '["k1"]', 'KeySet {keys: [k1],pred: keys-all}'],
  ])('%s takes %s as %s', (native, json, text) => {
    expect(printed(natives[native](parseExactJson(json), 4), { dialect: 4 })).toBe(text);
    expect(printed(natives[native](parseExactJson(json), 5), { dialect: 4 })).toBe(
      printed(natives[native](parseExactJson(json), 4), { dialect: 5 }),
    );
  });

  test.each<[keyof typeof natives, string, string]>([
    ['readInteger', '"x"', 'read-integer: parse failed: x'],
    ['readInteger', '"1.5"', 'read-integer: parse failed: 1.5'],
    ['readInteger', '{"int": true}', 'read-integer: parse failed: {"int":true}'],
    ['readInteger', 'true', 'read-integer: parse failed: true'],
    ['readDecimal', '{"int": 1}', 'read-decimal: parse failed: {"int":1}'],
    ['readInteger', '{"decimal": "1.5"}', 'read-integer: parse failed: {"decimal":"1.5"}'],
    ['readDecimal', '"1e3"', 'read-decimal: parse failed: 1e3'],
    ['readDecimal', '{"decimal": "1.5"}', 'read-decimal: parse failed: {"decimal":"1.5"}'],
    ['readString', '1', 'read-string: parse failed: 1'],
    ['readKeyset', '{"pred": "keys-all"}', 'read-keyset: parse failed: {"pred":"keys-all"}'],
    ['readKeyset', '[1]', 'read-keyset: parse failed: [1]'],
    ['readKeyset', '{"keys": ["a"], "pred": 1}', 'read-keyset: parse failed: {"keys":["a"],"pred":1}'],
  ])('%s refuses %s', (native, json, message) => {
    expect(faultOf(() => natives[native](parseExactJson(json), 4))).toEqual(new ContractError('eval', message));
  });

  it.each(['{"keys": ["a"], "pred": "no name"}', '{"keys": ["a"], "int": 1}', '{"keys": [1]}', '[1]', '"a"', 'null'])(
    'readKeyset refuses %s in dialect 5',
    (json) => {
      expect(faultOf(() => readKeyset(parseExactJson(json), 5)).message).toBe('read-keyset failure');
    },
  );

  it('in dialect 5 read all forms of numbers, and say less', () => {
    expect(printed(readDecimal(parseExactJson('{"decimal": "1.5"}'), 5), { dialect: 4 })).toBe('1.5');
    expect(printed(readDecimal(parseExactJson('{"int": 2}'), 5), { dialect: 4 })).toBe('2.0');
    expect(readInteger(parseExactJson('{"decimal": "2.5"}'), 5)).toBe(2n);
    expect(faultOf(() => readInteger(parseExactJson('"x"'), 5)).message).toBe('read-integer failure');
  });

  it('refuse numbers of hostile size at once', () => {
    const large = new ContractError('eval', 'A number has more than 65536 bits');
    expect(faultOf(() => read('1e1000000000'))).toEqual(large);
    expect(faultOf(() => readInteger(`${'9'.repeat(1_000_000)}`, 4))).toEqual(large);
    expect(faultOf(() => readDecimal('9'.repeat(1_000_000), 4))).toEqual(large);
    expect(faultOf(() => readDecimal(`0.${'1'.repeat(256)}`, 4)).message).toBe('decimal precision overflow (255 max)');
  });
});
