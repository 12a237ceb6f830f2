import { expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { DeviceError, type Engine } from '#pickaxe/miner/engine/engine.js';
import { type StressStats, stressDevices } from '#pickaxe/rig/bench/stress.js';
import { describeGpu, gpuEngine } from '../../miner/engine/gpu/adapter.ts';
import { honest, withoutOne } from './engines.ts';

/** Longer than any test takes. Tests end the run themselves. */
const LONG_S = 600;

/** @param until called again and again; returns whether the test has seen enough */
async function stress(engines: Engine[], until: (all: readonly StressStats[]) => boolean) {
  const stop = new AbortController();
  const told: string[] = [];
  const failures: string[] = [];
  const all = new Map<string, StressStats>();
  const stats = await stressDevices(engines, {
    seed: 'pickaxe',
    count: 2 ** 16,
    seconds: LONG_S,
    stop: stop.signal,
    clock: systemClock,
    sampleMs: 5,
    listener: () => ({}),
    failed: ({ name }, { message }) => failures.push(`${name}: ${message}`),
    onSample: (sampled) => {
      all.set(sampled.engine.name, sampled);
      if (until([...all.values()])) stop.abort();
    },
    onError: ({ name }, errors) => told.push(`${name}: ${errors.join('; ')}`),
  });
  return { stats, told, failures };
}

const faultsOf = (stats: readonly StressStats[]) =>
  stats.map(({ wrong, missed, errors }) => ({ wrong, missed, errors }));
const none = { wrong: 0, missed: 0, errors: [] };

const allHave =
  (rounds: number, devices = 1) =>
  (all: readonly StressStats[]) =>
    all.length === devices && all.every((stats) => stats.rounds >= rounds);

it('honest devices are stressed at the same time and sampled, and nothing is wrong', async () => {
  const engines = [honest('cpu'), honest('gpu0')];
  const { stats, told, failures } = await stress(engines, allHave(3, 2));
  expect([...told, ...failures]).toEqual([]);
  for (const { rounds, verified, wrong, missed, errors, samples, hashrate } of stats) {
    expect(rounds).toBeGreaterThanOrEqual(3);
    expect(verified).toBeGreaterThan(3 * 3_700);
    expect({ wrong, missed, errors }).toEqual({ wrong: 0, missed: 0, errors: [] });
    expect(samples.length).toBeGreaterThan(0);
    expect(hashrate.mean).toBeGreaterThan(0);
  }
  expect(engines.map(({ closed }) => closed)).toEqual([1, 1]);
});

it('a device that misses a candidate now and then is found out, even in its first round', async () => {
  const flaky = withoutOne(honest('cpu'), (search) => search % 2 === 1);
  const { stats, told } = await stress([flaky], allHave(4));
  expect(stats[0].missed).toBe(Math.ceil(stats[0].rounds / 2));
  expect(stats[0].errors).toEqual([`missed candidates: ${stats[0].missed}`]);
  // Only the second round shows that the first one missed a candidate.
  expect(told.length).toBeGreaterThanOrEqual(1);
  expect(told[0]).toBe('cpu: missed candidates: 1');
});

it('a device that always misses the same candidate is found out by comparison with another device', async () => {
  const { stats } = await stress([withoutOne(honest('cpu')), honest('gpu0')], allHave(2, 2));
  expect(stats[0].missed).toBe(stats[0].rounds);
  expect(faultsOf(stats)[1]).toEqual(none);
});

it('wrong candidates are counted, even in rounds that do not end', async () => {
  const liar = honest();
  liar.alwaysWrong = true;
  const { stats } = await stress([liar], ([{ wrong }]) => wrong > 0);
  expect(stats[0].wrong).toBeGreaterThan(0);
  expect(stats[0].errors).toEqual([`wrong candidates: ${stats[0].wrong}`]);
});

it('a device that is lost is reported, and so is one that is not available', async () => {
  const lost = honest('cpu');
  lost.fault = new DeviceError('lost', 'it was lost');
  const missing = honest('gpu0');
  missing.openFaults.push(new DeviceError('missing', 'there is none'));
  const { stats, failures } = await stress([lost, missing], () => false);
  expect(failures).toEqual(['gpu0: there is none', 'cpu: it was lost']);
  expect(stats.map(({ engine }) => engine.name)).toEqual(['cpu']);
  expect([lost.closed, missing.closed]).toEqual([1, 1]);
});

it('a run that was already stopped ends at once', async () => {
  const stop = AbortSignal.abort();
  const stats = await stressDevices([honest()], {
    seed: 'pickaxe',
    seconds: LONG_S,
    stop,
    clock: systemClock,
    sampleMs: 1_000,
    listener: () => ({}),
    failed: () => {},
    onSample: () => {},
    onError: () => {},
  });
  expect(faultsOf(stats)).toEqual([none]);
  expect(stats[0].rounds).toBe(0);
});

describeGpu('a GPU under stress', () => {
  it('has no errors', async () => {
    const { stats, failures } = await stress([gpuEngine()], allHave(2));
    expect(failures).toEqual([]);
    expect(faultsOf(stats)).toEqual([none]);
  });

  it('is caught if it reports wrong candidates', async () => {
    const { stats } = await stress([gpuEngine({ faults: ['wrong nonces'] })], ([{ wrong }]) => wrong > 0);
    expect(stats[0].errors).toContainEqual(expect.stringContaining('wrong candidates'));
  });
});
