/** The built command line reads the sensors of pretended machines. */

import { afterEach, describe, expect, it, vi } from 'vitest';
import { DevicesReport } from '#pickaxe/cli/measuring/devices.js';
import { DoctorReport } from '#pickaxe/cli/setup/doctor.js';
import { BenchResult } from '#pickaxe/rig/bench/bench-result.js';
import { expectShape } from '../../expect-shape.ts';
import { INTEL_DESKTOP, PretendedMachine, RYZEN } from '../../miner/engine/cpu/cpu-sensors/machines.ts';
import { PATIENCE } from '../../patience.ts';
import { asker } from '../../rig/http/serving.ts';
import { type Run, start } from '../pickaxe.ts';
import { on } from '../pretended.ts';

const ZONE = 'class/hwmon/hwmon3/temp1_input';
const CLOSED = 'energy_uj$';
const WATTS = 125;

const runs: Run[] = [];
afterEach(async () => {
  for (const { child } of runs) child.kill('SIGKILL');
  await Promise.all(runs.splice(0).map(({ code }) => code));
});

function run(args: string[], env: Record<string, string>): Run {
  const started = start(args, env);
  runs.push(started);
  return started;
}

describe('a CPU with sensors', () => {
  it('shows them everywhere while it mines, and is paused while it is too hot', async () => {
    const machine = new PretendedMachine(INTEL_DESKTOP);
    const demo = ['demo', '--devices', 'cpu', '--threads', '1', '--json', '--http', '0'];
    const mining = run([...demo, '--cpu-temp-limit', '95', '--cpu-temp-resume', '85'], on(machine, { watts: WATTS }));
    const port = await vi.waitFor(() => {
      const [, found] = /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(mining.stderr) ?? [];
      expect(found, mining.stderr).toBeDefined();
      return Number(found);
    }, PATIENCE);
    const ask = asker(port);
    const cpu = async () => (await ask('/api/v1/status')).json.devices.cpu;

    const hashing = await vi.waitFor(async () => {
      const now = await cpu();
      expect(now).toMatchObject({ sensors: { powerWatts: expect.any(Number) }, hashesPerJoule: expect.any(Number) });
      return now;
    }, PATIENCE);
    expect(hashing.sensors).toMatchObject({ temperatureCelsius: 81, coreHertz: 5.1e9 });
    expect(Math.abs(hashing.sensors.powerWatts - WATTS)).toBeLessThan(WATTS / 10);
    expect(hashing.hashesPerJoule).toBeCloseTo(hashing.hashesPerSecond / hashing.sensors.powerWatts, 0);
    const { text } = await ask('/metrics');
    expect(text).toMatch(/^pickaxe_temperature_celsius\{device="cpu",sensor="core"\} 81$/m);
    expect(text).toMatch(/^pickaxe_power_watts\{device="cpu"\} \d/m);
    expect((await ask('/2/backends')).json[0].threads[0].health).toMatchObject({ temperature: 81, clock: 5100 });
    await vi.waitFor(() => {
      expect(mining.events('hashrate').at(-1)).toMatchObject({
        devices: { cpu: { sensors: { temperatureCelsius: 81 } } },
      });
    }, PATIENCE);
    expect(mining.events('device')[0]).toMatchObject({
      state: 'ready',
      detail: expect.stringMatching(/; sensors: temperature from coretemp, power from RAPL, clock from cpufreq$/),
    });

    machine.write({ [ZONE]: 96_000 });
    const reason = 'its temperature is 96 °C; it resumes at 85 °C';
    await vi.waitFor(async () => expect(await cpu()).toMatchObject({ state: 'paused', reason }), PATIENCE);
    machine.write({ [ZONE]: 85_000 });
    await vi.waitFor(async () => expect(await cpu()).toMatchObject({ state: 'ready' }), PATIENCE);
    mining.child.kill('SIGINT');
    expect(await mining.code).toBe(0);
  });

  it('has its power and efficiency measured', async () => {
    const machine = new PretendedMachine(INTEL_DESKTOP);
    const { code, lines } = run(
      ['bench', '--devices', 'cpu', '--threads', '1', '--seconds', '5', '--count', '65536', '--json'],
      on(machine, { watts: WATTS }),
    );
    expect(await code).toBe(0);
    const result = JSON.parse(lines[0]);
    expectShape(BenchResult, result);
    const [device] = result.devices;
    expect(device).toMatchObject({ temperatureCelsius: 81, coreHertz: 5.1e9 });
    expect(Math.abs(device.powerWatts - WATTS)).toBeLessThan(WATTS / 10);
    expect(device.hashesPerJoule).toBe(Math.round(device.hashesPerSecond / device.powerWatts));
  });
});

describe('a CPU whose power only root may read', () => {
  const env = () => on(new PretendedMachine(RYZEN), { refused: CLOSED });

  it('is reported by doctor, with what to do', async () => {
    const { code, lines } = run(['doctor', '--json', '--threads', '1'], env());
    await code;
    const report = JSON.parse(lines[0]);
    expectShape(DoctorReport, report);
    expect(report.findings).toContainEqual({
      about: 'sensors',
      state: 'warning',
      what: expect.stringContaining('/sys/class/powercap/intel-rapl:0/energy_uj'),
      why: expect.any(String),
      remedy: expect.stringContaining('docs/devices.md, “Allow pickaxe to read the power”'),
    });
  });

  it('is reported by devices', async () => {
    const { code, lines } = run(['devices', '--json', '--threads', '1'], env());
    expect(await code).toBe(0);
    const report = JSON.parse(lines[0]);
    expectShape(DevicesReport, report);
    expect(report.cpu.sensors).toMatch(
      /^temperature from k10temp; the power is not known, because only root may read /,
    );
  });

  it('is reported by bench, beside what is known', async () => {
    const args = ['--devices', 'cpu', '--threads', '1', '--seconds', '3', '--count', '65536'];
    const bench = run(['bench', ...args], env());
    expect(await bench.code).toBe(0);
    expect(bench.lines.join('\n')).toMatch(/^ {2}power +95 °C at most$/m);
    expect(bench.stderr).toMatch(/WARN: cpu +sensors: .*only root may read \/sys\/class\/powercap/);
  });
});
