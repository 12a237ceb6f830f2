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
});
