/** Mines with engines that really search, with the system's clock, until the test ends. */

import { onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Miner, type MinerOptions } from '#pickaxe/miner/loop/miner.js';
import { type FakeEngine, FakeSource, Recorder } from '../../fakes.ts';
import { PATIENCE } from '../../patience.ts';

/** A difficulty at which the fake engine finds a solution within a few steps. */
export const SOON = 300;

export const eventually = (check: () => void) => vi.waitFor(check, PATIENCE);

/** Failed devices are reopened soon: after 20, 40 … 320 ms. */
export const options = { reopenAfterMs: 20, temperatureLimits: () => ({ stopCelsius: 90, resumeCelsius: 80 }) };

export const mine = (...engines: FakeEngine[]) => mineWith({}, ...engines);

/** Like `mine`, at first without the bound on the number of a pool's shares per second. */
export const mineShares = (...engines: FakeEngine[]) => mineWith({ firstProofDifficulty: 1 }, ...engines);

export function mineWith(more: Partial<MinerOptions>, ...engines: FakeEngine[]) {
  const source = new FakeSource();
  const events = new Recorder();
  const random = (below: number) => Math.floor(Math.random() * below);
  const miner = new Miner({ source, engines, emit: events.listen, clock: systemClock, random, ...options, ...more });
  const stop = new AbortController();
  const done = miner.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await done;
  });
  return { miner, source, events, stop, done };
}
