import { expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { DeviceError, type Engine } from '#pickaxe/miner/engine/engine.js';
import type { DeviceResult } from '#pickaxe/rig/bench/bench-result.js';
import { makeChallenge } from '#pickaxe/rig/bench/challenge.js';
import { type MeasureOptions, measureDevices } from '#pickaxe/rig/bench/measure.js';
import { FakeEngine } from '../../fakes.ts';
import { describeGpu, gpuEngine } from '../../miner/engine/gpu/adapter.ts';
import { honest, withoutOne } from './engines.ts';
import { GOLDEN } from './golden.ts';

const [golden] = GOLDEN;

async function measure(engines: Engine[], changes: Partial<MeasureOptions> = {}) {
  const failures: string[] = [];
  const results = await measureDevices(engines, {
    challenge: makeChallenge('pickaxe', golden.count),
    warmUpMs: 10,
    seconds: 0.05,
    repeat: 1,
    together: false,
    clock: systemClock,
    random: () => 0,
    listener: () => ({}),
    onProgress: () => {},
    failed: ({ name }, { message }) => failures.push(`${name}: ${message}`),
    ...changes,
  });
  return { results, failures, runs: results.map((device) => device.runs[0]) };
}

it.each([true, false])('devices are measured, together: %s', async (together) => {
  const engines = [honest('cpu'), honest('gpu0')];
  const { results, failures } = await measure(engines, { together });
  expect(failures).toEqual([]);
  expect(results.map(({ name }) => name)).toEqual(['cpu', 'gpu0']);
  for (const { hashesPerSecond, spread, runs } of results) {
    expect(runs).toHaveLength(1);
    expect(spread).toBeNull();
    expect(runs[0].slices).toHaveLength(5);
    expect(hashesPerSecond).toBe(runs[0].hashesPerSecond);
    expect(hashesPerSecond).toBeGreaterThan(0);
    expect(runs[0].hashSum).toBe(golden.sum);
    expect(runs[0].candidates).toEqual({ found: golden.candidates, expected: 4_096, wrong: 0, missed: 0 });
    expect(runs[0].errors).toEqual([]);
  }
  expect(engines.map(({ closed }) => closed)).toEqual([1, 1]);
});

it('devices are measured at the same time if together is set, and otherwise one after the other', async () => {
  const order: string[] = [];
  class Watched extends FakeEngine {
    override search(...args: Parameters<FakeEngine['search']>) {
      order.push(`search ${this.name}`);
      return super.search(...args);
    }
    override close() {
      order.push(`close ${this.name}`);
      return super.close();
    }
  }
  const pair = () => ['a', 'b'].map((name) => new Watched(name, { counters: 1_024, pages: 1 }));
  await measure(pair());
  expect(order.splice(0)).toEqual(['a', 'b'].flatMap((name) => [`search ${name}`, `search ${name}`, `close ${name}`]));
  await measure(pair(), { together: true });
  expect(order.slice(0, 2)).toEqual(['search a', 'search b']);
  expect(order.slice(-2)).toEqual(['close a', 'close b']);
});

it('every device has its first run before any has its second: A B A B', async () => {
  const order: string[] = [];
  const engines = [honest('a'), honest('b')];
  const { results } = await measure(engines, {
    repeat: 3,
    onProgress: ({ name }, { run, step }) => {
      if (step === 'warming-up' || step === 'done') order.push(`${name}${run} ${step}`);
    },
  });
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'].flatMap((each) => [`${each} warming-up`, `${each} done`]));
  expect(engines.map(({ opened, closed }) => [opened, closed])).toEqual([
    [3, 3],
    [3, 3],
  ]);
  for (const { runs, hashesPerSecond, spread } of results) {
    const rates = runs.map((run) => run.hashesPerSecond).sort((a, b) => a - b);
    expect(rates).toHaveLength(3);
    expect(hashesPerSecond).toBe(rates[1]);
    expect(spread).toBeGreaterThanOrEqual(0);
    expect(runs.map(({ hashSum }) => hashSum)).toEqual([golden.sum, golden.sum, golden.sum]);
    const starts = runs.map(({ date }) => date);
    expect(starts).toEqual([...starts].sort());
  }
});

it('the progress of a measurement is reported', async () => {
  const steps: string[] = [];
  let last = 0;
  await measure([honest()], {
    onProgress: (_, progress) => {
      if (progress.step !== steps.at(-1)) steps.push(progress.step);
      if (progress.step === 'searching-challenge') {
        expect(progress.done).toBeGreaterThanOrEqual(last);
        last = progress.done;
      }
    },
  });
  expect(steps).toEqual(['opening', 'warming-up', 'measuring', 'searching-challenge', 'done']);
  expect(last).toBe(1);
});

it('a device that misses a candidate is distinguished from one that does not', async () => {
  const { runs } = await measure([withoutOne(honest('cpu')), honest('gpu0')]);
  expect(runs[0].hashSum).not.toBe(golden.sum);
  expect(runs[0].candidates).toMatchObject({ found: golden.candidates - 1, missed: 1 });
  expect(runs[0].errors).toEqual(['missed candidates: 1']);
  expect(runs[1]).toMatchObject({ hashSum: golden.sum, errors: [] });
});

it('a run that misses a candidate is distinguished from one that does not', async () => {
  // Each run has two searches: the second one is of the challenge.
  const { results } = await measure([withoutOne(honest('cpu'), (search) => search === 4)], { repeat: 3 });
  expect(results[0].runs.map(({ errors }) => errors)).toEqual([[], ['missed candidates: 1'], []]);
});

it('wrong candidates are counted', async () => {
  const liar = honest();
  liar.alwaysWrong = true;
  const { runs } = await measure([liar]);
  expect(runs[0].candidates.wrong).toBeGreaterThan(0);
  expect(runs[0].errors).toEqual([expect.stringMatching(/^wrong candidates: \d+$/)]);
});

it.each([true, false])('a device that fails does not end the measurement, together: %s', async (together) => {
  const missing = honest('gpu0');
  missing.openFaults.push(new DeviceError('missing', 'there is none'));
  const lost = honest('gpu1');
  lost.fault = new DeviceError('lost', 'it was lost');
  const { results, failures } = await measure([missing, honest('cpu'), lost], { together });
  expect(results.map(({ name }) => name)).toEqual(['cpu']);
  expect(failures).toEqual(['gpu0: there is none', 'gpu1: it was lost']);
  expect([missing.closed, lost.closed]).toEqual([1, 1]);
});

it.each([true, false])(
  'a device that fails has no further runs and keeps those it had, together: %s',
  async (together) => {
    const lost = honest('gpu0');
    const { results, failures } = await measure([lost, honest('cpu')], {
      repeat: 3,
      together,
      onProgress: ({ name }, { run, step }) => {
        if (name === 'gpu0' && run === 2 && step === 'measuring') lost.fault = new DeviceError('lost', 'it was lost');
      },
    });
    expect(failures).toEqual(['gpu0: it was lost']);
    expect(results.map(({ name, runs }) => [name, runs.length])).toEqual([
      ['gpu0', 1],
      ['cpu', 3],
    ]);
    expect(lost.opened).toBe(2);
  },
);

const sensorsOf = ({ temperatureCelsius, powerWatts, powerLimitWatts, coreHertz }: DeviceResult) => {
  return { temperatureCelsius, powerWatts, powerLimitWatts, coreHertz };
};

it('power, clocks and efficiency are reported for each run and for all runs, if sensors give them', async () => {
  const engine = honest();
  const told = { powerWatts: 50, powerLimitWatts: 70, temperatureCelsius: 60, coreHertz: 2e9 };
  const { results } = await measure([engine], {
    repeat: 2,
    onProgress: (_, { step }) => {
      if (step === 'measuring') engine.listener?.telemetry?.(told);
    },
  });
  const expected = { temperatureCelsius: 60, powerWatts: 50, powerLimitWatts: 70, coreHertz: 2e9 };
  const [device] = results;
  expect(sensorsOf(device)).toEqual(expected);
  // Both figures are rounded.
  expect(Math.abs(device.hashesPerJoule! - device.hashesPerSecond / 50)).toBeLessThanOrEqual(1);
  for (const run of device.runs) {
    expect(run).toMatchObject(expected);
    expect(run.hashesPerJoule).toBeCloseTo(run.hashesPerSecond / 50, -1);
  }
});

it('figures that are not known are null', async () => {
  const { results } = await measure([honest()]);
  expect(sensorsOf(results[0])).toEqual({
    temperatureCelsius: null,
    powerWatts: null,
    powerLimitWatts: null,
    coreHertz: null,
  });
  expect(results[0].hashesPerJoule).toBeNull();
});

describeGpu('a GPU', () => {
  it('has the same hash sum, and reports its kernel variant', async () => {
    const { results } = await measure([gpuEngine()]);
    expect(results).toMatchObject([
      {
        kind: 'gpu',
        kernel: 'wgsl',
        variant: 'wgsl 64×16',
        workgroupSize: 64,
        noncesPerInvocation: 16,
        batchSeconds: 0.005,
        driver: expect.stringMatching(/./),
        runs: [{ hashSum: golden.sum, candidates: { wrong: 0 }, errors: [] }],
      },
    ]);
  });

  it('is caught if it reports wrong candidates', async () => {
    const { runs } = await measure([gpuEngine({ faults: ['wrong nonces'] })]);
    expect(runs[0].candidates.wrong).toBeGreaterThan(0);
    expect(runs[0].errors).toContainEqual(expect.stringContaining('wrong candidates'));
  });
});
