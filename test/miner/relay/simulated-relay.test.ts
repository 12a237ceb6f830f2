import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import {
  assumeSolved,
  DelayPace,
  HashratePace,
  OnDemandPace,
  type Pace,
  SimulatedRelay,
} from '#pickaxe/miner/relay/simulated-relay.js';
import type { Verdict } from '#pickaxe/miner/source/source.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { difficultyOf } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { turns } from '../../turns.ts';
import { eventually } from '../source/follow.ts';

async function withRelay(
  pace: Pace,
  test: (world: { source: FakeSource; warnings: string[]; recorder: Recorder }) => Promise<void>,
): Promise<void> {
  const source = new FakeSource();
  const warnings: string[] = [];
  const recorder = new Recorder();
  const warn = (line: string) => warnings.push(line);
  const options = { pace, source, emit: recorder.listen, clock: systemClock, random: Math.random, warn };
  const relay = new SimulatedRelay(options);
  await relay.open();
  const stop = new AbortController();
  const ran = relay.run(stop.signal);
  try {
    await test({ source, warnings, recorder });
  } finally {
    stop.abort();
    await ran;
  }
}

/** Work that no machine solves. */
const hard = () => makeWork(1e60);
const chainsOf = ({ submitted }: FakeSource) => submitted.map(({ work }) => work.chain);

function onChain(chain: number): Work {
  return { ...hard(), chain };
}

describe('a simulated hasher', () => {
  it('submits work as solved, without proof of work', () =>
    withRelay(new DelayPace(0.02), async ({ source, recorder }) => {
      for (let i = 0; i < 3; i++) {
        const work = source.work(hard());
        await eventually(() => expect(source.submitted.at(-1)?.work).toBe(work));
      }
      expect(recorder.of('verdict').map(({ isRelay, isBlock }) => [isRelay, isBlock])).toEqual(
        Array(3).fill([true, true]),
      );
      expect(recorder.of('hashes')).toEqual([]);
    }));

  it('gives up work that is stale or replaced', () =>
    withRelay(new DelayPace(4), async ({ source }) => {
      source.work(hard());
      source.stale();
      source.work(hard());
      const last = source.work(hard());
      await eventually(() => expect(source.submitted.map(({ work }) => work)).toEqual([last]));
    }));

  it('never touches work of mainnet01, and says so once', () =>
    withRelay(new DelayPace(0.02), async ({ source, warnings }) => {
      for (let i = 0; i < 3; i++) {
        const work = hard();
        new DataView(work.header.buffer, work.header.byteOffset).setUint32(266, 5, true);
        source.work(work);
        await eventually(() => expect(warnings).toHaveLength(1));
      }
      const fine = source.work(hard());
      await eventually(() => expect(source.submitted.map(({ work }) => work)).toEqual([fine]));
      expect(warnings[0]).toContain('mainnet01');
    }));

  it('rests after a solution that was not accepted', () =>
    withRelay(new DelayPace(0.02), async ({ source, recorder }) => {
      source.verdict = () => ({ outcome: 'rejected', reason: 'Invalid POW hash' });
      source.work(hard());
      await eventually(() => expect(recorder.of('verdict')).toHaveLength(1));
      const [first] = source.submitted;
      source.work(hard());
      const last = source.work(hard());
      await eventually(() => expect(recorder.of('verdict')).toHaveLength(2));
      expect(source.submitted.map(({ work }) => work)).toEqual([first.work, last]);
    }));
});

describe('a simulated hasher whose works are solved when the test says so', () => {
  async function hasher() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    const solves = new Map<Work, () => void>();
    const begun: Work[] = [];
    const cancelled: Work[] = [];
    const pace: Pace = {
      what: 'as the test says',
      begin: (work, solve) => {
        begun.push(work);
        solves.set(work, solve);
        return () => void cancelled.push(work);
      },
    };
    const source = new FakeSource();
    const settle: ((verdict: Verdict) => void)[] = [];
    source.verdict = () => new Promise((resolve) => settle.push(resolve));
    const recorder = new Recorder();
    const warnings: string[] = [];
    const warn = (line: string) => void warnings.push(line);
    const options = { pace, source, emit: recorder.listen, clock: systemClock, random: () => 0.5, warn };
    const relay = new SimulatedRelay(options);
    await relay.open();
    const stop = new AbortController();
    const ran = relay.run(stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await ran;
      const timers = vi.getTimerCount();
      vi.useRealTimers();
      expect(timers).toBe(0);
    });
    return {
      source,
      begun,
      cancelled,
      warnings,
      told: () => recorder.of('relay').at(-1)?.workers[0],
      end: async () => {
        stop.abort();
        await ran;
      },
      give: async (work = hard()) => {
        source.work(work);
        await turns();
        return work;
      },
      solve: (work: Work) => solves.get(work)?.(),
      /** Gives the verdict on the first solution that has none. */
      judge: async (outcome: Verdict['outcome']) => {
        settle.shift()?.({ outcome, reason: '' });
        await turns();
      },
    };
  }

  it('submits any nonce of up to 53 bits, tells how it does, and takes its plan back at its end', async () => {
    const { source, cancelled, give, solve, judge, told, end } = await hasher();
    expect(told()).toMatchObject({ sessions: 0 });
    const share = await give(makeWork(1e60, { until: 'replaced' }));
    expect(told()).toMatchObject({ sessions: 1 });
    solve(share);
    expect(source.submitted).toMatchObject([{ work: share, nonce: 2n ** 52n, isBlock: true, isShare: true }]);
    await judge('accepted');
    const last = await give();
    expect(cancelled).not.toContain(last);
    await end();
    expect(cancelled).toContain(last);
    expect(told()).toMatchObject({ sessions: 0, accepted: 1, blocks: 1, hashesPerSecond: 0 });
  });

  it('leaves alone what is of mainnet01, and says so once', async () => {
    const { begun, give, warnings } = await hasher();
    for (let count = 0; count < 3; count++) {
      const work = hard();
      new DataView(work.header.buffer, work.header.byteOffset).setUint32(266, 5, true);
      await give(work);
    }
    expect([begun, warnings]).toEqual([[], ['this is work of mainnet01, for which nothing is simulated']]);
    const fine = await give();
    expect([begun, warnings.length]).toEqual([[fine], 1]);
  });

  it.each(['rejected', 'stale', 'unknown'] as const)('rests for a second after one that is %s', async (outcome) => {
    const { begun, give, solve, judge } = await hasher();
    const first = await give();
    solve(first);
    const second = await give();
    expect(begun).toEqual([first, second]);
    await judge(outcome);
    const third = await give();
    vi.advanceTimersByTime(999);
    expect(begun).toEqual([first, second]);
    vi.advanceTimersByTime(1);
    expect(begun).toEqual([first, second, third]);
    const fourth = await give();
    expect(begun).toEqual([first, second, third, fourth]);
  });

  it('begins once after the rest, though another one was refused in it', async () => {
    const { begun, cancelled, give, solve, judge } = await hasher();
    const [first, second] = [await give(), await give()];
    solve(first);
    solve(second);
    const third = await give();
    await judge('rejected');
    expect(cancelled.at(-1)).toBe(third);
    vi.advanceTimersByTime(500);
    await judge('rejected');
    vi.advanceTimersByTime(500);
    expect(begun).toEqual([first, second, third, third]);
    vi.advanceTimersByTime(5_000);
    expect(begun).toHaveLength(4);
  });

  it('rests again after the next one, and not after one that is accepted', async () => {
    const { begun, give, solve, judge } = await hasher();
    for (const round of [1, 2]) {
      solve(await give());
      await judge('rejected');
      vi.advanceTimersByTime(1_000);
      const next = await give();
      expect([round, begun.at(-1)]).toEqual([round, next]);
      solve(next);
      await judge('accepted');
      // Only the timer is left with which it tells regularly how it does.
      expect(vi.getTimerCount()).toBe(1);
    }
  });
});

describe('a hashrate', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    [0.9, 20_000, 115],
    [1 - Math.exp(-1), 20_000, 50],
    [1 - Math.exp(-1), 20, 50_000],
    [0.999, 20_000, 345],
  ])('has exponential waits with the difficulty as the mean of hashes: at %d and %d H/s, %d ms', (random, rate, ms) => {
    vi.useFakeTimers();
    let solved = 0;
    const count = () => void solved++;
    new HashratePace(rate, () => random).begin(makeWork(1_000), count, systemClock);
    new HashratePace(rate, () => random).begin(makeWork(1_000), count, systemClock)();
    vi.advanceTimersByTime(ms - 1);
    expect(solved).toBe(0);
    vi.advanceTimersByTime(3);
    expect(solved).toBe(1);
  });
});

describe('blocks on demand', () => {
  const ask = (pace: OnDemandPace, method: string, body?: string, type = 'application/json', path = '/make-blocks') =>
    fetch(`http://127.0.0.1:${pace.port}${path}`, {
      method,
      ...(body !== undefined && { body, headers: { 'content-type': type } }),
    });

  it('come on any chain while a goal is open', async () => {
    const pace = new OnDemandPace({ host: '127.0.0.1', port: 0 });
    await withRelay(pace, async ({ source }) => {
      source.work(onChain(3));
      expect(source.submitted).toEqual([]);
      const answer = await ask(pace, 'POST', '{"7": 2}');
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ open: { 7: 2 } });
      await eventually(() => expect(chainsOf(source)).toEqual([3]));
      for (const [i, chain] of [7, 3, 7].entries()) {
        source.work(onChain(chain));
        await eventually(() => expect(source.submitted).toHaveLength(i + 2));
      }
      await eventually(async () => expect(await (await ask(pace, 'GET')).json()).toEqual({ open: {} }));
      source.work(onChain(7));
      await ask(pace, 'POST', '{"1": 1}');
      await eventually(() => expect(chainsOf(source)).toEqual([3, 7, 3, 7, 7]));
      expect(await (await ask(pace, 'DELETE')).json()).toEqual({ open: {} });
      source.work(onChain(1));
      expect(await (await ask(pace, 'POST', '{"1": 1}')).json()).toEqual({ open: { 1: 1 } });
    });
  });

  it('do not come without end for a chain that the network does not have', async () => {
    const pace = new OnDemandPace({ host: '127.0.0.1', port: 0 });
    await pace.open();
    expect(await (await ask(pace, 'POST', '{"99": 3, "1": 2000}')).json()).toEqual({ open: { 1: 2000, 99: 3 } });
    const accepted = { outcome: 'accepted', reason: '' } as const;
    for (let i = 0; i < 999; i++) pace.judged(onChain(1), accepted);
    expect(await (await ask(pace, 'GET')).json()).toEqual({ open: { 1: 1001, 99: 3 } });
    pace.judged(onChain(1), accepted);
    expect(await (await ask(pace, 'GET')).json()).toEqual({ open: { 1: 1000 }, givenUp: { 99: 3 } });
    expect(await (await ask(pace, 'POST', '{"99": 1}')).json()).toEqual({ open: { 1: 1000, 99: 1 } });
    expect(await (await ask(pace, 'DELETE')).json()).toEqual({ open: {} });
    await pace.close();
  });

  it.each([
    [415, 'POST', '{"1":1}', 'text/plain', '/make-blocks'],
    [400, 'POST', '{"1":0}', 'application/json', '/make-blocks'],
    [400, 'POST', '{"chain":1}', 'application/json', '/make-blocks'],
    [400, 'POST', '[1]', 'application/json', '/make-blocks'],
    [400, 'POST', '{', 'application/json', '/make-blocks'],
    [413, 'POST', ' '.repeat(20_000), 'application/json', '/make-blocks'],
    [405, 'PUT', '{}', 'application/json', '/make-blocks'],
    [404, 'POST', '{"1":1}', 'application/json', '/'],
  ])('answers %i to %s %s', async (status, method, body, type, path) => {
    const pace = new OnDemandPace({ host: '127.0.0.1', port: 0 });
    await withRelay(pace, async () => {
      const answer = await ask(pace, method, body, type, path);
      expect(answer.status).toBe(status);
      expect(await answer.json()).toHaveProperty('error.message');
    });
  });

  it.each([
    ['localhost:1790', 200],
    ['127.0.0.1', 200],
    ['[::1]:1790', 200],
    ['evil.example', 403],
    ['127.0.0.1.evil.example:1790', 403],
    ['a b', 403],
  ])('are asked for under the Host header %s: %i', async (host, status) => {
    const pace = new OnDemandPace({ host: '127.0.0.1', port: 0 });
    await withRelay(pace, async () => {
      const asked = request({ port: pace.port, path: '/make-blocks', headers: { host } }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      answer.resume();
      expect(answer.statusCode).toBe(status);
    });
  });

  it('come although connections could not be accepted', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen');
    const pace = new OnDemandPace({ host: '127.0.0.1', port: 0 });
    await pace.open();
    const server = listen.mock.contexts[0] as Server;
    listen.mockRestore();
    for (let i = 0; i < 3; i++) server.emit('error', new Error('accept ENOBUFS'));
    expect((await ask(pace, 'GET')).status).toBe(200);
    await pace.close();
  });

  it('are for this machine only', () => {
    expect(() => new OnDemandPace({ host: '0.0.0.0', port: 0 })).toThrow('loopback');
  });
});

it('nothing else declares work solved without proof of work', () => {
  const src = fileURLToPath(new URL('../../../src', import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const naming = files.filter((file) => readFileSync(join(src, file), 'utf8').includes('assumeSolved'));
  expect(naming.sort()).toEqual([join('miner', 'relay', 'simulated-relay.ts')]);
});

it('assumeSolved declares what it is told, and hashes truly', () => {
  const work = hard();
  const solution = assumeSolved(prepareJob(work), 7n);
  expect(solution).toMatchObject({ nonce: 7n, isBlock: true, isShare: false });
  expect(solution.powHash).toEqual(powHash(solution.header));
  expect(difficultyOf(solution.powHash)).toBeLessThan(1e30);
});

it('ends when its source throws, which it may not', async () => {
  const source = new FakeSource();
  let isClosed = false;
  const pace = Object.assign(new DelayPace(60), {
    close: async () => {
      isClosed = true;
    },
  });
  const options = { pace, source, emit: () => {}, clock: systemClock, random: Math.random, warn: () => {} };
  const relay = new SimulatedRelay(options);
  await relay.open();
  source.work(hard());
  const fault = source.fail();
  await expect(relay.run(new AbortController().signal)).rejects.toBe(fault);
  expect(isClosed).toBe(true);
});
