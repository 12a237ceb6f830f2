import { expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { CoreKind } from '#pickaxe/miner/engine/device.js';
import { DeviceError, type Engine, type Ranges, type SearchReport } from '#pickaxe/miner/engine/engine.js';
import type { Job } from '#pickaxe/protocol/chain/job.js';
import { sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { measureRate } from '#pickaxe/rig/bench/measure.js';

interface Step {
  readonly ms: number;
  readonly hashes: number;
  readonly cores?: CoreKind;
}

/** An engine with a constant rate that reports after the given numbers of milliseconds. */
class TimedEngine implements Engine {
  readonly name = 'cpu';
  readonly kind = 'cpu';
  nowMs = 0;
  readonly #steps: Iterable<Step>;
  readonly #reportsAll: boolean;

  /** @param reportsAll whether it reports all steps, and does not end when it is stopped */
  constructor(steps: Iterable<Step>, reportsAll = false) {
    this.#steps = steps;
    this.#reportsAll = reportsAll;
  }

  async open() {
    return { model: 'timed', kernel: 'none', why: '' };
  }

  async *search(_: Job, ranges: Ranges, stop: AbortSignal): AsyncGenerator<SearchReport> {
    for (const { ms, hashes, cores } of this.#steps) {
      if (stop.aborted && !this.#reportsAll) return;
      this.nowMs += ms;
      const searched = ranges.take({ counters: hashes, pages: 1 })!;
      yield { searched, hashes: sizeOf(searched), beganMs: 0, candidates: [], ...(cores && { cores }) };
    }
  }

  async close() {}
}

function* steps(...turns: [times: number, ms: number, hashes: number][]) {
  for (const [times, ms, hashes] of turns) for (let i = 0; i < times; i++) yield { ms, hashes };
}

const measureAll = (engine: TimedEngine, seconds: number, onStart = () => {}, told: number[][] = []) => {
  const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => engine.nowMs };
  const onSlice = (...slice: number[]) => told.push(slice);
  return measureRate(engine, { warmUpMs: 500, seconds, clock, random: () => 0, onStart, onSlice });
};
const measure = async (...all: Parameters<typeof measureAll>) => (await measureAll(...all)).slices;

it('the warm-up does not count, and each count is divided by the time that it took', async () => {
  // The first report after the warm-up starts the clock; each slice ends with the first report after its second.
  const engine = new TimedEngine(steps([6, 100, 1], [1, 100, 7], [25, 300, 30], [100, 300, 60]));
  let startMs = 0;
  const slices = await measure(engine, 10, () => {
    startMs = engine.nowMs;
  });
  expect(startMs).toBe(500);
  expect(slices).toHaveLength(10);
  expect(slices.slice(1, 6)).toEqual([100, 100, 100, 100, 100]);
  expect(slices.at(-1)).toBe(200);
});

it('a measurement has at least five slices, and one for each second if it is longer', async () => {
  const endless = () => new TimedEngine(steps([1e6, 10, 100]));
  expect(await measure(endless(), 0.5)).toEqual([10_000, 10_000, 10_000, 10_000, 10_000]);
  expect(await measure(endless(), 12)).toHaveLength(12);
});

it('each slice is reported when it ends, with the part of the measurement that is done', async () => {
  const told: number[][] = [];
  const endless = new TimedEngine(steps([1e6, 10, 100]));
  await measure(endless, 0.5, () => {}, told);
  expect(told).toEqual([0.2, 0.4, 0.6, 0.8, 1].map((done) => [10_000, done]));
});

it('what an engine reports after the last slice does not count', async () => {
  const late = new TimedEngine(steps([100, 100, 10]), true);
  const told: number[][] = [];
  expect(await measure(late, 5, () => {}, told)).toEqual([100, 100, 100, 100, 100]);
  expect(told).toHaveLength(5);
});

it('a search that ends by itself has no hashrate', async () => {
  await expect(measure(new TimedEngine(steps([20, 100, 1])), 5)).rejects.toThrow(DeviceError);
});

it('the hashrates of the kinds of cores are means over all slices, and add up to the whole', async () => {
  function* hybrid() {
    for (;;) {
      for (let i = 0; i < 4; i++) yield { ms: 5, hashes: 64, cores: 'performance' as const };
      yield { ms: 5, hashes: 64, cores: 'efficiency' as const };
    }
  }
  const { slices, byCores } = await measureAll(new TimedEngine(hybrid()), 10);
  const mean = slices.reduce((sum, slice) => sum + slice, 0) / slices.length;
  expect([...byCores.keys()].sort()).toEqual(['efficiency', 'performance']);
  expect(byCores.get('performance')! + byCores.get('efficiency')!).toBeCloseTo(mean, 0);
  expect(byCores.get('performance')! / byCores.get('efficiency')!).toBeCloseTo(4, 1);
});

it('an engine whose cores are alike has no hashrates of kinds', async () => {
  expect((await measureAll(new TimedEngine(steps([1e6, 10, 100])), 1)).byCores.size).toBe(0);
});
