/** The measurements, on a GPU of this machine. */

import { expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { makeChallenge } from '#pickaxe/rig/bench/challenge.js';
import { measureDevices } from '#pickaxe/rig/bench/measure.js';
import { type StressStats, stressDevices } from '#pickaxe/rig/bench/stress.js';
import { describeGpu, gpuEngine } from '../../miner/engine/gpu/adapter.ts';
import { GOLDEN } from './golden.ts';

const [golden] = GOLDEN;
type GpuEngine = ReturnType<typeof gpuEngine>;

/** Devices whose failures fail the test. */
const openOptions = {
  clock: systemClock,
  listener: () => ({}),
  failed: (_: unknown, { message }: Error) => expect.unreachable(message),
};

const measure = (engine: GpuEngine) =>
  measureDevices([engine], {
    ...openOptions,
    challenge: makeChallenge('pickaxe', golden.count),
    warmUpMs: 10,
    seconds: 0.05,
    repeat: 1,
    together: false,
    random: () => 0,
    onProgress: () => {},
  });

/** @param until called again and again; returns whether the test has seen enough */
async function stress(engine: GpuEngine, until: (stats: StressStats) => boolean): Promise<StressStats> {
  const stop = new AbortController();
  const [stats] = await stressDevices([engine], {
    ...openOptions,
    seed: 'pickaxe',
    count: 2 ** 16,
    // Longer than any test takes.
    seconds: 600,
    stop: stop.signal,
    sampleMs: 5,
    onSample: (sampled) => {
      if (until(sampled)) stop.abort();
    },
    onError: () => {},
  });
  return stats;
}

describeGpu('a GPU that is measured', () => {
  it('has the same hash sum, and reports its kernel variant', async () => {
    expect(await measure(gpuEngine())).toMatchObject([
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
    const [{ runs }] = await measure(gpuEngine({ faults: ['wrong nonces'] }));
    expect(runs[0].candidates.wrong).toBeGreaterThan(0);
    expect(runs[0].errors).toContainEqual(expect.stringContaining('wrong candidates'));
  });
});

describeGpu('a GPU under stress', () => {
  it('has no errors', async () => {
    const { wrong, missed, errors } = await stress(gpuEngine(), ({ rounds }) => rounds >= 2);
    expect({ wrong, missed, errors }).toEqual({ wrong: 0, missed: 0, errors: [] });
  });

  it('is caught if it reports wrong candidates', async () => {
    const { errors } = await stress(gpuEngine({ faults: ['wrong nonces'] }), ({ wrong }) => wrong > 0);
    expect(errors).toContainEqual(expect.stringContaining('wrong candidates'));
  });
});
