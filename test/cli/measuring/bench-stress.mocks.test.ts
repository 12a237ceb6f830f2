/** `pickaxe bench --stress` with engines whose hashes take time only by the test's clock. */

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DeviceError, type Engine } from '#pickaxe/miner/engine/engine.js';
import { StressResult } from '#pickaxe/rig/bench/bench-result.js';
import { FakeEngine } from '../../fakes.ts';
import { FOUND, timed, withoutOne } from '../../rig/bench/engines.ts';
import { START_MS, SteppedClock } from '../../stepped-clock.ts';
import { pickaxe } from '../in-process.ts';
import { messagesOf } from './logged.ts';

const machine = vi.hoisted(() => ({
  clock: {} as SteppedClock,
  engines: [] as Engine[],
  log: [] as string[],
  /** Fires the first signal of the system, while the command handles signals. */
  signal: undefined as (() => void) | undefined,
  /** Why only root may read the power, if that is so. */
  refused: undefined as string | undefined,
}));

vi.mock('#pickaxe/app/composition/choose-engines.js', async (load) => ({
  ...(await load<object>()),
  chooseEngines: async () => machine.engines,
}));
vi.mock('#pickaxe/base/system/clock.js', async (load) => ({
  ...(await load<object>()),
  systemClock: new Proxy({}, { get: (_, name) => Reflect.get(machine.clock, name).bind(machine.clock) }),
}));
vi.mock('#pickaxe/rig/terminal/screen.js', async (load) => ({
  ...(await load<object>()),
  terminalKind: () => ({ escapes: false, colours: false }),
  writeLine: (_: unknown, line: string) => machine.log.push(line),
}));
vi.mock('#pickaxe/app/process/signals.js', () => ({
  onSignals: (stop: () => void) => {
    machine.signal = stop;
    return () => {
      machine.signal = undefined;
    };
  },
}));
vi.mock('#pickaxe/miner/engine/cpu/cpu-sensors.js', async (load) => ({
  ...(await load<object>()),
  openCpuSensors: async () => ({ what: 'only root may read them', refused: machine.refused }),
}));
// Timed engines find far fewer candidates than are expected.
vi.mock('#pickaxe/rig/bench/challenge.js', async (load) => ({ ...(await load<object>()), doubtsOf: () => [] }));

let cpu: FakeEngine;

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS + 5, toFake: ['Date'] });
  machine.clock = new SteppedClock();
  cpu = timed(machine.clock);
  Object.assign(machine, { engines: [cpu], log: [], refused: undefined });
  return () => vi.useRealTimers();
});

const stress = (...args: string[]) =>
  pickaxe('bench', '--stress', '--devices', 'cpu', '--count', '65536', '--log-format', 'json', ...args);

async function stressJson(...args: string[]) {
  const { code, stdout, stderr } = await stress('--json', ...args);
  expect(stderr).toBe('');
  return { code, json: StressResult.parse(JSON.parse(stdout)) };
}

const logged = () => messagesOf(machine.log);

it('a device is kept busy until the time is up, and its samples are logged', async () => {
  const { code, json } = await stressJson('--seconds', '3.2');
  expect(code).toBe(0);
  expect(json).toMatchObject({
    type: 'stress',
    formatVersion: 1,
    date: new Date(START_MS + 5).toISOString(),
    seed: 'pickaxe',
    count: 65_536,
    durationSeconds: 3.2,
    failed: [],
    devices: [{ name: 'cpu', rounds: 2, candidates: { found: 2 * FOUND, wrong: 0, missed: 0 }, errors: [] }],
  });
  // A fifth of the time.
  expect(json.devices[0].samples.map(({ elapsedSeconds }) => elapsedSeconds)).toEqual([0.64, 1.28, 1.92, 2.56, 3.2]);
  expect(logged()[0]).toBe('info cpu: 38.40 kH/s; candidates: 12 verified, 0 wrong, 0 missed');
  expect(machine.signal).toBeUndefined();
});

it('samples have the readings that there are', async () => {
  const reading = machine.clock.setInterval(
    () => cpu.listener?.telemetry?.({ temperatureCelsius: 60.6, powerWatts: 99.5 }),
    100,
  );
  await stressJson('--seconds', '3.2');
  reading.cancel();
  expect(logged()[0]).toMatch(/^info cpu: .* kH\/s, 61 °C, 100 W; candidates: \d+ verified, 0 wrong, 0 missed$/);
});

describe('without a length', () => {
  it('it takes a minute, and the rounds grow', async () => {
    const whole = Object.assign(new FakeEngine('cpu'), { step: { counters: 2 ** 32, pages: 2 ** 16 } });
    const searched: number[] = [];
    whole.reported = (_, { counters, pages }) => {
      searched.push(Math.log2(counters * pages));
      machine.clock.advance(500);
      return [];
    };
    machine.engines = [whole];
    const { stdout } = await pickaxe('bench', '--stress', '--devices', 'cpu', '--json', '--log-format', 'json');
    const json = StressResult.parse(JSON.parse(stdout));
    expect(json).toMatchObject({ durationSeconds: 60, count: null, seed: 'pickaxe' });
    expect(searched.slice(0, 3)).toEqual([24, 25, 26]);
    expect(json.devices[0].samples).toHaveLength(12);
  });
});

it.each([
  // A sample in five seconds, or 120 samples, or a sample a minute.
  ['25', 5, 5],
  ['600', 5, 120],
  ['3600', 30, 120],
  ['2h', 60, 120],
  ['20d', 60, 28_800],
])('in %s, samples take %i seconds', async (seconds, length, samples) => {
  cpu.reported = () => {
    machine.clock.advance(length * 50);
    // The rest of a long test is left out.
    if (machine.clock.monotonicMs() >= 3 * length * 1_000) machine.signal?.();
    return [];
  };
  const { json } = await stressJson('--seconds', seconds);
  expect(json.devices[0].samples.map(({ elapsedSeconds }) => elapsedSeconds).slice(0, 2)).toEqual([length, 2 * length]);
  expect(json.durationSeconds / length).toBe(samples);
});

it('a signal ends it early, as the log says', async () => {
  machine.clock.setTimeout(() => machine.signal?.(), 2_000);
  const { code, json } = await stressJson('--seconds', '1h');
  expect(code).toBe(0);
  expect(machine.clock.monotonicMs()).toBeLessThan(2_200);
  expect(json).toMatchObject({ durationSeconds: 3_600, devices: [{ rounds: 1 }] });
  expect(logged()[0]).toBe('info bench: stopping; repeat to exit at once');
});

it('people get a table', async () => {
  const { code, stdout } = await stress('--seconds', '3.2');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^cpu {4}fake; reference\n {2}hashrate {6}[\d.]+ kH\/s ± [\d.]+ % \([\d.]+ kH\/s to [\d.]+ kH/,
  );
  const rest = stdout.slice(stdout.indexOf('  power'));
  expect(rest).toBe(
    [
      '  power         not known',
      '  rounds        2',
      `  candidates    ${2 * FOUND} verified, 0 wrong, 0 missed`,
      '  errors        none',
    ].join('\n'),
  );
});

it('a table says that no round was complete, and what is wrong', async () => {
  cpu.alwaysWrong = true;
  const missing = timed(machine.clock, 'gpu0');
  missing.openFaults.push(new DeviceError('missing', 'there is none'));
  machine.engines = [cpu, missing];
  const { code, stdout } = await stress('--seconds', '0.3');
  expect(code).toBe(6);
  expect(stdout).toContain('  rounds        none was complete, so missed candidates are not known\n');
  expect(stdout).toContain('  ERROR         wrong candidates: 3\n');
  expect(stdout).not.toContain('errors        none');
  expect(stdout).toMatch(/\ngpu0 {3}not used: there is none$/);
  expect(logged()).toContain('error cpu: wrong candidates: 3');
  expect(logged()).toContain('error gpu0: there is none');
});

it('a warning says that only root may read the power', async () => {
  machine.refused = '/sys/energy_uj';
  await stress('--seconds', '0.3');
  expect(logged().at(-1)).toBe('warn cpu: sensors: only root may read them');
});

describe('the exit code', () => {
  const failing = (fault: 'missing' | 'wrong-hashes') => {
    const engine = timed(machine.clock, 'gpu0');
    engine.openFaults.push(new DeviceError(fault, 'a fault'));
    return engine;
  };

  it('is 0 if a device is not available, and another one is good', async () => {
    machine.engines = [cpu, failing('missing')];
    const { code, json } = await stressJson('--seconds', '0.3');
    expect(code).toBe(0);
    expect(json.failed).toEqual([{ name: 'gpu0', fault: 'missing', reason: 'a fault' }]);
  });

  it('is 3 if there is no device', async () => {
    machine.engines = [failing('missing')];
    expect((await stressJson('--seconds', '0.3')).code).toBe(3);
  });

  it('is 6 if a device cannot be opened because it computes wrong hashes', async () => {
    machine.engines = [cpu, failing('wrong-hashes')];
    expect((await stressJson('--seconds', '0.3')).code).toBe(6);
  });

  it('is 6 if a device missed a candidate, even if another one did not', async () => {
    const missing = withoutOne(timed(machine.clock, 'gpu0'), (search) => search === 2);
    machine.engines = [cpu, missing];
    const { code, json } = await stressJson('--seconds', '10');
    expect(json.devices.map(({ candidates }) => candidates.missed)).toEqual([0, 1]);
    expect(code).toBe(6);
  });

  it('is 6 if a device is lost meanwhile, which is one of its errors', async () => {
    machine.clock.setTimeout(() => {
      cpu.fault = new DeviceError('lost', 'it was lost');
    }, 2_000);
    const { code, json } = await stressJson('--seconds', '10');
    expect(code).toBe(6);
    expect(json.failed).toEqual([]);
    expect(json.devices[0].errors).toEqual(['it failed: it was lost']);
    expect(logged()).toContain('error cpu: it was lost');
  });
});
