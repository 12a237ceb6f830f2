/** How much of a parent is read. The clock and the timers are the test's. */

import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { MOST_READ, ParentConnection } from '#pickaxe/miner/source/parent/connection.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { makeHeader, ParentInput } from './parent.ts';

const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => Date.now() };
const JOB = Buffer.from(
  `${JSON.stringify({ type: 'job', id: 'j'.repeat(64), header: toHex(makeHeader()), target: 'f'.repeat(64), clean: true })}\n`,
);

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

function connect() {
  const input = new ParentInput();
  const recorded = { requests: 0, floods: 0 };
  const hooks = {
    request: () => {
      recorded.requests++;
    },
    flooded: () => {
      recorded.floods++;
    },
    inputEnded: () => {},
    closed: () => {},
  };
  const streams = { input: input.asReadable, output: new PassThrough().resume(), end: () => {} };
  new ParentConnection(streams, hooks, clock).listen();
  return { input, recorded, receive: (chunk: Buffer) => input.emit('data', chunk) };
}

it('4,000 jobs at once, and 1,000 a second, are read as they come', () => {
  const { input, recorded, receive } = connect();
  for (let i = 0; i < 4_000; i++) receive(JOB);
  expect([input.isPaused, recorded.requests]).toEqual([false, 4_000]);
  vi.advanceTimersByTime(4_000);
  for (let i = 0; i < 20_000; i++) {
    receive(JOB);
    vi.advanceTimersByTime(1);
  }
  expect(recorded).toEqual({ requests: 24_000, floods: 0 });
});

it.each([
  ['empty lines', Buffer.from('\n'.repeat(10_000)), 100 * 10_000],
  ['jobs', Buffer.concat(Array(50).fill(JOB)), 50 * (JOB.length + 100)],
  ['lines that are too long', Buffer.from('x'.repeat(65_536)), 65_536],
])('of a flood of %s so much is read as may be, and it goes on', (_, chunk, cost) => {
  const { input, recorded, receive } = connect();
  const most = MOST_READ.bytes + 60 * MOST_READ.bytesPerSecond;
  let chunks = 0;
  for (let ms = 0; ms < 60_000; ms += 10) {
    for (; !input.isPaused && chunks * cost <= 2 * most; chunks++) receive(chunk);
    vi.advanceTimersByTime(10);
  }
  // The chunk that is one too many is read, and paid for afterwards.
  expect(chunks * cost).toBeLessThanOrEqual(most + cost);
  expect(chunks * cost).toBeGreaterThan(0.8 * most);
  expect(recorded.floods).toBe(1);
});
