import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { stratumLimits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';
import {
  formatError,
  formatJobId,
  formatNonce1,
  formatNotify,
  formatResult,
  formatSetTarget,
  formatTarget,
  jobLines,
  parseClientLine,
  parseJobId,
  parseNonce2,
  StratumClient,
} from '#pickaxe/miner/relay/stratum/stratum-messages.js';
import { integerToTarget } from '#pickaxe/protocol/chain/target.js';
import { formatNonce2, parseTarget } from '#pickaxe/protocol/wire/stratum.js';

it.each([
  ['{"id":1,"method":"a","params":[1]}', { id: 1, method: 'a', params: [1] }],
  ['{"method":"a"}', { id: null, method: 'a', params: [] }],
  ['{"id":[2],"method":"a","params":{"x":1}}', { id: [2], method: 'a', params: [] }],
  ['  {"id":"x","method":"a","params":null,"jsonrpc":"2.0"} \r', { id: 'x', method: 'a', params: [] }],
])('%s is a request', (line, request) => {
  expect(parseClientLine(line)).toEqual({ kind: 'request', ...request });
});

it('a method has up to 64 characters', () => {
  const method = 'm'.repeat(64);
  expect(parseClientLine(`{"id":3,"method":"${method}"}`)).toEqual({ kind: 'request', id: 3, method, params: [] });
});

it.each(['{"id":1,"error":[20,"x",null]}', '{"id":1,"result":true,"error":null}', '{"result":null}'])(
  '%s is an answer',
  (line) => {
    expect(parseClientLine(line)).toEqual({ kind: 'answer' });
  },
);

it.each([
  ['', null],
  ['{', null],
  ['1', null],
  ['null', null],
  ['[]', null],
  ['{}', null],
  ['{"id":3}', 3],
  ['{"id":3,"method":7}', 3],
  [`{"id":3,"method":"${'m'.repeat(65)}"}`, 3],
  ['{"id":3,"method":7,"result":true}', 3],
])('%s is junk', (line, id) => {
  expect(parseClientLine(line)).toEqual({ kind: 'junk', id });
});

test('whatever comes is one of them', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (line) => {
      expect(['request', 'answer', 'junk']).toContain(parseClientLine(line).kind);
    }),
  );
});

test('each message of the server is one line', () => {
  expect(formatResult('a', [null, '0102', 6])).toBe('{"result":[null,"0102",6],"error":null,"id":"a"}\n');
  expect(formatError(4, 21, 'stale')).toBe('{"result":null,"error":[21,"stale",null],"id":4}\n');
  const target = Uint8Array.of(0xff, ...new Array(31).fill(0));
  const hex = `${'0'.repeat(62)}ff`;
  expect(formatSetTarget(target)).toBe(`{"method":"mining.set_target","params":["${hex}"],"id":null}\n`);
  expect(formatNotify('00000001', 'ab', true)).toBe(
    '{"method":"mining.notify","params":["00000001","ab",true],"id":null}\n',
  );
});

test('the lines of a job are the same for all sessions', () => {
  const lines = jobLines('00000001', 'ab');
  expect([lines(true), lines(false), lines(true), lines(false)].map(String)).toEqual(
    [true, false, true, false].map((clean) => formatNotify('00000001', 'ab', clean)),
  );
  for (const clean of [true, false]) expect(lines(clean)).toBe(lines(clean));
});

test('a target is written with the most significant digit first', () => {
  const target = integerToTarget(2n ** 214n - 1n);
  const hex = `${'0'.repeat(10)}3${'f'.repeat(53)}`;
  expect(formatTarget(target)).toBe(hex);
  expect(parseTarget(hex)).toEqual(target);
});

test('a job id may lack leading zeros, and is 0 if the server has never sent it', () => {
  expect(formatJobId(0x1f)).toBe('0000001f');
  expect(['0000001f', '1F', '1f', 'ffffffff'].map(parseJobId)).toEqual([0x1f, 0x1f, 0x1f, 0xffff_ffff]);
  expect(['', '00000000', '00000001f', '0x1f', ' 1f', 'g', '-1'].map(parseJobId)).toEqual([0, 0, 0, 0, 0, 0, 0]);
});

// Nonces are numbers here: nonce1 "0102" is stored as the bytes 02 01.
test.each([
  [{ value: 0x0102, bytes: 2 }, '0102', '0000deadbeef', 0x0000_dead_beef_0102n],
  [{ value: 0x09e8, bytes: 2 }, '09e8', 'ffffffffffff', 0xffff_ffff_ffff_09e8n],
  [{ value: 0x0a, bytes: 1 }, '0a', '00000000000001', 0x010an],
  [{ value: 0, bytes: 0 }, '', '0123456789abcdef', 0x0123_4567_89ab_cdefn],
] as const)('a nonce is nonce2 above nonce1 %j', (nonce1, hex1, hex2, nonce) => {
  expect(formatNonce1(nonce1)).toBe(hex1);
  expect(formatNonce2(nonce, nonce1)).toBe(hex2);
  expect(parseNonce2(hex2, nonce1)).toBe(nonce);
});

test('a nonce2 may lack leading zeros, and nothing else', () => {
  const nonce1 = { value: 0x0102, bytes: 2 } as const;
  expect(parseNonce2('1', nonce1)).toBe(0x1_0102n);
  expect(parseNonce2('0x1', nonce1)).toBe(0x1_0102n);
  for (const hex of ['', '0x', 'x', '0'.repeat(13), '1 ', '-1']) expect(parseNonce2(hex, nonce1)).toBeUndefined();
});

test('a client is told of 16 extensions at most, in the order in which it names them', () => {
  const sent: string[] = [];
  const connection = { address: '192.0.2.1', send: (lines: string | Buffer) => sent.push(`${lines}`), close() {} };
  const client = new StratumClient(connection, stratumLimits);
  const names = Array.from({ length: 17 }, (_, number) => `extension${number}`);
  for (const first of [[], [7]]) {
    const params = [[...first, ...names], {}];
    expect(client.receive(JSON.stringify({ id: 1, method: 'mining.configure', params }))).toBeUndefined();
    expect(Object.entries(JSON.parse(sent.pop() as string).result)).toEqual(
      names.slice(0, 16).map((name) => [name, false]),
    );
  }
  expect(sent).toEqual([]);
});
