/** Mines on a strict pool that fixes none to four bytes of the nonce. */

import { expect, it, onTestFinished, vi } from 'vitest';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import { MockPool } from '../../../../bench/lib/mock-pool.mjs';
import { FakeEngine, Recorder } from '../../../fakes.ts';
import { poolSource } from './pool.ts';

/** Long enough for a busy machine. */
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

async function mineOn(nonce1Bytes: number) {
  const pool = new MockPool({ difficulty: 1e9, shareDifficulty: 50, nonce1Bytes });
  const events = new Recorder();
  const source = poolSource(await pool.start(), {}, {}, { emit: events.listen });
  const engine = new FakeEngine();
  const miner = new Miner({ source, engines: [engine], emit: events.listen, firstProofDifficulty: 50 });
  const running = miner.run();
  onTestFinished(async () => {
    miner.stop();
    await running;
    await pool.close();
  });
  /** Waits for so many more shares that the pool has accepted. */
  const shares = async (count: number) => {
    const before = pool.stats.accepted;
    await eventually(() => expect(pool.stats.accepted).toBeGreaterThanOrEqual(before + count));
  };
  return { pool, events, engine, shares };
}

it.each([0, 1, 2, 3, 4])('a pool that fixes %i bytes accepts every share', async (bytes) => {
  const { pool, events, engine, shares } = await mineOn(bytes);
  await shares(5);
  expect(pool.stats).toMatchObject({ wrong: 0, low: 0, duplicate: 0, stale: 0, connections: 1 });
  expect(events.of('hardware-error')).toEqual([]);
  for (const { range } of engine.searched) expect(range.step).toBe(256 ** Math.max(0, bytes - 2));
});

it('a pool may change how many bytes it fixes while shares are found', async () => {
  const { pool, events, engine, shares } = await mineOn(2);
  for (const bytes of [3, 1, 4, 0, 2]) {
    await shares(3);
    pool.changeNonce1(bytes);
    const jobs = engine.jobs.length;
    await eventually(() => expect(engine.jobs.length).toBeGreaterThan(jobs));
    expect(engine.jobs.at(-1)!.work.nonce1.bytes).toBe(bytes);
  }
  await shares(3);
  expect(pool.stats).toMatchObject({ wrong: 0, low: 0, duplicate: 0, connections: 1 });
  expect(events.of('hardware-error')).toEqual([]);
});
