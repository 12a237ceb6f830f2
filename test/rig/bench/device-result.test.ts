import { describe, expect, it } from 'vitest';
import type { CoreKind } from '#pickaxe/miner/engine/device.js';
import type { EngineInfo } from '#pickaxe/miner/engine/engine.js';
import { deviceResult, identityOf, type MeasuredRun, perJoule } from '#pickaxe/rig/bench/device-result.js';
import { FakeEngine } from '../../fakes.ts';

const NO_SENSORS = {
  temperatureCelsius: null,
  powerWatts: null,
  powerLimitWatts: null,
  coreHertz: null,
  memoryHertz: null,
};
const INFO: EngineInfo = { model: 'a chip', kernel: 'avx2', why: 'it is a test' };
const cpu = new FakeEngine('cpu');

function run(slices: number[], changes: Partial<MeasuredRun> = {}): MeasuredRun {
  const counts = { found: 4_000, wrong: 0, hashSum: '0123456789abcdef', doubts: [] };
  const date = '2026-11-22T07:33:27.123Z';
  return { engine: cpu, info: INFO, date, slices, byCores: new Map(), sensors: NO_SENSORS, ...counts, ...changes };
}

describe('the result of a device', () => {
  it('has the median of its runs, and their spread as a fraction of their mean, to a hundredth of a percent', () => {
    const result = deviceResult([run([100.4]), run([200, 400]), run([120.4])], 4_000);
    expect(result).toMatchObject({ hashesPerSecond: 120, medianHashesPerSecond: 160, p90HashesPerSecond: 340 });
    // The standard deviation of 100, 300 and 120, divided by their mean.
    expect(result.spread).toBe(0.6355);
    expect(result.runs.map(({ hashesPerSecond }) => hashesPerSecond)).toEqual([100, 300, 120]);
    expect(result.runs[1]).toMatchObject({ slices: [200, 400], spread: 0.4714, medianHashesPerSecond: 300 });
    expect(result.runs[1]).toMatchObject({ p90HashesPerSecond: 380 });
  });

  it('has the spread of its slices only in its run if there is one run', () => {
    const result = deviceResult([run([1.5, 2.6])], 4_000);
    expect(result.spread).toBeNull();
    expect(result.runs[0]).toMatchObject({ slices: [2, 3], hashesPerSecond: 2, spread: 0.3794 });
    expect(result).toMatchObject({ medianHashesPerSecond: 2, p90HashesPerSecond: 2 });
  });

  it('has the medians of the kinds of its cores, in whole hashes', () => {
    const of = (...rates: [CoreKind, number][]) => run([9], { byCores: new Map(rates) });
    const both = deviceResult([of(['performance', 5.5], ['efficiency', 2]), of(['performance', 7.4])], 4_000);
    expect(both).toMatchObject({ performanceCoresHashesPerSecond: 6, efficiencyCoresHashesPerSecond: 2 });
    expect(both.runs[0]).toMatchObject({ performanceCoresHashesPerSecond: 6, efficiencyCoresHashesPerSecond: 2 });
    expect(both.runs[1]).toMatchObject({ performanceCoresHashesPerSecond: 7, efficiencyCoresHashesPerSecond: null });
  });

  it('counts what other runs and devices have found, and it has not', () => {
    const { runs } = deviceResult([run([1], { wrong: 2, doubts: ['a doubt'] }), run([1], { found: 4_003 })], 4_003);
    expect(runs[0].candidates).toEqual({ found: 4_000, expected: 4_096, wrong: 2, missed: 3 });
    expect(runs[0].errors).toEqual(['wrong candidates: 2', 'missed candidates: 3', 'a doubt']);
    expect(runs[1].errors).toEqual([]);
  });

  it('has its efficiency by the median rate and the mean power', () => {
    const watts = (powerWatts: number) => ({ sensors: { ...NO_SENSORS, powerWatts, temperatureCelsius: powerWatts } });
    const result = deviceResult([run([1_000], watts(50)), run([2_100], watts(70))], 4_000);
    expect(result).toMatchObject({ powerWatts: 60, temperatureCelsius: 70, hashesPerJoule: 26 });
    expect(result.runs.map(({ hashesPerJoule }) => hashesPerJoule)).toEqual([20, 30]);
    expect(perJoule(1_000, NO_SENSORS)).toBeNull();
  });
});

describe('the identity of a device', () => {
  const gpu = Object.assign(new FakeEngine('gpu0'), { kind: 'gpu' });

  it('is what its engine says about it', () => {
    const cores = [{ kind: 'performance' as const, threads: 2, kernel: 'avx2' as const }];
    const common = { model: 'a chip', kernel: 'avx2' };
    expect(identityOf(cpu, { ...INFO, threads: 3, cores })).toEqual({
      ...common,
      kind: 'cpu',
      name: 'cpu',
      threads: 3,
      cores,
    });
    const chosen = { driver: 'a driver', variant: 'wgsl 128×16', workgroupSize: 128, noncesPerInvocation: 16 };
    expect(identityOf(gpu, { ...INFO, bus: '0000:01:00.0', gpu: { ...chosen, batchMs: 8 } })).toEqual({
      ...common,
      kind: 'gpu',
      name: 'gpu0',
      bus: '0000:01:00.0',
      ...chosen,
      batchSeconds: 0.008,
    });
  });

  it('has null for what its engine does not say', () => {
    expect(identityOf(cpu, INFO)).toMatchObject({ threads: null, cores: null });
    const unknown = { bus: null, driver: null, variant: null, workgroupSize: null, noncesPerInvocation: null };
    expect(identityOf(gpu, INFO)).toMatchObject({ ...unknown, batchSeconds: null });
  });
});
