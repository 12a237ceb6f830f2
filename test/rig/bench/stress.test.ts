import { beforeEach, describe, expect, it } from 'vitest';
import { DeviceError, type Engine } from '#pickaxe/miner/engine/engine.js';
import { LEAST_COUNT, MOST_COUNT } from '#pickaxe/rig/bench/challenge.js';
import { type StressStats, stressDevice, stressDevices } from '#pickaxe/rig/bench/stress.js';
import { FakeEngine } from '../../fakes.ts';
import { SteppedClock } from '../../stepped-clock.ts';
import { DOUBT, FOUND, never, Tampered, timed, withoutOne } from './engines.ts';

let clock: SteppedClock;
beforeEach(() => {
  clock = new SteppedClock();
  // Only differences of its times have a meaning.
  clock.advance(77_000);
});

const honest = (name = 'cpu', stepMs?: number) => timed(clock, name, stepMs);

interface Changes {
  readonly count?: number | undefined;
  readonly sampleMs?: number;
  readonly stop?: AbortSignal;
}

/** A round of a device that is alone takes 1.6 s, if the test gives no other number of nonces. */
async function stress(engines: Engine[], seconds: number, changes: Changes = {}) {
  const told: string[] = [];
  const failures: string[] = [];
  const sampled: string[] = [];
  const stats = await stressDevices(engines, {
    seed: 'pickaxe',
    count: LEAST_COUNT,
    sampleMs: 1_000,
    clock,
    listener: () => ({}),
    failed: ({ name }, { message }) => failures.push(`${name}: ${message}`),
    onSample: ({ engine }, { elapsedSeconds }) => sampled.push(`${engine.name} ${elapsedSeconds}`),
    onError: ({ name }, errors) => told.push(`${name}: ${errors.join('; ')}`),
    seconds,
    stop: never,
    ...changes,
  });
  return { stats, told, failures, sampled };
}

const countsOf = (stats: readonly StressStats[]) =>
  stats.map(({ rounds, verified, wrong, missed }) => ({ rounds, verified, wrong, missed }));
const OK = { wrong: 0, missed: 0 };

it('honest devices are stressed at the same time and sampled until the time is up, and nothing is wrong', async () => {
  const engines = [honest('cpu'), honest('gpu0')];
  const { stats, told, failures, sampled } = await stress(engines, 10);
  // Together they take 3.2 seconds for a round each, and the fourth one is not complete: it has 2 of 16 pages.
  expect(failures).toEqual([]);
  expect(countsOf(stats)).toEqual([
    { rounds: 3, verified: 3 * FOUND + 4, ...OK },
    { rounds: 3, verified: 3 * FOUND + 4, ...OK },
  ]);
  expect(told).toHaveLength(6);
  expect(new Set(told)).toEqual(new Set([`cpu: ${DOUBT}`, `gpu0: ${DOUBT}`]));
  const seconds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  expect(sampled.slice(0, 18)).toEqual(seconds.slice(0, 9).flatMap((second) => [`cpu ${second}`, `gpu0 ${second}`]));
  expect(stats[0].hashrate.mean).toBeCloseTo(20_480, 6);
  expect(engines.map(({ opened, closed }) => [opened, closed])).toEqual([
    [1, 1],
    [1, 1],
  ]);
  expect(clock.timers).toBe(0);
});

it('a device that misses a candidate now and then is found out, even in its first round', async () => {
  const flaky = withoutOne(honest('cpu'), (search) => search % 2 === 1);
  const { stats, told } = await stress([flaky], 4 * 1.6);
  expect(stats[0].missed).toBe(2);
  expect(stats[0].errors[0]).toBe('missed candidates: 2');
  // Only the second round shows that the first one missed a candidate.
  expect(told.filter((line) => line.includes('missed'))).toEqual([
    `cpu: missed candidates: 1; ${DOUBT.replace(`${FOUND}`, `${FOUND - 1}`)}`,
  ]);
});

it('a device that always misses the same candidate is found out by comparison with another device', async () => {
  const { stats } = await stress([withoutOne(honest('cpu')), honest('gpu0')], 2 * 3.2);
  expect(countsOf(stats)).toEqual([
    { rounds: 2, verified: 2 * (FOUND - 1), wrong: 0, missed: 2 },
    { rounds: 2, verified: 2 * FOUND, ...OK },
  ]);
});

it('wrong candidates are counted, even in rounds that do not end', async () => {
  const liar = honest();
  liar.alwaysWrong = true;
  const { stats, told } = await stress([liar], 0.3);
  expect(stats[0].wrong).toBe(3);
  expect(stats[0].errors).toEqual(['wrong candidates: 3']);
  expect(told).toEqual(['cpu: wrong candidates: 3']);
});

it('the first ten rounds with errors are reported', async () => {
  const { stats, told } = await stress([honest()], 12 * 1.6);
  expect(stats[0].rounds).toBe(12);
  expect(told).toHaveLength(10);
});

it('a device that is lost is reported, and so is one that is not available', async () => {
  const lost = honest('cpu');
  lost.fault = new DeviceError('lost', 'it was lost');
  const missing = honest('gpu0');
  missing.openFaults.push(new DeviceError('missing', 'there is none'));
  const { stats, failures, sampled } = await stress([lost, missing], 600);
  expect(failures).toEqual(['gpu0: there is none', 'cpu: it was lost']);
  expect(stats.map(({ engine }) => engine.name)).toEqual(['cpu']);
  expect([lost.closed, missing.closed]).toEqual([1, 1]);
  // Each device has a sample.
  expect(sampled).toEqual(['cpu 0']);
});

it('a device that is lost is sampled no more, while the others go on', async () => {
  const lost = honest('cpu');
  const other = honest('gpu0');
  clock.setTimeout(() => {
    lost.fault = new DeviceError('lost', 'it was lost');
  }, 2_500);
  const { failures, sampled } = await stress([lost, other], 5);
  expect(failures).toEqual(['cpu: it was lost']);
  expect(sampled).toEqual(['cpu 1', 'gpu0 1', 'cpu 2', 'gpu0 2', 'gpu0 3', 'gpu0 4', 'gpu0 5']);
});

it('a run that was already stopped ends at once', async () => {
  const { stats, sampled } = await stress([honest()], 600, { stop: AbortSignal.abort() });
  expect(countsOf(stats)).toEqual([{ rounds: 0, verified: 0, ...OK }]);
  expect(sampled).toEqual(['cpu 0']);
  expect(clock.timers).toBe(0);
});

it('a run that is stopped ends, and has a sample', async () => {
  const stop = new AbortController();
  clock.setTimeout(() => stop.abort(), 500);
  const { stats, sampled } = await stress([honest()], 600, { stop: stop.signal });
  expect(sampled).toEqual(['cpu 0.5']);
  expect(countsOf(stats)).toEqual([{ rounds: 0, verified: 10, ...OK }]);
});

describe('without a number of nonces', () => {
  /** @returns the binary logarithms of the numbers of nonces of the rounds that a device with these rates searches */
  async function roundsAt(hashesPerMs: (round: number) => number, seconds: number): Promise<number[]> {
    const sizes: number[] = [];
    const engine = Object.assign(new FakeEngine('cpu'), { step: { counters: 2 ** 32, pages: 2 ** 16 } });
    engine.reported = (_, { counters, pages }) => {
      const count = counters * pages;
      sizes.push(Math.log2(count));
      clock.advance(count / hashesPerMs(sizes.length));
      return [];
    };
    await stress([engine], seconds, { count: undefined, sampleMs: 1e9 });
    return sizes;
  }

  it('the first round has 2^24, and rounds grow until they take a second', async () => {
    // These take 0.25 seconds, 1 second, and then 2 seconds as the device was not slower.
    expect((await roundsAt(() => 2 ** 26 / 1_000, 5)).slice(0, 4)).toEqual([24, 26, 26, 26]);
    // 0.3 seconds, which are multiplied by the next power of two.
    expect((await roundsAt(() => 2 ** 24 / 300, 5)).slice(0, 3)).toEqual([24, 26, 26]);
    expect((await roundsAt(() => 2 ** 24 / 1_000, 5)).slice(0, 3)).toEqual([24, 25, 25]);
  });

  it('a round has at most 16 times the nonces of the one before, and at most 2^40', async () => {
    expect((await roundsAt(() => 1e12, 0.1)).slice(0, 6)).toEqual([24, 28, 32, 36, 40, 40]);
    expect(2 ** 40).toBe(MOST_COUNT);
  });

  it('rounds of one to five seconds grow while the device becomes faster by more than a fifth', async () => {
    const first = 2 ** 24 / 1_100;
    expect((await roundsAt((round) => first * 1.3 ** (round - 1), 12)).slice(0, 5)).toEqual([24, 25, 26, 27, 28]);
    expect((await roundsAt((round) => first * 1.19 ** (round - 1), 8)).slice(0, 4)).toEqual([24, 25, 25, 25]);
  });

  it('a device that was faster before does not count as faster', async () => {
    const rates = [1, 1, 0.5, 1.1, 1.15];
    const sizes = await roundsAt((round) => (2 ** 24 / 1_100) * (rates[round - 1] ?? 1), 20);
    expect(sizes.slice(0, 5)).toEqual([24, 25, 25, 25, 25]);
  });

  it('rounds of five seconds do not grow', async () => {
    expect((await roundsAt((round) => (2 ** 24 / 5_000) * 2 ** (round - 1), 12)).slice(0, 2)).toEqual([24, 24]);
    expect((await roundsAt((round) => (2 ** 24 / 4_900) * 2 ** (round - 1), 12)).slice(0, 2)).toEqual([24, 25]);
  });
});

describe('the result of a device under stress', () => {
  it('has its candidates, samples and errors', async () => {
    const liar = honest();
    liar.alwaysWrong = true;
    liar.info = { threads: 2 };
    const [stats] = (await stress([liar], 3.2, { sampleMs: 1_600 })).stats;
    const sample = { elapsedSeconds: 1.6, hashesPerSecond: expect.closeTo(38_400, 6), powerWatts: null };
    expect(stressDevice(stats, undefined)).toMatchObject({
      name: 'cpu',
      kind: 'cpu',
      threads: 2,
      hashesPerSecond: stats.hashrate.mean,
      spread: stats.hashrate.spread,
      rounds: 2,
      candidates: { found: 2 * FOUND, wrong: 32, missed: 0 },
      errors: ['wrong candidates: 32', DOUBT],
      powerWatts: null,
      hashesPerJoule: null,
      samples: [sample, { elapsedSeconds: 3.2 }],
    });
    const withFault = stressDevice(stats, new DeviceError('lost', 'it was lost'));
    expect(withFault.errors).toEqual(['wrong candidates: 32', DOUBT, 'it failed: it was lost']);
  });

  it('has the means of its readings, of which each sample has its own', async () => {
    const engine = honest();
    let second = 0;
    const reading = clock.setInterval(() => {
      engine.listener?.telemetry?.({ powerWatts: ++second * 100, temperatureCelsius: 40 + second });
    }, 999);
    const [stats] = (await stress([engine], 2.1)).stats;
    reading.cancel();
    const samples = [
      { powerWatts: 100, temperatureCelsius: 41 },
      { powerWatts: 200, temperatureCelsius: 42 },
    ];
    const result = stressDevice(stats, undefined);
    expect(result).toMatchObject({ powerWatts: 150, temperatureCelsius: 42, samples });
    expect(result.hashesPerJoule).toBe(Math.round(result.hashesPerSecond / 150));
  });
});

it('a device that ends its search by itself has failed, and what it found counts', async () => {
  const hasty = new Tampered(honest(), (report) => ({ ...report, hashes: report.hashes - 1 }));
  const { stats, failures } = await stress([hasty], 600);
  expect(failures).toEqual(['cpu: it ended its search with 65520 of 65536 nonces']);
  expect(countsOf(stats)).toEqual([{ rounds: 0, verified: FOUND, ...OK }]);
});
