/** The command line of the bench, with engines whose hashes take time only by the test's clock. */

import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DeviceFault } from '#pickaxe/miner/engine/device.js';
import { DeviceError, type Engine } from '#pickaxe/miner/engine/engine.js';
import { BenchResult } from '#pickaxe/rig/bench/bench-result.js';
import type { FakeEngine } from '../../fakes.ts';
import { FOUND, timed, withoutOne } from '../../rig/bench/engines.ts';
import { START_MS, SteppedClock } from '../../stepped-clock.ts';
import { pickaxe } from '../in-process.ts';
import { messagesOf } from './logged.ts';

/** What the command finds. */
const machine = vi.hoisted(() => ({
  clock: {} as SteppedClock,
  engines: [] as Engine[],
  terminal: { escapes: false, colours: false },
  isForeground: true,
  /** What the terminal got, and lines of the log. */
  written: [] as string[],
  columns: 200,
  refused: undefined as string | undefined,
  random: 0,
}));

vi.mock('#pickaxe/app/composition/choose-engines.js', async (load) => ({
  ...(await load<object>()),
  chooseEngines: async () => machine.engines,
}));
vi.mock('#pickaxe/base/system/clock.js', async (load) => ({
  ...(await load<object>()),
  systemClock: new Proxy({}, { get: (_, name) => Reflect.get(machine.clock, name).bind(machine.clock) }),
}));
vi.mock('#pickaxe/rig/terminal/screen.js', async (load) => {
  const real = await load<typeof import('#pickaxe/rig/terminal/screen.js')>();
  const output = {
    get columns() {
      return machine.columns;
    },
    write: (text: string) => machine.written.push(text),
  };
  return {
    ...real,
    screen: new real.Screen(output),
    terminalKind: () => machine.terminal,
    isForeground: () => machine.isForeground,
    writeLine: (_: unknown, line: string) => machine.written.push(line),
  };
});
vi.mock('#pickaxe/miner/engine/cpu/cpu-sensors.js', async (load) => ({
  ...(await load<object>()),
  openCpuSensors: async () => ({ what: 'only root may read them', refused: machine.refused }),
}));
// Timed engines find far fewer candidates than are expected.
vi.mock('#pickaxe/rig/bench/challenge.js', async (load) => ({ ...(await load<object>()), doubtsOf: () => [] }));
vi.mock('node:crypto', async (load) => ({
  ...(await load<object>()),
  randomInt: (below: number) => Math.min(machine.random, below - 1),
}));

let cpu: FakeEngine;
let gpu: FakeEngine;

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS + 5, toFake: ['Date'] });
  machine.clock = new SteppedClock();
  cpu = timed(machine.clock);
  gpu = timed(machine.clock, 'gpu0', 50);
  Object.assign(machine, { engines: [cpu, gpu], written: [], columns: 200, refused: undefined, isForeground: true });
  machine.terminal = { escapes: false, colours: false };
  return () => vi.useRealTimers();
});

const small = ['--devices', 'cpu', '--seconds', '5', '--count', '65536', '--log-format', 'json'];
const bench = (...args: string[]) => pickaxe('bench', ...small, ...args);
async function benchJson(...args: string[]) {
  const { code, stdout, stderr } = await bench('--json', ...args);
  expect(stderr).toBe('');
  return { code, json: BenchResult.parse(JSON.parse(stdout)) };
}

const logged = () => messagesOf(machine.written);

const failing = (engine: FakeEngine, fault: DeviceFault) => engine.openFaults.push(new DeviceError(fault, 'a fault'));

describe('pickaxe bench', () => {
  it('measures each device, and prints its figures and the line to paste', async () => {
    const { code, json } = await benchJson();
    expect(code).toBe(0);
    const date = new Date(START_MS + 5).toISOString();
    const asked = { seed: 'pickaxe', count: 65_536, durationSeconds: 5, repeat: 1, together: false };
    expect(json).toMatchObject({ type: 'bench', formatVersion: 1, date, ...asked, failed: [] });
    expect(json.devices).toMatchObject([
      { name: 'cpu', kind: 'cpu', hashesPerSecond: 81_920, spread: null },
      { name: 'gpu0', kind: 'gpu', hashesPerSecond: 163_840 },
    ]);
    const [{ hashSum, candidates, date: began }] = json.devices[0].runs;
    // The warm-up takes two seconds.
    expect(began).toBe(new Date(START_MS + 2_000).toISOString());
    expect(candidates).toEqual({ found: FOUND, expected: 4_096, wrong: 0, missed: 0 });
    expect(json.devices.map(({ line }) => line)).toEqual(
      ['81.92 kH/s', '163.8 kH/s'].map((rate) =>
        expect.stringContaining(` · reference · ${rate} ± 0.0 % · sum ${hashSum} of “pickaxe” and 65536 `),
      ),
    );
    expect(json.machine.node).toBe(process.version);
    expect([cpu.closed, gpu.closed]).toEqual([1, 1]);
  });

  it('measures for ten seconds each, and the usual number of nonces, if nothing else is said', async () => {
    const whole = Object.assign(timed(machine.clock, 'cpu', 1_000, 0), { step: { counters: 2 ** 32, pages: 128 } });
    machine.engines = [whole];
    const { code, stdout } = await pickaxe('bench', '--devices', 'cpu', '--json', '--log-format', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ durationSeconds: 10, count: 2 ** 27, seed: 'pickaxe', repeat: 1 });
    expect(JSON.parse(stdout).devices[0].line).toMatch(/ · sum [0-9a-f]{16} · pickaxe /);
    expect(machine.written[0]).toContain('measuring for 10 s after a warm-up');
    // Two seconds of warm-up, a report that begins the measurement, ten seconds, and the challenge.
    expect(machine.clock.monotonicMs()).toBe(2_000 + 10_000 + 1_000);
  });

  it('measures for up to an hour', async () => {
    const whole = Object.assign(timed(machine.clock, 'cpu', 1_000, 0), { step: { counters: 2 ** 20, pages: 8 } });
    machine.engines = [whole];
    const { json } = await benchJson('--seconds', '1h');
    expect(json.durationSeconds).toBe(3_600);
    expect(json.devices[0].runs[0].slices).toHaveLength(3_600);
  });

  it('warms up no longer than it measures', async () => {
    machine.engines = [cpu];
    const { json } = await benchJson('--seconds', '1');
    expect(json.devices[0].runs[0].date).toBe(new Date(START_MS + 1_000).toISOString());
    expect(json.devices[0].runs[0].slices).toHaveLength(5);
  });

  it('begins its search at a random place', async () => {
    machine.random = 77;
    machine.engines = [cpu];
    await bench();
    expect(cpu.searched[0].range.lane).toBe(77);
    machine.random = 0;
  });

  it('repeats its runs, with another seed, and all devices at once', async () => {
    const { code, json } = await benchJson('--repeat', '2', '--seed', 'mine', '--together');
    expect(code).toBe(0);
    expect(json).toMatchObject({ repeat: 2, seed: 'mine', together: true });
    expect(json.devices.map(({ runs, spread }) => [runs.length, spread])).toEqual([
      [2, 0],
      [2, 0],
    ]);
    const sums = new Set(json.devices.flatMap(({ runs }) => runs.map(({ hashSum }) => hashSum)));
    expect(sums.size).toBe(1);
  });

  it('prints text for people, or CSV', async () => {
    const text = await bench();
    expect(text.stdout).toMatch(/^pickaxe \S+ on /);
    expect(text.stdout).toContain('cpu    fake; reference\n  hashrate      81.92 kH/s ± 0.0 % (mean of 5 slices: ');
    expect(text.stdout).toContain(' All devices agree.\n');
    const { stdout, code } = await bench('--csv');
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(',')[6])).toEqual(['name', 'cpu', 'gpu0']);
  });

  it('logs when a run begins and how it ends', async () => {
    cpu.info = { model: 'a chip' };
    await bench();
    expect(logged()).toEqual([
      'info cpu: measuring for 5 s after a warm-up',
      'info cpu: 81.92 kH/s ± 0.0 %',
      'info gpu0: measuring for 5 s after a warm-up',
      'info gpu0: 163.8 kH/s ± 0.0 %',
    ]);
    Object.assign(machine, { engines: [cpu], written: [] });
    await bench('--repeat', '2');
    expect(logged()).toEqual([
      'info cpu: run 1 of 2: measuring for 5 s after a warm-up',
      'info cpu: run 1 of 2: 81.92 kH/s ± 0.0 %',
      'info cpu: run 2 of 2: measuring for 5 s after a warm-up',
      'info cpu: run 2 of 2: 81.92 kH/s ± 0.0 %',
    ]);
  });

  it('logs the steps of opening a device', async () => {
    machine.engines = [cpu];
    const { open } = cpu;
    cpu.open = async (listener) => {
      listener?.progress?.('measuring the kernels', 0);
      return open.call(cpu, listener);
    };
    await bench();
    expect(logged()[0]).toBe('info cpu: measuring the kernels');
  });

  it('warns if only root may read the power of the CPU, and its power is not known', async () => {
    machine.refused = '/sys/energy_uj';
    await bench();
    expect(logged().at(-1)).toBe('warn cpu: sensors: only root may read them');
    expect(logged().filter((line) => line.includes('sensors'))).toHaveLength(1);
    machine.written = [];
    const { search } = cpu;
    cpu.search = (...args) => {
      machine.clock.setTimeout(() => cpu.listener?.telemetry?.({ powerWatts: 9 }), 2_500);
      return search.apply(cpu, args);
    };
    await bench();
    expect(logged().filter((line) => line.includes('sensors'))).toEqual([]);
  });

  it('does not warn of a GPU whose power is not known', async () => {
    Object.assign(machine, { engines: [gpu], refused: '/sys/energy_uj' });
    await bench();
    expect(logged().filter((line) => line.includes('sensors'))).toEqual([]);
  });
});

describe('the exit code of the bench', () => {
  it('is 0 if a device is missing and another one is measured', async () => {
    failing(gpu, 'missing');
    const { code, json } = await benchJson();
    expect(code).toBe(0);
    expect(json.failed).toEqual([{ name: 'gpu0', fault: 'missing', reason: 'a fault' }]);
    expect(logged()).toContain('error gpu0: a fault');
  });

  it('is 3 if no device could be measured', async () => {
    failing(cpu, 'lost');
    failing(gpu, 'missing');
    const { code, json } = await benchJson();
    expect(code).toBe(3);
    expect(json.devices).toEqual([]);
  });

  it('is 6 if a device computes wrong hashes', async () => {
    failing(gpu, 'wrong-hashes');
    expect((await benchJson()).code).toBe(6);
  });

  it('is 6 if any run has errors, and then that device has no line to paste', async () => {
    // Each run has two searches: the second one is of the challenge.
    machine.engines = [withoutOne(cpu, (search) => search === 4), gpu];
    const { code, json } = await benchJson('--repeat', '2');
    expect(code).toBe(6);
    expect(json.devices[0].runs.map(({ errors }) => errors)).toEqual([[], ['missed candidates: 1']]);
    expect(json.devices.map((device) => 'line' in device)).toEqual([false, true]);
  });
});

describe('on a terminal', () => {
  beforeEach(() => {
    machine.terminal = { escapes: true, colours: false };
    machine.engines = [cpu];
  });

  const onTerminal = (...args: string[]) => pickaxe('bench', ...small.slice(0, 6), ...args);
  /** The texts of the line, one after the other, without the codes around them. */
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's codes begin with ESC
  const lines = () => machine.written.map((text) => text.replace(/\x1b\[\??\d*[A-Za-z]|\r/g, ''));

  it('the progress is one line, which is gone at the end', async () => {
    await onTerminal();
    const percents = Array.from({ length: 16 }, (_, page) => `${Math.round((100 * (page + 1)) / 16)} %`);
    expect(lines()).toEqual([
      'cpu starting',
      'cpu warming up',
      'cpu measuring 0 %',
      ...[20, 40, 60, 80, 100].map((percent) => `cpu measuring ${percent} %, 81.92 kH/s`),
      ...percents.map((percent) => `cpu computing the hash sum ${percent}`),
      '',
    ]);
  });

  it('the line has all devices that are busy, the run if there are several, and a free last column', async () => {
    machine.engines = [cpu, gpu];
    await onTerminal('--together', '--repeat', '2');
    expect(lines()).toContain('cpu run 2 of 2 warming up  gpu0 run 2 of 2 warming up');
    machine.written = [];
    machine.columns = 21;
    await onTerminal('--together');
    expect(lines()).toContain('cpu warming up  gpu0');
    expect(Math.max(...lines().map(({ length }) => length))).toBe(20);
  });

  it('a device that fails leaves the line', async () => {
    failing(cpu, 'lost');
    await onTerminal();
    expect(lines()).toContain('cpu starting');
    expect(lines().some((line) => line.includes('a fault'))).toBe(true);
    expect(lines().at(-1)).not.toContain('starting');
  });

  it.each([
    ['in the background', () => Object.assign(machine, { isForeground: false }), []],
    ['with a log of JSON', () => {}, ['--log-format', 'json']],
  ])('there is no such line %s', async (_, prepare, args) => {
    prepare();
    await onTerminal(...args);
    expect(lines().some((line) => line.includes('warming up'))).toBe(false);
    expect(lines().some((line) => line.includes('measuring for 5 s after a warm-up'))).toBe(true);
  });

  it('elsewhere there are only lines of the log', async () => {
    machine.terminal = { escapes: false, colours: false };
    await onTerminal();
    expect(machine.written.map((line) => line.slice(line.indexOf('cpu')))).toEqual([
      'cpu   measuring for 5 s after a warm-up\n',
      'cpu   81.92 kH/s ± 0.0 %\n',
    ]);
  });

  it('Ctrl-C clears the line, and then ends the process as without a handler', async () => {
    const before = process.listeners('SIGINT');
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const { platform } = process;
    const interrupt = () => {
      const [added] = process.listeners('SIGINT').filter((each) => !before.includes(each));
      added?.('SIGINT');
    };
    try {
      machine.clock.setTimeout(interrupt, 3_000);
      await onTerminal();
      expect(kill.mock.calls).toEqual([[process.pid, 'SIGINT']]);
      expect(exit).not.toHaveBeenCalled();
      const at = lines().indexOf('');
      expect(at).toBeLessThan(lines().length - 1);
      Object.defineProperty(process, 'platform', { value: 'win32' });
      machine.clock.setTimeout(interrupt, 3_000);
      await onTerminal();
      expect(exit.mock.calls).toEqual([[130]]);
    } finally {
      Object.defineProperty(process, 'platform', { value: platform });
      vi.restoreAllMocks();
    }
    expect(process.listeners('SIGINT')).toEqual(before);
  });
});
