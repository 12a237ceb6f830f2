import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MinerOptions } from '#pickaxe/miner/loop/miner.js';
import { creationTimeOf } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { turns } from '../../turns.ts';
import { mineStepped, NEVER, SteppedEngine } from './stepped-engine.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The margin by which a creation time stays behind the latest valid time. */
const MARGIN_US = 1_500_000n;

/** Mines a work whose creation time may be moved as far as the test says. No two random lanes have a byte in common. */
async function mined(
  terms: Parameters<typeof makeWork>[1] = {},
  options: Partial<MinerOptions> = {},
  engines = [new SteppedEngine()],
) {
  let drawn = 0;
  const random = () => (drawn += 0x101);
  const mining = mineStepped(engines, { random, ...options });
  const work = makeWork(NEVER, terms);
  let mayMoveUs = 0n;
  mining.source.latestUs = () => creationTimeOf(work.header) + MARGIN_US + mayMoveUs;
  mining.source.work(work);
  await turns();
  const [engine] = engines;
  return {
    ...mining,
    engine,
    work,
    mayMove: (us: bigint) => {
      mayMoveUs = us;
    },
    /** Ends the latest search by itself, as when its space is used up. */
    useUp: async (one = engine) => {
      one.latest.end();
      await turns();
    },
    lanes: () => engine.searches.map(({ ranges }) => ranges.take({ counters: 1, pages: 1 })!.lane),
    /** For each search, the number of the first search in the same lane. */
    firstInLane: () => {
      const lanes = engine.searches.map(({ ranges }) => ranges.take({ counters: 1, pages: 1 })!.lane);
      return lanes.map((lane) => lanes.indexOf(lane));
    },
    movedUs: () => engine.searches.map(({ job }) => creationTimeOf(job.header) - creationTimeOf(work.header)),
  };
}

describe('the creation time', () => {
  it('is moved every three seconds if a later time is valid, and is told', async () => {
    const { mayMove, movedUs, events, engine, work } = await mined();
    vi.advanceTimersByTime(9_000);
    expect(events.of('job')).toEqual([]);
    expect(engine.searches).toHaveLength(1);
    mayMove(1n);
    vi.advanceTimersByTime(2_999);
    expect(engine.searches).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(movedUs()).toEqual([0n, 1n]);
    vi.advanceTimersByTime(3_000);
    expect(movedUs()).toEqual([0n, 1n]);
    mayMove(5_000_000n);
    vi.advanceTimersByTime(3_000);
    expect(movedUs()).toEqual([0n, 1n, 5_000_000n]);
    expect(engine.running).toEqual([engine.latest]);
    const { chain, height } = work;
    const times = [1n, 5_000_000n].map((us) => creationTimeOf(work.header) + us);
    expect(events.of('job')).toEqual(
      times.map((creationTimeMicros) => ({ type: 'job', chain, height, creationTimeMicros })),
    );
    expect(events.of('work')).toHaveLength(1);
  });

  it.each(['may not be moved', 'belongs to a work that has ended'])('stays where it is if it %s', async (why) => {
    const { mayMove, events, engine, source, work } = await mined({ rollTime: why !== 'may not be moved' });
    if (why !== 'may not be moved') source.stale(work);
    await turns();
    mayMove(5_000_000n);
    vi.advanceTimersByTime(9_000);
    expect(events.of('job')).toEqual([]);
    expect(engine.searches).toHaveLength(1);
  });

  it.each([false, true])(
    'is not moved any more once mining has ended; a device is slow to close: %s',
    async (isSlow) => {
      const { mayMove, events, engine, stop, done } = await mined();
      engine.lingers = isSlow;
      mayMove(1n);
      vi.advanceTimersByTime(3_000);
      stop.abort();
      if (!isSlow) await done;
      await turns();
      mayMove(5_000_000n);
      vi.advanceTimersByTime(9_000);
      expect(vi.getTimerCount()).toBe(isSlow ? 1 : 0);
      expect(events.of('job')).toHaveLength(1);
      expect(engine.running).toEqual([]);
      engine.latest.end();
      await done;
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('is moved with the check of the proofs’ difficulty, which restarts no search that has just begun', async () => {
    const { engine, clock, mayMove } = await mined({}, { firstProofDifficulty: 1_000 });
    clock.advance(3_000);
    engine.latest.report({ hashes: 3 * 4 * 2_000 });
    await turns();
    vi.advanceTimersByTime(3_000);
    expect(engine.searches).toHaveLength(2);
    mayMove(1n);
    clock.advance(3_000);
    engine.latest.report({ hashes: 3 * 4 * 4_000 });
    await turns();
    vi.advanceTimersByTime(3_000);
    expect(engine.searches).toHaveLength(3);
    expect(engine.running).toEqual([engine.latest]);
  });
});

describe('a space that is used up', () => {
  it('is followed by one of a later time in the same lane, or of the same time in another lane', async () => {
    const { mayMove, useUp, firstInLane, movedUs, events } = await mined();
    mayMove(9n);
    await useUp();
    await useUp();
    await useUp();
    mayMove(10n);
    await useUp();
    expect(movedUs()).toEqual([0n, 9n, 9n, 9n, 10n]);
    expect(firstInLane()).toEqual([0, 0, 2, 3, 0]);
    expect(events.of('job')).toHaveLength(2);
    expect(events.of('source')).toEqual([]);
  });

  it('is followed by one space for all devices, however many find it used up', async () => {
    const engines = [new SteppedEngine('cpu'), new SteppedEngine('gpu0')];
    const { useUp } = await mined({}, {}, engines);
    for (const engine of engines) engine.latest.end();
    await turns();
    for (const { searches } of engines) expect(searches).toHaveLength(2);
    await useUp(engines[1]);
    for (const { searches } of engines) expect(searches).toHaveLength(3);
    const spaces = engines.map(({ latest }) => latest.ranges);
    expect(spaces[0]).toBe(spaces[1]);
  });

  it.each([
    ['has no bytes', { value: 0, bytes: 0 }, 0x101],
    ['has one byte, which stays', { value: 0x77, bytes: 1 }, 0x177],
  ] as const)('has a random lane after it where nonce1 %s', async (_, nonce1, first) => {
    const { useUp, lanes, firstInLane } = await mined({ nonce1, rollTime: false });
    await useUp();
    await useUp();
    expect(firstInLane()).toEqual([0, 1, 2]);
    expect(lanes()[0]).toBe(first);
    if (nonce1.bytes === 1) for (const lane of lanes()) expect(lane % 256).toBe(0x77);
  });

  it('is the last where the options name the lane and no later time is valid', async () => {
    const { useUp, lanes, engine, mayMove, events } = await mined({}, { lane: 0x5678 });
    await useUp();
    vi.advanceTimersByTime(3_000);
    await turns();
    expect(engine.searches).toHaveLength(1);
    expect(events.of('source')).toEqual([]);
    mayMove(7n);
    vi.advanceTimersByTime(3_000);
    expect(engine.running).toHaveLength(1);
    expect(lanes()).toEqual([0x5678, 0x5678]);
  });

  it.each([
    [2, 48],
    [3, 40],
    [4, 32],
  ] as const)('is told, once, where nonce1 has %i bytes and the time may not be moved', async (bytes, left) => {
    const terms = { nonce1: { value: 5, bytes }, rollTime: false } as const;
    const { useUp, engine, events, source } = await mined(terms);
    await useUp();
    const reason = `leaves 2^${left} nonces of a job (nonce1 has ${bytes} bytes): all are searched, and the devices wait for the next job`;
    const about = { type: 'source', source: 'fake source', kind: 'node', state: 'info', reason };
    expect(events.of('source')).toEqual([about]);
    expect(engine.searches).toHaveLength(1);
    source.work(makeWork(NEVER, terms));
    await turns();
    await useUp();
    expect(engine.searches).toHaveLength(2);
    expect(events.of('source')).toEqual([about]);
  });

  it('is not told where nonce1 has two bytes and the time may be moved: the next job comes within seconds', async () => {
    const { useUp, engine, events, mayMove, lanes } = await mined({ nonce1: { value: 5, bytes: 2 } });
    await useUp();
    expect(engine.running).toEqual([]);
    mayMove(1n);
    vi.advanceTimersByTime(3_000);
    expect(engine.running).toHaveLength(1);
    mayMove(2n);
    await useUp();
    expect(lanes()).toEqual([5, 5, 5]);
    expect(events.of('source')).toEqual([]);
  });
});

describe('two works with one header', () => {
  it('share a space, so that no nonce is searched twice, and works with other headers do not', async () => {
    const { engine, source, work } = await mined({ rollTime: false, until: 'replaced' });
    const easier = { ...work, target: makeWork(2 ** 50).target };
    source.work(easier);
    await turns();
    source.rest();
    await turns();
    source.work({ ...work });
    await turns();
    source.work(makeWork(NEVER, { rollTime: false, until: 'replaced' }));
    await turns();
    const spaces = engine.searches.map(({ ranges }) => ranges);
    expect(spaces.map((space) => spaces.indexOf(space))).toEqual([0, 0, 0, 3]);
  });

  it.each([
    ['another lane', { value: 6, bytes: 2 }],
    ['the same lane with another step', { value: 5, bytes: 3 }],
  ] as const)('have spaces of their own in %s', async (_, nonce1) => {
    const { engine, source, work } = await mined({ rollTime: false, nonce1: { value: 5, bytes: 2 } });
    source.work({ ...work, nonce1 });
    await turns();
    expect(engine.searches).toHaveLength(2);
    expect(engine.searches[1].ranges).not.toBe(engine.searches[0].ranges);
  });
});
