import { beforeEach, expect, it } from 'vitest';
import { DeviceError, type Engine } from '#pickaxe/miner/engine/engine.js';
import { LEAST_COUNT, makeChallenge } from '#pickaxe/rig/bench/challenge.js';
import { type MeasureOptions, measureDevices, type Progress } from '#pickaxe/rig/bench/measure.js';
import { START_MS, SteppedClock } from '../../stepped-clock.ts';
import { DOUBT, FOUND, Tampered, timed, withoutOne } from './engines.ts';
import { SENSORS } from './results.ts';

let clock: SteppedClock;
beforeEach(() => {
  clock = new SteppedClock();
});

const honest = (name = 'cpu', stepMs?: number) => timed(clock, name, stepMs);
const challenge = makeChallenge('pickaxe', LEAST_COUNT);

async function measure(engines: Engine[], changes: Partial<MeasureOptions> = {}) {
  const failures: string[] = [];
  const results = await measureDevices(engines, {
    challenge,
    warmUpMs: 1_000,
    seconds: 5,
    repeat: 1,
    together: false,
    clock,
    random: () => 0,
    listener: () => ({}),
    onProgress: () => {},
    failed: ({ name }, { message }) => failures.push(`${name}: ${message}`),
    ...changes,
  });
  return { results, failures, runs: results.map((device) => device.runs[0]) };
}

it('the figures of a device are those of its slices, in whole hashes', async () => {
  // A slice ends with the first report after a second: 1.02 seconds, where each report takes 0.03.
  const { results, failures } = await measure([honest('cpu'), honest('gpu0', 30)]);
  expect(failures).toEqual([]);
  const figures = (hashesPerSecond: number) => ({
    hashesPerSecond,
    medianHashesPerSecond: hashesPerSecond,
    p90HashesPerSecond: hashesPerSecond,
    performanceCoresHashesPerSecond: null,
    efficiencyCoresHashesPerSecond: null,
    ...SENSORS,
  });
  const runOf = (rate: number, startMs: number) => ({
    ...figures(rate),
    spread: 0,
    date: new Date(START_MS + startMs).toISOString(),
    slices: [rate, rate, rate, rate, rate],
    hashSum: expect.stringMatching(/^[0-9a-f]{16}$/),
    candidates: { found: FOUND, expected: 4_096, wrong: 0, missed: 0 },
    errors: [DOUBT],
  });
  const model = 'fake';
  const kernel = 'reference';
  const ofGpu = { bus: null, driver: null, variant: null, workgroupSize: null, noncesPerInvocation: null };
  const cpu = { name: 'cpu', kind: 'cpu', model, kernel, threads: null, cores: null, ...figures(81_920) };
  const gpu = { name: 'gpu0', kind: 'gpu', model, kernel, ...ofGpu, batchSeconds: null, ...figures(273_067) };
  expect(results).toEqual([
    { ...cpu, spread: null, runs: [runOf(81_920, 1_000)] },
    // Before, the first device has warmed up, measured, and searched the challenge in 1.6 seconds.
    { ...gpu, spread: null, runs: [runOf(273_067, 1_000 + 5_000 + 1_600 + 1_020)] },
  ]);
});

it('what engines say about their devices is in the results', async () => {
  const cpu = honest('cpu');
  const cores = [{ kind: 'performance' as const, threads: 2, kernel: 'avx2' as const }];
  cpu.info = { threads: 3, cores };
  const gpu = honest('gpu0');
  const kernel = { workgroupSize: 128, noncesPerInvocation: 16, batchMs: 8 };
  gpu.info = { bus: '0000:01:00.0', gpu: { driver: 'a driver', variant: 'wgsl 128×16', ...kernel } };
  const { results } = await measure([cpu, gpu]);
  expect(results).toMatchObject([
    { threads: 3, cores },
    { bus: '0000:01:00.0', driver: 'a driver', variant: 'wgsl 128×16', workgroupSize: 128, noncesPerInvocation: 16 },
  ]);
  expect(results[1]).toMatchObject({ batchSeconds: 0.008 });
});

it('devices are measured at the same time if together is set, and otherwise one after the other', async () => {
  const order: string[] = [];
  const watched = (name: string) => {
    const engine = honest(name);
    const { search, close } = engine;
    engine.search = (...args) => {
      order.push(`search ${name}`);
      return search.apply(engine, args);
    };
    engine.close = () => {
      order.push(`close ${name}`);
      return close.apply(engine);
    };
    return engine;
  };
  const pair = () => ['a', 'b'].map(watched);
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
    expect(spread).toBe(0);
    expect(new Set(runs.map(({ hashSum }) => hashSum)).size).toBe(1);
    const starts = runs.map(({ date }) => date);
    expect(starts).toEqual([...starts].sort());
  }
});

it('the progress of a measurement is reported', async () => {
  const steps: Progress[] = [];
  const onProgress = (_: Engine, progress: Progress) => steps.push(progress);
  await measure([honest()], { onProgress, repeat: 2 });
  const ofRun = (run: number) => [
    { run, step: 'opening' },
    { run, step: 'warming-up' },
    { run, step: 'measuring', done: 0 },
    ...[0.2, 0.4, 0.6, 0.8, 1].map((done) => ({ run, step: 'measuring', done, hashesPerSecond: 81_920 })),
    ...Array.from({ length: 16 }, (_, page) => ({ run, step: 'searching-challenge', done: (page + 1) / 16 })),
    { run, step: 'done', hashesPerSecond: 81_920, spread: 0 },
  ];
  expect(steps).toEqual([...ofRun(1), ...ofRun(2)]);
});

it('of a challenge, each percent is reported once', async () => {
  const inSmallSteps = Object.assign(timed(clock, 'cpu', 100, 0), { step: { counters: 64, pages: 1 } });
  const percents: number[] = [];
  await measure([inSmallSteps], {
    onProgress: (_, progress) => {
      if (progress.step === 'searching-challenge') percents.push(Math.floor(100 * progress.done));
    },
  });
  expect(percents).toEqual(Array.from({ length: 101 }, (_, percent) => percent));
});

it('each search begins at a random place', async () => {
  const engine = honest();
  const asked: number[] = [];
  const random = (below: number) => asked.push(below);
  await measure([engine], { random });
  expect(asked.length).toBeGreaterThan(1);
  const [{ range }] = engine.searched;
  expect(range.lane).toBe(1);
});

it('a device that misses a candidate is distinguished from one that does not', async () => {
  const { runs } = await measure([honest('cpu'), withoutOne(honest('gpu0'))]);
  expect(runs[0]).toMatchObject({ candidates: { found: FOUND, missed: 0 }, errors: [DOUBT] });
  expect(runs[1].hashSum).not.toBe(runs[0].hashSum);
  expect(runs[1].candidates).toMatchObject({ found: FOUND - 1, missed: 1 });
  expect(runs[1].errors).toEqual(['missed candidates: 1', DOUBT.replace(`${FOUND}`, `${FOUND - 1}`)]);
});

it('a run that misses a candidate is distinguished from one that does not', async () => {
  // Each run has two searches: the second one is of the challenge.
  const { results } = await measure([withoutOne(honest('cpu'), (search) => search === 4)], { repeat: 3 });
  expect(results[0].runs.map(({ candidates }) => candidates.missed)).toEqual([0, 1, 0]);
});

it('wrong candidates are counted', async () => {
  const liar = honest();
  liar.alwaysWrong = true;
  const { runs } = await measure([liar]);
  // One in each of the 16 reports.
  expect(runs[0].candidates).toMatchObject({ found: FOUND, wrong: 16 });
  expect(runs[0].errors).toEqual(['wrong candidates: 16', DOUBT]);
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

it('power, clocks and efficiency are reported for each run and for all runs, if sensors give them', async () => {
  const engine = honest();
  const steps: string[] = [];
  const { results } = await measure([engine], {
    repeat: 2,
    listener: ({ name }) => ({ progress: (what) => steps.push(`${name}: ${what}`) }),
    onProgress: (_, { run, step }) => {
      engine.listener?.progress?.(step, 0);
      // What is reported during the warm-up and after the measurement does not count.
      const powerWatts = step === 'measuring' ? 50 * run : 1_000;
      engine.listener?.telemetry?.({ powerWatts, powerLimitWatts: 70, temperatureCelsius: 60 + run, coreHertz: 2e9 });
    },
  });
  const common = { powerLimitWatts: 70, coreHertz: 2e9, memoryHertz: null };
  const [device] = results;
  // 81,920 H/s with 75 W.
  expect(device).toMatchObject({ ...common, temperatureCelsius: 62, powerWatts: 75, hashesPerJoule: 1_092 });
  expect(device.runs).toMatchObject([
    { ...common, temperatureCelsius: 61, powerWatts: 50, hashesPerJoule: 1_638 },
    { ...common, temperatureCelsius: 62, powerWatts: 100, hashesPerJoule: 819 },
  ]);
  // The listener of each opening is the one that was given.
  expect(steps).toContain('cpu: warming-up');
});

it('a fault that is not the device’s ends the measurement, and engines are closed', async () => {
  const engine = honest();
  engine.openFaults.push(new RangeError('a fault of the program') as never);
  await expect(measure([engine])).rejects.toThrow('a fault of the program');
  expect(engine.closed).toBe(1);
});

it('a device that searches less than the challenge has failed', async () => {
  const steps: string[] = [];
  const hasty = new Tampered(honest(), (report) => ({ ...report, hashes: report.hashes - 1 }));
  const { results, failures } = await measure([hasty], { onProgress: (_, { step }) => steps.push(step) });
  expect(results).toEqual([]);
  expect(failures).toEqual(['cpu: it ended its search with 65520 of 65536 nonces']);
  expect(steps.slice(-2)).toEqual(['searching-challenge', 'failed']);
});
