/** What people are told of a difficulty that was suggested to a pool, by each reply. The clock is the test's. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { PoolSession } from '#pickaxe/miner/source/pool/client-session.js';
import { PoolHealth } from '#pickaxe/miner/source/pool/pool-health.js';
import { poolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';
import { PoolError } from '#pickaxe/miner/source/pool/pool-messages.js';
import { AUTHORIZED, FakeSocket, jobLine, makeHeader, SUBSCRIBED, targetLine, USER } from './pool.ts';

const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => Date.now() };
const { handshakeMs } = poolLimits;
const IN_VAIN = 'info: the pool does not say that it takes the suggested difficulty';
const SUGGEST = { id: 3, method: 'mining.suggest_difficulty', params: [2.5] };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A session that suggests a difficulty as soon as its user is accepted. */
function begin() {
  const socket = new FakeSocket();
  const told: string[] = [];
  const health = new PoolHealth(
    clock,
    () => 1,
    poolLimits,
    () => {},
  );
  const session = new PoolSession(socket.asSocket, {
    address: { host: 'pool.example', port: 3333, tls: false, url: 'stratum+tcp://pool.example:3333' },
    account: { user: USER, password: 'x' },
    userAgent: 'pickaxe/test',
    difficulty: 2.5,
    allowReconnect: false,
    clock,
    limits: poolLimits,
    health,
    onWork: () => {},
    onStale: () => {},
    onNote: (state, reason) => told.push(`${state}: ${reason}`),
  });
  const ended = session.run();
  const end = async () => {
    session.end(new PoolError('network', 'the test ends it.'));
    await ended;
  };
  return { socket, told, end, asked: () => socket.written.map((line) => JSON.parse(line)) };
}

describe('a suggested difficulty', () => {
  it.each<[reply: string, line: string | undefined, notes: string[]]>([
    ['yes', '{"id":3,"result":true,"error":null}', []],
    ['null, as many pools answer', '{"id":3,"result":null,"error":null}', []],
    ['no', '{"id":3,"result":false,"error":null}', [IN_VAIN]],
    ['an error', '{"id":3,"result":null,"error":[20,"unknown method",null]}', [IN_VAIN]],
    ['yes with an error', '{"id":3,"result":true,"error":[20,"unknown method",null]}', [IN_VAIN]],
    ['nothing', undefined, [IN_VAIN]],
  ])('that is answered with %s', async (_, line, notes) => {
    const { socket, told, end, asked } = begin();
    socket.receives(SUBSCRIBED, AUTHORIZED);
    expect(asked().at(-1)).toEqual(SUGGEST);
    if (line !== undefined) socket.receives(line);
    vi.advanceTimersByTime(handshakeMs - 1);
    expect(told).toEqual(line === undefined ? [] : notes);
    vi.advanceTimersByTime(1);
    expect(told).toEqual(notes);
    await end();
    expect(told).toEqual(notes);
  });

  it('whose answer is lost with the connection is not mentioned', async () => {
    const { socket, told, end } = begin();
    socket.receives(SUBSCRIBED, AUTHORIZED);
    await end();
    vi.advanceTimersByTime(handshakeMs);
    expect(told).toEqual([]);
  });

  it('is suggested to a pool that does not say whether it accepts the user, when the time for that is over', async () => {
    const { socket, told, end, asked } = begin();
    socket.receives(SUBSCRIBED);
    vi.advanceTimersByTime(handshakeMs - 1);
    expect(asked()).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(asked().at(-1)).toEqual(SUGGEST);
    expect(told).toEqual(['info: the pool does not say whether it accepts the user: mining goes on']);
    await end();
  });
});

it.each<[when: string, lines: string[]]>([
  ['before any answer', []],
  ['while its user is not accepted', [SUBSCRIBED]],
  ['while a suggestion waits for its answer', [SUBSCRIBED, AUTHORIZED]],
  ['while it is mined on', [SUBSCRIBED, AUTHORIZED, targetLine(64), jobLine('1', makeHeader(), 'true')]],
])('a connection that ends %s leaves no timer', async (_, lines) => {
  const { socket, end } = begin();
  socket.receives(...lines);
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  await end();
  expect(vi.getTimerCount()).toBe(0);
});
