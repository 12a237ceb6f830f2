/** The source of a pool against a simulated pool with the habits of real ones, in virtual time. */

import { describe, expect, it } from 'vitest';
import { poolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';
import { PoolSource, type PoolSourceOptions } from '#pickaxe/miner/source/pool/pool-source.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { Recorder } from '../fakes.ts';
import { PipePort } from './pipe.ts';
import { type PoolHabits, SimulatedPool } from './pool.ts';
import { SimulatedMiner } from './pool-miner.ts';
import { VirtualTime } from './virtual-time.ts';

const USER = 'k:abc.rig1';
const MINUTE_MS = 60_000;

interface World {
  readonly habits?: Partial<PoolHabits>;
  readonly options?: Partial<PoolSourceOptions>;
  readonly seed?: number;
}

/** A miner and its pool. */
function mining({ habits = {}, options = {}, seed = 1 }: World = {}) {
  const time = new VirtualTime();
  const random = seededRandom(seed);
  const [rig, site] = ['rig', 'pool'].map((name) => time.start(name));
  const port = new PipePort({ clock: site.clock, address: '203.0.113.1' }, { random });
  const pool = new SimulatedPool({ port, clock: site.clock, random, habits });
  const recorder = new Recorder();
  const source = new PoolSource(
    { url: 'stratum+tcp://pool.example:3333', user: USER, password: 'x', ...options },
    {
      clock: rig.clock,
      random,
      emit: recorder.listen,
      openConnection: (_address, { timeoutMs }, stop) =>
        port.connect({ clock: rig.clock, address: '192.0.2.1' }, timeoutMs, stop),
    },
  );
  const miner = new SimulatedMiner({ clock: rig.clock, source, hashesPerSecond: 64 });
  /** Ends everything. @returns the number of timers that are left */
  const end = async () => {
    miner.stop();
    await time.runUntil(time.nowMs + MINUTE_MS);
    await miner.ended;
    pool.close();
    await time.runUntil(time.nowMs + MINUTE_MS);
    return rig.timers;
  };
  const notes = () => recorder.of('source').map(({ state, reason }) => `${state}: ${reason}`);
  return { time, rig, port, pool, source, miner, recorder, notes, end };
}

type Mining = ReturnType<typeof mining>;

/** The books of miner and pool agree, and the miner has done nothing wrong. */
function expectBalanced({ pool, miner }: Mining) {
  expect(pool.faults).toEqual([]);
  expect(miner.pending).toBe(0);
  const { accepted, rejected, stale, unknown } = miner.outcomes;
  expect(accepted + rejected + stale + unknown).toBe(miner.found);
  expect(accepted).toBeLessThanOrEqual(pool.counts.accepted);
  // Every share that the pool has accepted was answered, or the miner does not know.
  expect(pool.counts.accepted - accepted).toBeLessThanOrEqual(unknown);
}

const HABITS: readonly (readonly [string, Partial<PoolHabits>])[] = [
  ['is usual', {}],
  ['sends the first job before it answers the subscription', { jobComesFirst: true, authorization: [] }],
  ['lists subscriptions', { subscription: 'nested', authorization: null }],
  ['does not say how long nonce2 is', { subscription: 'short', errors: 'kratum' }],
  ['fixes nothing', { nonce1Bytes: 0 }],
  ['fixes one byte', { nonce1Bytes: 1 }],
  ['fixes three bytes', { nonce1Bytes: 3 }],
  ['fixes four bytes', { nonce1Bytes: 4 }],
  ['omits the flag of clean jobs', { hasCleanFlag: false, errors: 'reference' }],
  ['gives a job every half second, and a block every two', { jobMs: 500, blockMs: 2_000 }],
  ['sets the difficulty by the shares', { shareMs: 3_000, difficulty: 16 }],
  ['sends a target without a job', { shareMs: 3_000, difficulty: 16, targetWithJob: false }],
];

describe('a miner at a pool', () => {
  it.each(HABITS)('that %s loses nothing but what comes too late', async (_, habits) => {
    const world = mining({ habits });
    await world.time.runUntil(2 * MINUTE_MS);
    const timers = await world.end();
    expectBalanced(world);
    const { miner, pool } = world;
    expect(miner.outcomes).toMatchObject({ rejected: 0, unknown: 0 });
    expect(miner.outcomes.accepted).toBe(pool.counts.accepted);
    expect(miner.outcomes.accepted).toBeGreaterThan(20);
    expect([pool.connections, timers, world.port.pipes.size]).toEqual([1, 0, 0]);
    // A share proves as many hashes as its difficulty says.
    expect(pool.credit / miner.hashes).toBeGreaterThan(0.7);
    expect(pool.credit / miner.hashes).toBeLessThan(1.3);
  });

  it('changes to another nonce1 without a rejected share', async () => {
    const world = mining({ habits: { difficulty: 16 } });
    for (let second = 10; second <= 60; second += 5) {
      await world.time.runUntil(second * 1_000);
      world.pool.changeNonce1s();
      world.pool.repeatJobs();
    }
    await world.end();
    expectBalanced(world);
    expect(world.miner.outcomes).toMatchObject({ rejected: 0, unknown: 0 });
    expect(world.miner.outcomes.accepted).toBeGreaterThan(150);
  });

  it('suffers a harder target at once only for shares that are on their way', async () => {
    const world = mining({ habits: { difficulty: 8, judgesByNewest: true, targetWithJob: false } });
    await world.time.runUntil(20_000);
    world.pool.setDifficulty(64);
    await world.time.runUntil(2 * MINUTE_MS);
    await world.end();
    expectBalanced(world);
    expect(world.miner.outcomes.rejected).toBeLessThan(5);
    expect(world.pool.counts['low difficulty']).toBe(world.miner.outcomes.rejected);
  });

  it('gets the difficulty that it suggests', async () => {
    const world = mining({ habits: { difficulty: 4_000, takesSuggestions: true }, options: { difficulty: 40 } });
    await world.time.runUntil(MINUTE_MS);
    await world.end();
    expectBalanced(world);
    expect(world.miner.outcomes.accepted).toBeGreaterThan(50);
  });

  it('knows what became of its shares although half of the answers are lost', async () => {
    const world = mining({ habits: { lostAnswers: 0.5 } });
    await world.time.runUntil(2 * MINUTE_MS);
    await world.end();
    expectBalanced(world);
    expect(world.miner.outcomes.unknown).toBeGreaterThan(40);
    expect(world.pool.connections).toBe(1);
  });
});

describe('the connection to a pool', () => {
  it('is opened again after it was closed or reset, at most once per fault', async () => {
    const world = mining();
    for (let fault = 1; fault <= 4; fault++) {
      await world.time.runUntil(fault * 20_000);
      for (const pipe of world.port.pipes) fault % 2 === 0 ? pipe.reset() : pipe.close();
    }
    await world.time.runUntil(2 * MINUTE_MS);
    await world.end();
    expectBalanced(world);
    expect(world.pool.connections).toBe(5);
    expect(world.miner.idleRounds).toBeLessThan(50);
  });

  it('is given up when it is half-open, and opened again', async () => {
    const world = mining();
    await world.time.runUntil(20_000);
    for (const pipe of world.port.pipes) pipe.deafen();
    await world.time.runUntil(20_000 + poolLimits.noWorkMs + 10_000);
    expect(world.pool.connections).toBe(2);
    expect(world.miner.outcomes.unknown).toBeGreaterThan(0);
    await world.end();
    expect(world.pool.faults).toEqual([]);
  });

  it('outlives a stall of some seconds', async () => {
    const world = mining();
    await world.time.runUntil(20_000);
    for (const pipe of world.port.pipes) pipe.stall(8_000);
    await world.time.runUntil(MINUTE_MS);
    await world.end();
    expectBalanced(world);
    expect([world.pool.connections, world.miner.outcomes.unknown]).toEqual([1, 0]);
  });

  it('is opened again after a suspension of the machine', async () => {
    const world = mining();
    await world.time.runUntil(20_000);
    world.rig.freeze();
    await world.time.runUntil(MINUTE_MS);
    world.rig.thaw();
    await world.time.runUntil(2 * MINUTE_MS);
    expect(world.pool.connections).toBe(2);
    expect(world.notes().some((note) => note.includes('was suspended'))).toBe(true);
    await world.end();
    expectBalanced(world);
  });

  it('is opened again when the pool asks for it, but not to a foreign host', async () => {
    const world = mining();
    await world.time.runUntil(20_000);
    world.pool.askToReconnect('elsewhere.example', 3333, 0);
    await world.time.runUntil(40_000);
    expect(world.pool.connections).toBe(1);
    world.pool.askToReconnect();
    await world.time.runUntil(MINUTE_MS);
    expect(world.pool.connections).toBe(2);
    await world.end();
    expectBalanced(world);
    expect(world.notes().some((note) => note.includes('elsewhere.example'))).toBe(true);
  });

  it('is tried at growing intervals while the port refuses or is silent, and the reason is said', async () => {
    const world = mining();
    world.port.state = 'refuses';
    await world.time.runUntil(MINUTE_MS);
    world.port.state = 'is silent';
    await world.time.runUntil(2 * MINUTE_MS);
    expect([world.pool.connections, world.miner.found]).toEqual([0, 0]);
    world.port.state = 'accepts';
    await world.time.runUntil(3 * MINUTE_MS);
    await world.end();
    expectBalanced(world);
    expect(world.pool.connections).toBe(1);
    const lost = world.notes().filter((note) => note.startsWith('lost'));
    expect(lost).toMatchObject([
      expect.stringContaining('nothing listens there'),
      expect.stringContaining('does not accept the connection'),
    ]);
  });

  it('is tried rarely while the pool refuses the user', async () => {
    const world = mining();
    world.pool.refusedUsers.add(USER);
    await world.time.runUntil(10 * MINUTE_MS);
    expect(world.pool.connections).toBeLessThan(12);
    expect(world.notes().at(-1)).toContain('does not accept the user');
    world.pool.refusedUsers.clear();
    await world.time.runUntil(20 * MINUTE_MS);
    expect(world.miner.outcomes.accepted).toBeGreaterThan(0);
    await world.end();
    expectBalanced(world);
  });
});

describe('a pool that goes silent', () => {
  it('and answers shares no more is unhealthy, and healthy when it answers again', async () => {
    const world = mining();
    const judged: (string | undefined)[] = [];
    world.source.onHealth((fault) => judged.push(fault));
    await world.time.runUntil(20_000);
    world.pool.silence = 'shares';
    await world.time.runUntil(MINUTE_MS + poolLimits.submitMs);
    expect(judged).toEqual(['answers shares no more']);
    expect(await world.source.answers()).toBe(true);
    world.pool.silence = 'none';
    await world.time.runUntil(10 * MINUTE_MS);
    expect(judged).toEqual(['answers shares no more', undefined]);
    await world.end();
    expectBalanced(world);
  });

  it('altogether does not answer, and its connection is given up', async () => {
    const world = mining();
    await world.time.runUntil(20_000);
    world.pool.silence = 'all';
    await world.time.runUntil(40_000);
    expect(await world.source.answers()).toBe(false);
    await world.time.runUntil(20_000 + poolLimits.noWorkMs + 10_000);
    expect(world.pool.connections).toBeGreaterThan(1);
    world.pool.silence = 'none';
    await world.time.runUntil(world.time.nowMs + MINUTE_MS);
    expect(await world.source.answers()).toBe(true);
    await world.end();
    expect(world.pool.faults).toEqual([]);
  });
});

it('the same seed gives the same run, and another seed another one', async () => {
  const run = async (seed: number) => {
    const world = mining({ seed, habits: { lostAnswers: 0.1, shareMs: 3_000 } });
    await world.time.runUntil(30_000);
    for (const pipe of world.port.pipes) pipe.reset();
    await world.time.runUntil(MINUTE_MS);
    await world.end();
    return JSON.stringify([world.time.steps, world.miner.outcomes, world.pool.counts, world.notes()]);
  };
  expect(await run(1)).toBe(await run(1));
  expect(await run(2)).not.toBe(await run(1));
});
