/** What a miner gets and a pool is answered by each message of the pool, in each state of the connection. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { PoolSession } from '#pickaxe/miner/source/pool/client-session.js';
import { PoolHealth } from '#pickaxe/miner/source/pool/pool-health.js';
import { poolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';
import { PoolError } from '#pickaxe/miner/source/pool/pool-messages.js';
import { AUTHORIZED, FakeSocket, jobLine, makeHeader, SUBSCRIBED, targetLine, USER } from './pool.ts';

const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => Date.now() };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

class Stage {
  readonly socket = new FakeSocket();
  readonly seen: string[] = [];
  readonly #session: PoolSession;
  #ended: Promise<unknown>;

  constructor() {
    this.#session = new PoolSession(this.socket.asSocket, {
      address: { host: 'pool.example', port: 3333, tls: false, url: 'stratum+tcp://pool.example:3333' },
      account: { user: USER, password: 'x' },
      userAgent: 'pickaxe/test',
      allowReconnect: false,
      clock,
      limits: poolLimits,
      health: new PoolHealth(
        clock,
        () => 1,
        poolLimits,
        () => {},
      ),
      onWork: ({ nonce1 }) => void this.seen.push(nonce1.value === 0x09e8 ? 'work' : 'work with another nonce1'),
      onStale: (_, reason) => void this.seen.push(`stale: ${reason}`),
      onNote: (state) => void this.seen.push(state),
    });
    this.#ended = this.#session.run().then(({ fault }) => this.seen.push(`end: ${fault}`));
  }

  /** @returns what is seen by a message, in words */
  async after(...lines: readonly string[]): Promise<string> {
    const { length } = this.seen;
    const { length: written } = this.socket.written;
    this.socket.receives(...lines);
    await vi.advanceTimersByTimeAsync(0);
    const answers = this.socket.written.slice(written).map((line) => (JSON.parse(line).error ? 'no' : 'answer'));
    return [...this.seen.slice(length), ...answers].join(', ') || '-';
  }

  async end(): Promise<void> {
    this.#session.end(new PoolError('intended', 'the test ends.'));
    await this.#ended;
  }
}

const call = (method: string, params: unknown, id: unknown = null) => `< ${JSON.stringify({ id, method, params })}`;
const JOB = jobLine('1', makeHeader(), 'true');

/** What the pool has sent before. */
const STATES: Record<string, readonly string[]> = {
  connected: [],
  subscribed: [SUBSCRIBED],
  authorized: [AUTHORIZED],
  'both, no job': [SUBSCRIBED, AUTHORIZED],
  'job, not authorized': [SUBSCRIBED, targetLine(64), JOB],
  'job, no nonce1': [AUTHORIZED, targetLine(64), JOB],
  'a difficulty, no target': [SUBSCRIBED, AUTHORIZED, call('mining.set_difficulty', [1])],
  mining: [SUBSCRIBED, AUTHORIZED, targetLine(64), JOB],
  'mining a second job': [
    SUBSCRIBED,
    AUTHORIZED,
    targetLine(64),
    JOB,
    jobLine('3', makeHeader({ payload: 11 }), 'false'),
  ],
};

const MESSAGES: Record<string, string> = {
  'subscribe: taken': SUBSCRIBED,
  'subscribe: refused': '< {"id":1,"result":null,"error":[20,"no",null]}',
  'subscribe: unusable': '< {"id":1,"result":[null],"error":null}',
  'authorize: taken': AUTHORIZED,
  'authorize: false': '< {"id":2,"result":false,"error":null}',
  'authorize: null': '< {"id":2,"result":null,"error":null}',
  'authorize: error': '< {"id":2,"result":true,"error":[24,"no",null]}',
  'the first job': JOB,
  'a clean job': jobLine('2', makeHeader({ payload: 10 }), 'true'),
  'another job': jobLine('2', makeHeader({ payload: 10 }), 'false'),
  'a job on another parent': jobLine('2', makeHeader({ parent: 2 })),
  'no job': call('mining.notify', ['1', 'xyz']),
  'an easier target': targetLine(32),
  'a harder target': targetLine(128),
  'no target': call('mining.set_target', ['xyz']),
  'a difficulty': call('mining.set_difficulty', [1]),
  'a nonce1': call('mining.set_extranonce', ['0102', 6]),
  'no nonce1': call('mining.set_extranonce', ['xyz', 6]),
  'an empty nonce1 without a size': call('mining.set_extranonce', ['']),
  'a nonce1 of five bytes': call('mining.set_extranonce', ['0102030405', 3]),
  'reconnect here': call('client.reconnect', []),
  'reconnect elsewhere': call('client.reconnect', ['other.example', 3333]),
  'a message': call('client.show_message', ['hello']),
  'a question': call('client.get_version', [], 7),
  'an unknown question': call('client.what', [], 7),
  'an unknown notification': call('client.what', []),
  'a stray complaint': '< {"id":99,"result":null,"error":[20,"a complaint",null]}',
  'a stray answer': '< {"id":null,"result":true,"error":null}',
  'no message': '< hello',
  nothing: '< ',
};

/** By message: what is seen in each of the states above, in their order. */
const TABLE: [message: string, ...cells: string[]][] = [
  ['subscribe: taken', '-', '-', '-', '-', '-', 'work', '-', '-', '-'],
  ['subscribe: refused', 'end: refused', '-', 'end: refused', '-', '-', 'end: refused', '-', '-', '-'],
  ['subscribe: unusable', 'end: refused', '-', 'end: refused', '-', '-', 'end: refused', '-', '-', '-'],
  ['authorize: taken', '-', '-', '-', '-', 'work', '-', '-', '-', '-'],
  ['authorize: false', 'end: refused', 'end: refused', '-', '-', 'end: refused', '-', '-', '-', '-'],
  ['authorize: null', '-', '-', '-', '-', 'work', '-', '-', '-', '-'],
  ['authorize: error', 'end: refused', 'end: refused', '-', '-', 'end: refused', '-', '-', '-', '-'],
  ['the first job', '-', '-', '-', 'work', '-', '-', 'end: refused', '-', 'stale: cancelled, work'],
  ['a clean job', '-', '-', '-', 'work', '-', '-', 'end: refused', 'stale: cancelled, work', 'stale: cancelled, work'],
  ['another job', '-', '-', '-', 'work', '-', '-', 'end: refused', 'work', 'work'],
  [
    'a job on another parent',
    '-',
    '-',
    '-',
    'work',
    '-',
    '-',
    'end: refused',
    'stale: new-cut, work',
    'stale: new-cut, work',
  ],
  [
    'no job',
    'end: refused',
    'end: refused',
    'end: refused',
    'end: refused',
    'warning',
    'warning',
    'end: refused',
    'warning',
    'warning',
  ],
  ['an easier target', '-', '-', '-', '-', '-', '-', '-', '-', '-'],
  ['a harder target', '-', '-', '-', '-', '-', '-', '-', 'work', 'work'],
  [
    'no target',
    'end: refused',
    'end: refused',
    'end: refused',
    'end: refused',
    'warning',
    'warning',
    'end: refused',
    'warning',
    'warning',
  ],
  ['a difficulty', '-', '-', '-', '-', 'info', 'info', '-', 'info', 'info'],
  ['a nonce1', '-', '-', '-', '-', '-', 'work with another nonce1', '-', '-', '-'],
  [
    'no nonce1',
    'end: refused',
    'warning',
    'end: refused',
    'warning',
    'warning',
    'end: refused',
    'warning',
    'warning',
    'warning',
  ],
  [
    'an empty nonce1 without a size',
    'end: refused',
    'warning',
    'end: refused',
    'warning',
    'warning',
    'end: refused',
    'warning',
    'warning',
    'warning',
  ],
  [
    'a nonce1 of five bytes',
    'end: refused',
    'end: refused',
    'end: refused',
    'end: refused',
    'end: refused',
    'end: refused',
    'end: refused',
    'stale: expired, end: refused',
    'stale: expired, end: refused',
  ],
  [
    'reconnect here',
    'end: intended',
    'end: intended',
    'end: intended',
    'end: intended',
    'end: intended',
    'end: intended',
    'end: intended',
    'stale: expired, end: intended',
    'stale: expired, end: intended',
  ],
  [
    'reconnect elsewhere',
    'warning',
    'warning',
    'warning',
    'warning',
    'warning',
    'warning',
    'warning',
    'warning',
    'warning',
  ],
  ['a message', 'info', 'info', 'info', 'info', 'info', 'info', 'info', 'info', 'info'],
  ['a question', 'answer', 'answer', 'answer', 'answer', 'answer', 'answer', 'answer', 'answer', 'answer'],
  ['an unknown question', 'no', 'no', 'no', 'no', 'no', 'no', 'no', 'no', 'no'],
  ['an unknown notification', '-', '-', '-', '-', '-', '-', '-', '-', '-'],
  ['a stray complaint', 'info', 'info', 'info', 'info', 'info', 'info', 'info', 'info', 'info'],
  ['a stray answer', '-', '-', '-', '-', '-', '-', '-', '-', '-'],
  [
    'no message',
    'end: refused',
    'warning',
    'warning',
    'warning',
    'warning',
    'warning',
    'warning',
    'warning',
    'warning',
  ],
  ['nothing', '-', '-', '-', '-', '-', '-', '-', '-', '-'],
];

describe('a pool', () => {
  it.each(TABLE)('that sends “%s” gets and causes what the connection’s state calls for', async (message, ...cells) => {
    const seen: Record<string, string> = {};
    for (const [state, before] of Object.entries(STATES)) {
      const stage = new Stage();
      stage.socket.receives(...before);
      seen[state] = await stage.after(MESSAGES[message]);
      await stage.end();
    }
    expect(Object.values(seen), JSON.stringify(seen)).toEqual(cells);
  });

  it('sends nothing that is missing in this table', () => {
    expect(TABLE.map(([message]) => message)).toEqual(Object.keys(MESSAGES));
  });
});
