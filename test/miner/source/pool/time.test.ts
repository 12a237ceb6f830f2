/** What a session with a pool does when time passes. Its clock and its timers are the test's. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { PoolSession } from '#pickaxe/miner/source/pool/client-session.js';
import { PoolHealth } from '#pickaxe/miner/source/pool/pool-health.js';
import { poolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';
import { PoolError, type PoolFault } from '#pickaxe/miner/source/pool/pool-messages.js';
import type { Verdict } from '#pickaxe/miner/source/source.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { mine } from '../follow.ts';
import { AUTHORIZED, FakeSocket, jobLine, makeHeader, SUBSCRIBED, targetLine, USER } from './pool.ts';

const { submitMs, submitAfterStopMs, silenceMs, noWorkMs } = poolLimits;
const NO_MORE = 'answers shares no more';
const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => Date.now() };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

class Rig {
  readonly works: Work[] = [];
  readonly unhealthy: string[] = [];
  ended: PoolError | undefined;
  readonly session: PoolSession;
  readonly #socket = new FakeSocket();
  readonly #stopping = new AbortController();
  #jobs = 0;

  /** Its pool has given work. @param health what is known of the pool from earlier connections */
  constructor(health?: PoolHealth) {
    const note = (fault: string | undefined) => void (fault !== undefined && this.unhealthy.push(fault));
    this.session = new PoolSession(this.#socket.asSocket, {
      address: { host: 'pool.example', port: 3333, tls: false, url: 'stratum+tcp://pool.example:3333' },
      account: { user: USER, password: 'x' },
      userAgent: 'pickaxe/test',
      allowReconnect: false,
      clock,
      limits: poolLimits,
      health: health ?? new PoolHealth(clock, () => 1, poolLimits, note),
      onWork: (work) => this.works.push(work),
      onStale: () => {},
      onNote: () => {},
    });
    void this.session.run().then((why) => {
      this.ended = why;
    });
    this.#socket.receives(SUBSCRIBED, AUTHORIZED, targetLine(64));
    this.job();
  }

  /** The pool sends another job. */
  job(): void {
    this.#socket.receives(jobLine(`${++this.#jobs}`, makeHeader({ payload: this.#jobs }), 'false'));
  }

  submit(): Promise<Verdict> {
    return this.session.shares.submit(mine(this.works[0], this.#socket.written.length), this.#stopping.signal);
  }

  /** The pool answers the newest share. */
  answer(): void {
    const { id } = JSON.parse(this.#socket.written.at(-1) ?? '');
    this.#socket.receives(`{"id":${id},"result":true,"error":null}`);
  }

  /** The pool refuses the newest share. */
  refuse(text: string): void {
    const { id } = JSON.parse(this.#socket.written.at(-1) ?? '');
    this.#socket.receives(`{"id":${id},"result":null,"error":[24,"${text}",null]}`);
  }

  /** The connection ends. */
  end(fault: PoolFault): void {
    this.session.end(new PoolError(fault, 'the test says so'));
  }

  /** The pool sends its client elsewhere. */
  reconnect(): void {
    this.#socket.receives('{"id":null,"method":"client.reconnect","params":[]}');
  }

  stop(): void {
    this.#stopping.abort();
  }

  async wait(ms: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
  }
}

it('a pool that sends jobs keeps its connection, and one that sends none for too long loses it', async () => {
  const rig = new Rig();
  for (let waitedMs = 0; waitedMs < 10 * noWorkMs; waitedMs += noWorkMs / 2) {
    rig.job();
    await rig.wait(noWorkMs / 2);
  }
  expect(rig.ended).toBeUndefined();
  await rig.wait(noWorkMs / 2);
  expect(rig.ended?.message).toBe('the pool has sent no job for 180 s.');
});

it('a pool that has answered all shares answers, however long there is nothing to say', async () => {
  const rig = new Rig();
  const verdict = rig.submit();
  rig.answer();
  expect((await verdict).outcome).toBe('accepted');
  await rig.wait(10 * silenceMs);
  expect(rig.session.shares.areAnswered()).toBe(true);
});

it('a pool that sends jobs while a share waits is not silent, until the share has waited for too long', async () => {
  const rig = new Rig();
  const answered = rig.submit();
  rig.answer();
  await answered;
  const late = rig.submit();
  for (let waitedMs = 0; waitedMs < submitMs - 1_000; waitedMs += 1_000) {
    rig.job();
    await rig.wait(1_000);
    expect([rig.session.shares.areAnswered(), rig.unhealthy]).toEqual([true, []]);
  }
  rig.job();
  await rig.wait(1_000);
  expect(await late).toEqual({ outcome: 'unknown', reason: 'the pool did not answer in time' });
  expect(rig.unhealthy).toEqual([NO_MORE]);
});

it('a pool that leaves a share unanswered and sends nothing is silent soon', async () => {
  const rig = new Rig();
  const answered = rig.submit();
  rig.answer();
  await answered;
  void rig.submit();
  await rig.wait(silenceMs - 1);
  expect(rig.session.shares.areAnswered()).toBe(true);
  await rig.wait(1);
  expect(rig.session.shares.areAnswered()).toBe(false);
});

it('a share that waits when pickaxe stops has little time left, and says nothing against the pool', async () => {
  const rig = new Rig();
  const answered = rig.submit();
  rig.answer();
  await answered;
  let verdict: Verdict | undefined;
  void rig.submit().then((each) => {
    verdict = each;
  });
  rig.stop();
  await rig.wait(submitAfterStopMs - 1);
  expect(verdict).toBeUndefined();
  await rig.wait(1);
  expect(verdict?.outcome).toBe('unknown');
  await rig.session.shares.settled();
  await rig.wait(submitMs);
  expect(rig.unhealthy).toEqual([]);
});

it.each<[string, (rig: Rig) => void, number]>([
  ['the network or the pool has ended', (rig) => rig.end('network'), 1],
  ['pickaxe has ended', (rig) => rig.end('intended'), 0],
  ['the pool has ended to be connected to anew', (rig) => rig.reconnect(), 0],
])('of connections with unanswered shares, those count against a pool that %s', async (_, end, faults) => {
  const told: string[] = [];
  const health = new PoolHealth(
    clock,
    () => 1,
    poolLimits,
    (fault) => void told.push(fault ?? ''),
  );
  health.sent()({ kind: 'accepted' });
  for (let i = 0; i < 3; i++) {
    const rig = new Rig(health);
    const verdict = rig.submit();
    end(rig);
    expect((await verdict).reason).toBe('the connection ended before the pool answered');
  }
  expect(told).toEqual(Array(faults).fill(NO_MORE));
});

it.each([
  ['You are banned', 'the test says so It said: “You are banned”', 'refused'],
  ['low difficulty', 'the test says so', 'network'],
])('a share that is refused with “%s” explains the end of its connection', async (text, message, fault) => {
  const rig = new Rig();
  const verdict = rig.submit();
  rig.refuse(text);
  expect(await verdict).toEqual({ outcome: 'rejected', reason: text });
  rig.end('network');
  await rig.wait(0);
  expect([rig.ended?.message, rig.ended?.fault]).toEqual([message, fault]);
});

it('a connection that ends before its answers has no times of them', async () => {
  const socket = new FakeSocket();
  const session = new PoolSession(socket.asSocket, {
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
    onWork: () => {},
    onStale: () => {},
    onNote: () => {},
  });
  const ended = session.run();
  socket.emit('close');
  await ended;
  expect(session.times).toEqual({});
  expect(vi.getTimerCount()).toBe(0);
});

it('the times of a connection count from its beginning, to the first event of each kind', async () => {
  const rig = new Rig();
  await rig.wait(1_000);
  rig.job();
  expect(rig.session.times).toEqual({ subscribedMs: 0, authorizedMs: 0, targetMs: 0, jobMs: 0 });
});
