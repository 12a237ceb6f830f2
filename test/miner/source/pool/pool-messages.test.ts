import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OUTCOMES } from '#pickaxe/miner/events/vocabulary.js';
import { complaintOf, parseMessage, parseNotice, parseReconnect } from '#pickaxe/miner/source/pool/pool-messages.js';
import { verdictOf } from '#pickaxe/miner/source/pool/pool-shares.js';
import { parseNonce1, parseSubscription } from '#pickaxe/miner/source/pool/pool-works.js';

it('any line is a message, or none', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (line) => void parseMessage(line)));
});

it('any value is an answer to subscribe, a call or a complaint, or is refused in words', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      for (const parsed of [parseSubscription(one), parseSubscription([one, other]), parseNonce1(one, other)]) {
        if (typeof parsed === 'string') expect(parsed).not.toBe('');
        else expect(parsed.value).toBeLessThan(2 ** (8 * parsed.bytes));
      }
      parseNotice([one, other]);
      const { port = 1, waitMs } = parseReconnect([one, other, one]);
      expect(port).toBeGreaterThan(0);
      expect(waitMs).toBeGreaterThanOrEqual(0);
      expect(typeof complaintOf(one).text).toBe('string');
      expect(OUTCOMES).toContain(verdictOf({ result: one, error: other || undefined }).outcome);
    }),
  );
});

it('client.reconnect may leave out host and port', () => {
  expect(parseReconnect([])).toEqual({ waitMs: 0 });
  expect(parseReconnect(['', 0, 5])).toEqual({ waitMs: 5_000 });
  expect(parseReconnect(['pool.example', '3333', -1])).toEqual({ host: 'pool.example', port: 3333, waitMs: 0 });
  expect(parseReconnect([null, 3.5, 'soon'])).toEqual({ waitMs: 0 });
  expect(parseReconnect([null, 3.5, '5'])).toEqual({ waitMs: 0 });
});

it.each([
  ['', 8, { value: 0, bytes: 0 }],
  ['0102', undefined, { value: 0x102, bytes: 2 }],
  ['0102', null, { value: 0x102, bytes: 2 }],
  ['0x0102', 6, { value: 0x102, bytes: 2 }],
  ['102', 6, { value: 0x102, bytes: 2 }],
  ['2', 5, { value: 2, bytes: 3 }],
  ['01020304', 4, { value: 0x1020304, bytes: 4 }],
  ['01020304', 3, 'it fixes 5 bytes of the nonce (nonce1), but at most 4 of its 8 may be fixed'],
  ['0102', 0, 'it fixes 8 bytes of the nonce (nonce1), but at most 4 of its 8 may be fixed'],
  ['0102', 7, 'it gives a nonce1 of 2 bytes and leaves 7 to the miner: together they must be 8'],
  ['', 7, 'it gives a nonce1 of 0 bytes and leaves 7 to the miner: together they must be 8'],
  ['0102', -1, 'its size of nonce2 is no number of bytes'],
  ['0102', 9, 'its size of nonce2 is no number of bytes'],
  ['0102', 5.5, 'its size of nonce2 is no number of bytes'],
  ['0102', '6', 'its size of nonce2 is no number of bytes'],
  ['01g2', 6, 'its nonce1 is no number in hex digits'],
  [258, 6, 'its nonce1 is no number in hex digits'],
])('a nonce1 %j that leaves %j bytes to the miner: %j', (hex, size, expected) => {
  const nonce1 = parseNonce1(hex, size);
  if (typeof expected === 'string') expect(nonce1).toContain(expected);
  else expect(nonce1).toEqual(expected);
});

it.each([
  ['no such job', { code: undefined, text: 'no such job' }],
  [[21, 'no such job', null], { code: 21, text: 'no such job' }],
  [
    { code: 21, message: 'no such job' },
    { code: 21, text: 'no such job' },
  ],
  [['21', 7], { code: undefined, text: '' }],
  [21, { code: undefined, text: '' }],
  [true, { code: undefined, text: '' }],
  [null, { code: undefined, text: '' }],
])('the complaint %j is read', (error, expected) => {
  expect(complaintOf(error)).toEqual(expected);
});

it.each([
  [0, undefined],
  [1, 1],
  ['65535', 65_535],
  [65_535, 65_535],
  [65_536, undefined],
])('client.reconnect with the port %j leads to %j', (port, expected) => {
  expect(parseReconnect(['pool.example', port]).port).toBe(expected);
});

it.each([
  ['a', true],
  ['job-27', true],
  ['j'.repeat(128), true],
  ['j'.repeat(129), false],
  ['', false],
  [7, true],
  [null, false],
])('a job named %j can be used: %j', (name, isUsed) => {
  const notice = parseNotice([name, 'ab', true, 'more']);
  expect(notice).toEqual(isUsed ? { job: name, header: 'ab', clean: true } : undefined);
});

it.each([
  ['h'.repeat(4_096), [], undefined],
  ['h'.repeat(4_096), [false], false],
  ['h'.repeat(4_096), ['true'], undefined],
])('a job’s header may be long, and what follows it may be a flag', (header, more, clean) => {
  expect(parseNotice(['a', header, ...more])).toEqual({ job: 'a', header, clean });
  expect(parseNotice(['a', `${header}h`, ...more])).toBeUndefined();
});
