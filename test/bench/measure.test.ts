import { expect, it } from 'vitest';
import { makeChallenge } from '#pickaxe/bench/challenge.js';
import { measureDevices } from '#pickaxe/bench/measure.js';
import { DeviceError, type Engine } from '#pickaxe/engine/engine.js';
import { systemClock } from '#pickaxe/system/clock.js';
import { describeGpu, gpuEngine } from '../engine/gpu/adapter.ts';
import { FakeEngine } from '../fakes.ts';
import { honest, withoutOne } from './engines.ts';
import { GOLDEN } from './golden.ts';

const [golden] = GOLDEN;

function measure(engines: Engine[], together = false) {
  const failures: string[] = [];
  const devices = measureDevices(engines, {
    challenge: makeChallenge('pickaxe', golden.count),
    warmUpMs: 10,
    seconds: 0.05,
    together,
    clock: systemClock,
    random: () => 0,
    listener: () => ({}),
    failed: ({ name }, { message }) => failures.push(`${name}: ${message}`),
  });
  return devices.then((results) => ({ results, failures }));
}

it.each([true, false])('measures devices, together: %s', async (together) => {
  const engines = [honest('cpu'), honest('gpu0')];
  const { results, failures } = await measure(engines, together);
  expect(failures).toEqual([]);
  expect(results.map(({ name }) => name)).toEqual(['cpu', 'gpu0']);
  for (const { slices, hashrate, sum, candidates, errors } of results) {
    expect(slices).toHaveLength(5);
    expect(hashrate.min).toBeGreaterThan(0);
    expect(sum).toBe(golden.sum);
    expect(candidates).toEqual({ found: golden.candidates, expected: 4_096, wrong: 0, missed: 0 });
    expect(errors).toEqual([]);
  }
  expect(engines.map(({ closed }) => closed)).toEqual([1, 1]);
});

it('together means at the same time, and else one after the other', async () => {
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
  await measure(pair(), true);
  expect(order.slice(0, 2)).toEqual(['search a', 'search b']);
  expect(order.slice(-2)).toEqual(['close a', 'close b']);
});

it('tells the device that misses a candidate from the one that does not', async () => {
  const { results } = await measure([withoutOne(honest('cpu')), honest('gpu0')]);
  expect(results[0].sum).not.toBe(golden.sum);
  expect(results[0].candidates).toMatchObject({ found: golden.candidates - 1, missed: 1 });
  expect(results[0].errors).toEqual(['missed candidates: 1']);
  expect(results[1]).toMatchObject({ sum: golden.sum, errors: [] });
});

it('counts wrong candidates', async () => {
  const liar = honest();
  liar.alwaysWrong = true;
  const { results } = await measure([liar]);
  expect(results[0].candidates.wrong).toBeGreaterThan(0);
  expect(results[0].errors).toEqual([expect.stringMatching(/^wrong candidates: \d+$/)]);
});

it.each([true, false])('goes on without a device that fails, together: %s', async (together) => {
  const missing = honest('gpu0');
  missing.openFaults.push(new DeviceError('missing', 'there is none'));
  const lost = honest('gpu1');
  lost.fault = new DeviceError('lost', 'it was lost');
  const { results, failures } = await measure([missing, honest('cpu'), lost], together);
  expect(results.map(({ name }) => name)).toEqual(['cpu']);
  expect(failures).toEqual(['gpu0: there is none', 'gpu1: it was lost']);
  expect([missing.closed, lost.closed]).toEqual([1, 1]);
});

it('tells power and efficiency where sensors tell them', async () => {
  const engine = honest();
  const measuring = measure([engine]);
  const telling = setInterval(() => engine.listener?.telemetry?.({ powerW: 50, temperatureC: 60 }), 1);
  const { results } = await measuring;
  clearInterval(telling);
  const [{ powerW, temperatureC, hashes_per_joule, hashrate }] = results;
  expect({ powerW, temperatureC }).toEqual({ powerW: 50, temperatureC: 60 });
  expect(hashes_per_joule).toBeCloseTo(hashrate.mean / 50);
  expect(Object.keys((await measure([honest()])).results[0])).not.toContain('powerW');
});

describeGpu('a GPU', () => {
  it('has the same hash sum', async () => {
    const { results } = await measure([gpuEngine()]);
    expect(results).toMatchObject([{ sum: golden.sum, candidates: { wrong: 0 }, errors: [] }]);
  });

  it('that reports wrong candidates is caught', async () => {
    const { results } = await measure([gpuEngine({ faults: ['wrong nonces'] })]);
    expect(results[0].candidates.wrong).toBeGreaterThan(0);
    expect(results[0].errors).toContainEqual(expect.stringContaining('wrong candidates'));
  });
});
