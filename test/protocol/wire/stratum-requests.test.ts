import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import {
  formatError,
  formatNotify,
  formatResult,
  formatSetTarget,
  hashesOfDifficulty,
  parseClientLine,
} from '#pickaxe/protocol/wire/stratum.js';

it.each([
  ['{"id":1,"method":"a","params":[1]}', { id: 1, method: 'a', params: [1] }],
  ['{"method":"a"}', { id: null, method: 'a', params: [] }],
  ['{"id":[2],"method":"a","params":{"x":1}}', { id: [2], method: 'a', params: [] }],
  ['  {"id":"x","method":"a","params":null,"jsonrpc":"2.0"} \r', { id: 'x', method: 'a', params: [] }],
])('%s is a request', (line, request) => {
  expect(parseClientLine(line)).toEqual({ kind: 'request', request });
});

it.each(['{"id":1,"result":true,"error":null}', '{"result":null}'])('%s is an answer', (line) => {
  expect(parseClientLine(line)).toEqual({ kind: 'answer' });
});

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

test('what a server says is one line each', () => {
  expect(formatResult('a', [null, '0102', 6])).toBe('{"result":[null,"0102",6],"error":null,"id":"a"}\n');
  expect(formatError(4, 21, 'stale')).toBe('{"result":null,"error":[21,"stale",null],"id":4}\n');
  expect(formatSetTarget('00ff')).toBe('{"method":"mining.set_target","params":["00ff"],"id":null}\n');
  expect(formatNotify('00000001', 'ab', true)).toBe(
    '{"method":"mining.notify","params":["00000001","ab",true],"id":null}\n',
  );
});

test('difficulty 1 takes 2^32 hashes, and may be below 1', () => {
  expect([1, '1', 0.5, '0.25', '1e2', 2 ** -40].map(hashesOfDifficulty)).toEqual([
    2 ** 32,
    2 ** 32,
    2 ** 31,
    2 ** 30,
    100 * 2 ** 32,
    1,
  ]);
  for (const wrong of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e99, '', 'x', '-1', '0x10', '1e999', null, [1]]) {
    expect(hashesOfDifficulty(wrong)).toBeUndefined();
  }
});
