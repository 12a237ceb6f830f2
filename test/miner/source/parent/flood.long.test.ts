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

/** @param onRequest called for each request */
function connect(onRequest: (connection: ParentConnection, output: PassThrough) => void = () => {}) {
  const input = new ParentInput();
  const output = new PassThrough().resume();
  const recorded = { requests: 0, floods: 0 };
  const hooks = {
    request: () => {
      recorded.requests++;
      onRequest(connection, output);
    },
    flooded: () => {
      recorded.floods++;
    },
    inputEnded: () => {},
    closed: () => {},
  };
  const streams = { input: input.asReadable, output, end: () => {} };
  const connection = new ParentConnection(streams, hooks, clock);
  connection.listen();
  return { input, output, connection, recorded, receive: (chunk: Buffer) => input.emit('data', chunk) };
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

it('what may be read at once, and what is added each second, is counted to the byte', () => {
  const { input, recorded, receive } = connect();
  const lines = Math.floor(MOST_READ.bytes / 101);
  receive(Buffer.from('\n'.repeat(lines)));
  receive(Buffer.from(' '.repeat(MOST_READ.bytes - 101 * lines)));
  expect(input.isPaused).toBe(false);
  receive(Buffer.from(' '));
  expect([input.isPaused, recorded.floods]).toEqual([true, 1]);
  vi.advanceTimersByTime(99);
  expect(input.isPaused).toBe(true);
  vi.advanceTimersByTime(1);
  expect(input.isPaused).toBe(false);
  vi.advanceTimersByTime(2_900);
  const most = 3 * MOST_READ.bytesPerSecond - 1;
  receive(Buffer.from(' '.repeat(most - 101 - 100)));
  // The line of spaces ends here.
  receive(Buffer.from('\n'));
  receive(Buffer.from(' '.repeat(100)));
  expect(input.isPaused).toBe(false);
  receive(Buffer.from(' '));
  expect([input.isPaused, recorded.floods]).toEqual([true, 1]);
});

const FLOOD = Buffer.concat([Buffer.from('\n'.repeat(60_000)), JOB]);

type End = (connection: ParentConnection, output: PassThrough) => void;
const ENDS: [string, End, number][] = [
  ['is ended', (connection) => connection.end(), 2],
  ['loses its reader', (_, output) => void output.emit('close'), 3],
];

it.each(ENDS)('a connection that %s in the midst of a flood waits for nothing', (_, end) => {
  const { input, recorded, receive } = connect(end);
  // This uses up what may be read at once.
  receive(Buffer.from('\n'.repeat(39_000)));
  receive(FLOOD);
  expect([recorded, input.isPaused, vi.getTimerCount()]).toEqual([{ requests: 1, floods: 0 }, false, 0]);
});

it.each(ENDS)('a connection that %s after a flood waits no longer', (_, end, requests) => {
  const { input, output, connection, recorded, receive } = connect();
  for (let i = 0; i < 2; i++) receive(FLOOD);
  expect([recorded, input.isPaused, vi.getTimerCount()]).toEqual([{ requests: 2, floods: 1 }, true, 1]);
  end(connection, output);
  expect(vi.getTimerCount()).toBe(0);
  // Once it is ended, what its parent still writes is not read.
  receive(JOB);
  expect(recorded.requests).toBe(requests);
});
