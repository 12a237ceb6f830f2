/** How long a pool is waited for, by default. The connections are in memory, and the timers are the test's. */

import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { PoolError, type PoolFault } from '#pickaxe/miner/source/pool/pool-messages.js';
import { PoolSource, type PoolSourceOptions } from '#pickaxe/miner/source/pool/pool-source.js';
import type { SourceUpdate, Verdict } from '#pickaxe/miner/source/source.js';
import { Recorder } from '../../../fakes.ts';
import { mine } from '../follow.ts';
import { AUTHORIZED, FakeSocket, jobLine, makeHeader, SUBSCRIBED, targetLine, USER } from './pool.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const CLOSED = 'the pool closed the connection.';

/** A pool of which the test gives every line. */
class Stage {
  readonly sockets: FakeSocket[] = [];
  /** The URL and the options of each connection. */
  readonly asked: [string, number, boolean][] = [];
  readonly updates: SourceUpdate[] = [];
  readonly recorder = new Recorder();
  readonly source: PoolSource;
  /** What each connection waits for. */
  opening: Promise<void> = Promise.resolve();
  /** Fails the next connections. */
  readonly refusals: Error[] = [];
  address = '127.0.0.1';
  #ending = new AbortController();
  #following: Promise<void>;
  #jobs = 0;

  constructor(options: Partial<PoolSourceOptions> = {}) {
    const clock = {
      ...systemClock,
      // The watch for suspensions compares real time with that of the test, so it must never begin.
      setInterval: (act: () => void) => systemClock.setInterval(act, 2 ** 31 - 1),
      monotonicMs: () => Date.now(),
    };
    this.source = new PoolSource(
      { url: 'stratum+tcp://pool.example:3333', user: USER, password: 'x', ...options },
      {
        clock,
        random: () => 1,
        emit: this.recorder.listen,
        openConnection: async ({ url }, { timeoutMs, mustBePublic }) => {
          this.asked.push([url, timeoutMs, mustBePublic]);
          await this.opening;
          const refusal = this.refusals.shift();
          if (refusal) throw refusal;
          const socket = new FakeSocket();
          socket.remoteAddress = this.address;
          this.sockets.push(socket);
          return socket.asSocket;
        },
      },
    );
    this.#following = this.#follow();
    onTestFinished(() => this.stop());
  }

  get socket(): FakeSocket {
    return this.sockets.at(-1)!;
  }

  get work() {
    return this.updates.flatMap((update) => (update.kind === 'work' ? [update.work] : [])).at(-1)!;
  }

  get told(): string[] {
    return this.recorder.of('source').map(({ state, reason }) => `${state}: ${reason}`);
  }

  async #follow(): Promise<void> {
    await this.source.follow((update) => this.updates.push(update), this.#ending.signal);
  }

  /** Asks the source to end. @returns when it has ended */
  end(): Promise<void> {
    this.#ending.abort();
    return this.#following;
  }

  async stop(): Promise<void> {
    const ended = this.end();
    await pass(3_000);
    await ended;
  }

  async restart(): Promise<void> {
    await this.stop();
    this.#ending = new AbortController();
    this.#following = this.#follow();
    await pass(0);
  }

  async receives(...lines: string[]): Promise<void> {
    this.socket.receives(...lines);
    await pass(0);
  }

  /** The pool takes the miner and gives work. */
  async mines(): Promise<void> {
    await this.receives(SUBSCRIBED, AUTHORIZED, targetLine(64));
    await this.job();
  }

  job(): Promise<void> {
    return this.receives(jobLine(`${++this.#jobs}`, makeHeader({ payload: this.#jobs }), 'false'));
  }

  /** The connection ends. */
  async breaks(): Promise<void> {
    this.socket.emit('close');
    await pass(0);
  }

  submit(lane = 0, stop = new AbortController().signal): Promise<Verdict> {
    return this.source.submit(mine(this.work, lane), stop);
  }
}

async function stage(options: Partial<PoolSourceOptions> = {}): Promise<Stage> {
  const made = new Stage(options);
  await pass(0);
  return made;
}

describe('by default', () => {
  it('a pool has five seconds to accept the connection, and ten to answer', async () => {
    const pool = await stage();
    expect(pool.asked).toEqual([['stratum+tcp://pool.example:3333', 5_000, false]]);
    await pass(9_999);
    expect(pool.told).toEqual([]);
    await pass(1);
    expect(pool.told).toEqual(['lost: the pool did not answer in time. Is it a pool of this network?']);
  });

  it('a pool that does not say whether it accepts the user is mined on after ten seconds', async () => {
    const pool = await stage();
    await pool.receives(SUBSCRIBED, targetLine(64));
    await pool.job();
    await pass(9_999);
    expect(pool.updates).toEqual([]);
    await pass(1);
    expect(pool.updates.map(({ kind }) => kind)).toEqual(['work']);
    expect(pool.told).toEqual([
      'info: the pool does not say whether it accepts the user: mining goes on',
      'connected: the pool gives work',
    ]);
    expect(pool.recorder.of('fetch')).toMatchObject([{ latencySeconds: 10 }]);
  });

  it('the only pool is left after three minutes without a job, and connected to again after half a second', async () => {
    const pool = await stage();
    await pool.mines();
    await pass(179_999);
    await pool.job();
    await pass(179_999);
    expect(pool.updates.filter(({ kind }) => kind === 'lost')).toEqual([]);
    await pass(1);
    expect(pool.updates.at(-1)).toEqual({ kind: 'lost', reason: 'the pool has sent no job for 180 s.' });
    await pass(499);
    expect(pool.sockets).toHaveLength(1);
    await pass(1);
    expect(pool.sockets).toHaveLength(2);
  });

  it('a share has thirty seconds, and three after the end', async () => {
    const pool = await stage();
    await pool.mines();
    const verdicts: Verdict[] = [];
    const stopping = new AbortController();
    void pool.submit(0).then((verdict) => verdicts.push(verdict));
    await pass(29_999);
    expect(verdicts).toEqual([]);
    await pass(1);
    expect(verdicts).toEqual([{ outcome: 'unknown', reason: 'the pool did not answer in time' }]);
    void pool.submit(1, stopping.signal).then((verdict) => verdicts.push(verdict));
    stopping.abort();
    await pass(2_999);
    expect(verdicts).toHaveLength(1);
    await pass(1);
    expect(verdicts).toHaveLength(2);
  });

  it('a source that ends waits three seconds for the answers to its shares, and no longer than for the last', async () => {
    for (const isAnswered of [true, false]) {
      const pool = await stage();
      await pool.mines();
      const verdict = pool.submit();
      let hasEnded = false;
      const ended = pool.end().then(() => {
        hasEnded = true;
      });
      await pass(0);
      expect(pool.socket.destroyed).toBe(false);
      if (isAnswered) await pool.receives('{"id":3,"result":true,"error":null}');
      else await pass(2_999);
      expect(pool.socket.destroyed).toBe(isAnswered);
      await pass(1);
      expect(pool.socket.destroyed).toBe(true);
      await pass(3_000);
      await ended;
      expect([hasEnded, (await verdict).outcome]).toEqual([true, isAnswered ? 'accepted' : 'unknown']);
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a pool that once answered does not answer if it is silent for five seconds after a share', async () => {
    const pool = await stage();
    expect(await pool.source.answers()).toBe(true);
    await pool.mines();
    void pool.submit(0);
    await pool.receives('{"id":3,"result":true,"error":null}');
    void pool.submit(1);
    await pass(4_999);
    expect(await pool.source.answers()).toBe(true);
    await pass(1);
    expect(await pool.source.answers()).toBe(false);
    await pool.breaks();
    expect(await pool.source.answers()).toBe(true);
  });
});

describe('the pauses after a connection', () => {
  /** The times of the connections that follow when each one ends at once, in ms from one to the next. */
  async function pausesOf(pool: Stage, count: number): Promise<number[]> {
    const pauses: number[] = [];
    for (let i = 0; i < count; i++) {
      const { length } = pool.asked;
      await pool.breaks();
      let ms = 0;
      const steps = [500, 1_000, 2_000, 4_000, 5_000, 8_000, 10_000, 16_000, 20_000, 40_000, 80_000, 160_000, 300_000];
      for (const step of steps) {
        await pass(step - ms - 1);
        expect(pool.asked).toHaveLength(length);
        await pass(1);
        ms = step;
        if (pool.asked.length > length) break;
      }
      pauses.push(ms);
    }
    return pauses;
  }

  it('that broke grow from half a second to ten, and begin anew after ten seconds of work', async () => {
    const pool = await stage();
    const GROWN = [500, 1_000, 2_000, 4_000, 8_000, ...Array<number>(8).fill(10_000)];
    const pauses: number[] = [];
    for (let i = 0; i < GROWN.length; i++) {
      // After a message, the end of the connection is no refusal.
      await pool.receives(SUBSCRIBED, AUTHORIZED);
      pauses.push(...(await pausesOf(pool, 1)));
    }
    expect(pauses).toEqual(GROWN);
    await pool.mines();
    await pass(9_999);
    expect(await pausesOf(pool, 1)).toEqual([10_000]);
    await pool.mines();
    await pass(10_000);
    expect(await pausesOf(pool, 1)).toEqual([500]);
    // The time before the first work does not count.
    await pool.receives(SUBSCRIBED, AUTHORIZED);
    await pass(20_000);
    await pool.job();
    expect(await pausesOf(pool, 1)).toEqual([1_000]);
  });

  it('that the pool refuses grow from five seconds to five minutes, and begin anew after ten minutes of work', async () => {
    const pool = await stage();
    const GROWN = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000];
    // A connection that ends without a word is refused.
    expect(await pausesOf(pool, GROWN.length)).toEqual(GROWN);
    const mines = async (ms: number) => {
      await pool.mines();
      for (let passed = 0; passed < ms; passed += 100_000) {
        await pass(Math.min(100_000, ms - passed));
        await pool.job();
      }
      await pool.receives('{"id":null,"method":"mining.set_extranonce","params":["0102030405",3]}');
    };
    await mines(599_999);
    expect(await pausesOf(pool, 1)).toEqual([300_000]);
    await mines(600_000);
    expect(await pausesOf(pool, 1)).toEqual([5_000]);
  });

  it('that cannot be opened are those of the fault', async () => {
    const pool = await stage();
    const error = (fault: PoolFault) => new PoolError(fault, `${fault}.`);
    pool.refusals.push(error('network'), error('refused'), error('network'));
    await pool.receives(SUBSCRIBED);
    await pool.breaks();
    await pass(500);
    expect([pool.asked.length, pool.told]).toEqual([2, [`lost: ${CLOSED}`, 'lost: network.']]);
    await pass(1_000);
    expect([pool.asked.length, pool.told.at(-1)]).toEqual([3, 'lost: refused.']);
    await pass(4_999);
    expect(pool.asked).toHaveLength(3);
    await pass(1);
    expect(pool.asked).toHaveLength(4);
    // It is lost once, whatever the reasons are.
    expect(pool.updates).toEqual([{ kind: 'lost', reason: CLOSED }]);
  });

  it('that has ended leaves no listener that waits for the end of the source', async () => {
    const pool = await stage();
    const added = vi.spyOn(EventTarget.prototype, 'addEventListener');
    const removed = vi.spyOn(EventTarget.prototype, 'removeEventListener');
    onTestFinished(() => void vi.restoreAllMocks());
    const left: number[] = [];
    for (let count = 0; count < 4; count++) {
      await pool.receives(SUBSCRIBED);
      await pool.breaks();
      await pass(2_000);
      left.push(added.mock.calls.length - removed.mock.calls.length);
    }
    expect([pool.asked.length, new Set(left).size]).toEqual([4, 1]);
  });

  it('that the pool asks to have anew is what it asks for, up to a minute, and its place is kept for one connection', async () => {
    const pool = await stage({ allowReconnect: true });
    const reconnect = (...params: unknown[]) => JSON.stringify({ id: null, method: 'client.reconnect', params });
    await pool.receives(SUBSCRIBED, reconnect('other.example', 4444, 7));
    expect(pool.told).toEqual(['lost: the pool asks to connect to stratum+tcp://other.example:4444.']);
    await pass(6_999);
    expect(pool.asked).toHaveLength(1);
    await pass(1);
    expect(pool.asked.at(-1)).toEqual(['stratum+tcp://other.example:4444', 5_000, false]);
    await pool.receives(SUBSCRIBED, reconnect('', 0, 61));
    expect(pool.told.at(-1)).toBe('lost: the pool asks to connect again.');
    await pass(59_999);
    expect(pool.asked).toHaveLength(2);
    await pass(1);
    expect(pool.asked.at(-1)).toEqual(['stratum+tcp://other.example:4444', 5_000, false]);
    await pool.receives(SUBSCRIBED);
    await pool.breaks();
    await pass(2_000);
    expect(pool.asked.at(-1)).toEqual(['stratum+tcp://pool.example:3333', 5_000, false]);
  });
});

describe('where a pool may lead', () => {
  const NOWHERE = 'warning: the pool asks to connect to another host';
  it.each([
    ['198.51.100.1', true, 'other.example', true, undefined],
    ['198.51.100.1', true, '192.168.0.7', undefined, ': a pool of the Internet cannot lead into a private network'],
    ['198.51.100.1', true, 'POOL.example', true, undefined],
    ['192.168.0.1', true, '192.168.0.7', false, undefined],
    ['192.168.0.1', true, 'other.example', false, undefined],
    [
      '198.51.100.1',
      false,
      'other.example',
      undefined,
      '. To allow such requests: --pool-allow-reconnect (pool.allow-reconnect)',
    ],
    ['198.51.100.1', false, 'pool.example', true, undefined],
  ])('from %s (allowed: %s) to %s: %s', async (remoteAddress, allowReconnect, host, mustBePublic, refusal) => {
    const pool = await stage({ allowReconnect });
    pool.address = remoteAddress;
    await pool.breaks();
    await pass(5_000);
    await pool.receives(SUBSCRIBED);
    const line = `{"id":null,"method":"client.reconnect","params":["${host}",3333]}`;
    await pool.receives(line, line);
    await pass(5_000);
    const where = `stratum+tcp://${host.toLowerCase()}:3333`;
    const warnings = pool.told.filter((told) => told.startsWith('warning'));
    expect(pool.asked[2]).toEqual(refusal === undefined ? [where, 5_000, mustBePublic] : undefined);
    expect(warnings).toEqual(refusal === undefined ? [] : [`${NOWHERE}, ${where}, which is refused${refusal}`]);
  });
});

it.each([
  ['no', true, true],
  ['no', false, true],
  ['stale', true, true],
  ['stale', false, false],
])(
  'a pool that answers all shares with “%s” (of its latest job: %s) is connected to again, and unhealthy then: %s',
  async (text, isCurrent, isHeldAgainst) => {
    const pool = await stage();
    const told: string[] = [];
    for (const _ of ['a first session', 'a second one']) {
      await pool.mines();
      for (let i = 0; i < 12 && !pool.socket.destroyed; i++) {
        await pass(500);
        const verdict = pool.submit(i);
        const { id } = JSON.parse(pool.socket.written.at(-1)!);
        if (!isCurrent) await pool.job();
        await pool.receives(`{"id":${id},"result":null,"error":[20,"${text}",null]}`);
        expect((await verdict).outcome).toBe(text === 'no' ? 'rejected' : 'stale');
      }
      told.push(pool.told.at(-1)!.split(':')[0]);
      await pass(500);
    }
    expect(told).toEqual(isHeldAgainst ? ['lost', 'unhealthy'] : ['connected', 'connected']);
    expect(pool.sockets).toHaveLength(isHeldAgainst ? 2 : 1);
  },
);

it('a source has the name and the kind that it was given, gives no time, and knows only its own works', async () => {
  const pool = await stage({ name: 'my pool' });
  await pool.mines();
  expect([pool.source.name, pool.source.kind]).toEqual(['my pool', 'pool']);
  expect(pool.source.latestTimeUs(pool.work)).toBe(1_700_000_000_000_000n);
  const other = await stage();
  expect(other.source.name).toBe('stratum+tcp://pool.example:3333');
  expect(await other.source.submit(mine(pool.work), new AbortController().signal)).toEqual({
    outcome: 'unknown',
    reason: 'this pool did not give this work',
  });
  expect(() => new PoolSource({ url: 'http://pool.example', user: USER, password: 'x' })).toThrow('is not a pool URL');
});

it('a source that is followed again tells again that it is connected, and gives the latency of its first work only', async () => {
  const pool = await stage();
  for (let i = 1; i <= 2; i++) {
    await pass(250);
    await pool.mines();
    await pool.job();
    expect(pool.told).toEqual(Array(i).fill('connected: the pool gives work'));
    expect(pool.recorder.of('fetch')).toHaveLength(i);
    expect(pool.recorder.of('fetch')[i - 1]).toMatchObject({ latencySeconds: 0.25 });
    await pool.restart();
    expect(pool.sockets).toHaveLength(i + 1);
  }
});

describe('a session', () => {
  it.each([
    ['{"id":2,"result":false,"error":null}', '. Check'],
    ['{"id":2,"result":null,"error":[24,"go away",null]}', ' (“go away”). Check'],
  ])('whose user is refused (%s) says so', async (line, said) => {
    const pool = await stage();
    await pool.receives(SUBSCRIBED, line);
    expect(pool.told).toEqual([`lost: the pool does not accept the user ${USER}${said} --user (pool.user).`]);
  });

  it.each([
    ['{"id":1,"result":null,"error":[20,"full",null]}', ' (“full”).'],
    ['{"id":1,"result":null,"error":[20]}', '.'],
  ])('that is refused (%s) says so', async (line, said) => {
    const pool = await stage();
    await pool.receives(line);
    expect(pool.told).toEqual([`lost: the pool refuses miners${said}`]);
  });

  it.each([
    ['{"method":"client.get_version"}', ['{"id":null,"result":"pickaxe","error":null}']],
    ['{"id":0,"method":"client.get_version"}', ['{"id":0,"result":"pickaxe","error":null}']],
    ['{"method":"mining.dance"}', []],
    ['{"id":null,"method":"mining.dance"}', []],
    ['{"id":0,"method":"mining.dance"}', ['{"id":0,"result":null,"error":[-3,"method not found",null]}']],
  ])('answers %s with %j', async (line, answers) => {
    const pool = await stage();
    await pool.receives(line);
    expect(pool.socket.written.slice(2)).toEqual(answers);
  });

  it.each([
    ['{"method":"mining.notify","params":[]}', 'a job, []'],
    ['{"method":"mining.notify","params":["1","00"]}', 'a job, ["1","00"]'],
    ['{"method":"mining.set_target","params":[7]}', 'a target, [7]'],
    ['{"method":"mining.set_target","params":[]}', 'a target, []'],
    ['{"method":"mining.set_extranonce","params":[7,6]}', 'a nonce1, [7,6]'],
    ['{"method":"mining.set_extranonce","params":[""]}', 'a nonce1, [""]'],
    ['{"method":"mining.set_extranonce","params":["0x"]}', 'a nonce1, ["0x"]'],
  ])('that mines skips %s', async (line, what) => {
    const pool = await stage();
    await pool.mines();
    await pool.receives(line);
    expect(pool.told.slice(1)).toEqual([`warning: the pool sent what cannot be read, which is skipped: ${what}.`]);
    const other = await stage();
    await other.receives(line);
    expect(other.told).toEqual([`lost: the pool sent ${what.replace(',', ' that cannot be read:')}`]);
  });

  it('takes an empty nonce1 with its size, and a number below 2^53 for a job, and no larger one', async () => {
    const pool = await stage();
    await pool.mines();
    await pool.receives('{"method":"mining.set_extranonce","params":["",8]}');
    await pool.job();
    expect(pool.work.nonce1).toEqual({ value: 0, bytes: 0 });
    const named = (name: number) => jobLine('x', makeHeader({ payload: 77 }), 'true').replace('"x"', `${name}`);
    await pool.receives(named(2 ** 53 - 1));
    expect(pool.updates.at(-1)).toMatchObject({ kind: 'work' });
    await pool.receives(named(2 ** 53));
    expect(pool.told.at(-1)).toContain('which JSON readers round');
  });

  it('tells of difficulties beside targets once, and mines on', async () => {
    const pool = await stage();
    await pool.mines();
    for (const difficulty of ['1', '2', '']) {
      await pool.receives(`{"method":"mining.set_difficulty","params":[${difficulty}]}`);
    }
    await pool.job();
    expect(pool.told.slice(1)).toEqual([
      'info: the pool also sends mining.set_difficulty (1): what counts is its mining.set_target',
    ]);
    expect(pool.updates.at(-1)!.kind).toBe('work');
    const other = await stage();
    await other.receives(SUBSCRIBED, AUTHORIZED, '{"method":"mining.set_difficulty","params":[]}');
    await other.job();
    expect(other.told.at(-1)).toContain('it sent mining.set_difficulty  and no target');
  });
});

it('an unhealthy pool is tried again only while its source is followed', async () => {
  const pool = await stage();
  const judged: (string | undefined)[] = [];
  pool.source.onHealth((fault) => judged.push(fault));
  await pool.mines();
  void pool.submit(0);
  await pool.receives('{"id":3,"result":true,"error":null}');
  const late = pool.submit(1);
  await pass(30_000);
  await late;
  expect(judged).toEqual(['answers shares no more']);
  await pool.stop();
  await pass(300_000);
  expect(judged).toHaveLength(1);
  await pool.restart();
  expect(judged).toEqual(['answers shares no more', undefined]);
  expect(pool.told.some((told) => told.startsWith('unhealthy'))).toBe(false);
});

it('a connection that opens only after the end is closed at once, and the end waits for it', async () => {
  const pool = await stage();
  let open = () => {};
  pool.opening = new Promise((resolve) => {
    open = resolve;
  });
  await pool.breaks();
  await pass(5_000);
  expect(pool.asked).toHaveLength(2);
  let hasEnded = false;
  const ended = pool.end().then(() => {
    hasEnded = true;
  });
  await pass(3_000);
  expect([pool.sockets.length, hasEnded]).toEqual([1, false]);
  open();
  await ended;
  expect(pool.sockets.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  expect(pool.updates.map(({ kind }) => kind)).toEqual(['lost']);
  expect(vi.getTimerCount()).toBe(0);
});
