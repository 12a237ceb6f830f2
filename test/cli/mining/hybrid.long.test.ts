/**
 * The command line on a pretended hybrid chip: one of this machine's CPUs is a performance core, the others are
 * efficiency cores.
 */

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatCpuList } from '#pickaxe/base/text/quantities.js';
import { DevicesReport } from '#pickaxe/cli/measuring/devices.js';
import { readTopology } from '#pickaxe/miner/engine/cpu/topology.js';
import { BenchResult } from '#pickaxe/rig/bench/bench-result.js';
import { PretendedMachine } from '../../miner/engine/cpu/cpu-sensors/machines.ts';
import { nativeIsBuilt } from '../../miner/engine/cpu/loadable-kernels.ts';
import { bench, golden, home } from '../measuring/bench-runs.ts';
import { pickaxe, start } from '../pickaxe.ts';
import { on } from '../pretended.ts';

const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
const [first, ...others] = readTopology(read)?.cores.flatMap(({ cpus }) => cpus) ?? [];
const possible = nativeIsBuilt && others.length > 0;
const skipped = possible ? '' : ' (skipped: it takes Linux, the native addon and two CPUs)';

describe.skipIf(!possible)(`a hybrid chip${skipped}`, () => {
  const machine = () =>
    new PretendedMachine({
      'devices/cpu_core/cpus': `${first}`,
      'devices/cpu_atom/cpus': formatCpuList(others),
      // A machine without SMT, even if this machine has SMT.
      ...Object.fromEntries(
        [first, ...others].map((cpu) => [`devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`, cpu]),
      ),
    });
  const env = possible ? { ...on(machine()), XDG_CACHE_HOME: home } : {};

  test('has its kinds of cores apart in devices, in words and for programs', async () => {
    const run = start(['devices', '--json'], env);
    expect(await run.code).toBe(0);
    const { cpu } = DevicesReport.parse(JSON.parse(run.lines[0]));
    expect(cpu.why).toContain(`1 thread on performance cores (CPU ${first})`);
    for (const kind of ['performance', 'efficiency'] as const) {
      const chosen = cpu.kernels.filter(({ cores, chosen }) => cores === kind && chosen);
      expect(chosen).toHaveLength(1);
      expect(cpu.kernel!.split('+')).toContain(chosen[0].name);
    }
    expect(cpu.kernels.every(({ cores }) => cores !== undefined)).toBe(true);

    const inWords = start(['devices'], env);
    expect(await inWords.code).toBe(0);
    const text = inWords.lines.join('\n');
    expect(text).toContain('      performance cores, 1 thread:\n');
    expect(text).toMatch(/ {6}efficiency cores, \d+ threads?:\n/);
    expect(text.match(/^ {6}\* /gm)).toHaveLength(2);
  });

  test('has the hashrate of each kind of cores in bench', async () => {
    const { code, json } = await bench(['--devices', 'cpu', '--seconds', '4', '--count', `${golden.count}`], env);
    expect(code).toBe(0);
    const [cpu] = BenchResult.parse(json).devices;
    if (cpu.kind !== 'cpu') throw new Error('it is not a CPU');
    expect(cpu.cores?.map(({ kind }) => kind)).toEqual(['performance', 'efficiency']);
    const { performanceCoresHashesPerSecond: performance, efficiencyCoresHashesPerSecond: efficiency } = cpu;
    expect(performance).toBeGreaterThan(0);
    expect(efficiency).toBeGreaterThan(0);
    // The rate of the device is the mean of its slices, each over its own time.
    expect((performance! + efficiency!) / cpu.hashesPerSecond).toBeCloseTo(1, 1);
  });

  test('mines on the kind of cores that was asked for', async () => {
    const request = ['--devices', 'cpu', '--seconds', '0.5', '--count', `${golden.count}`, '--kernel', 'wasm'];
    const { code, json } = await bench([...request, '--cpu-cores', 'efficiency'], env);
    expect(code).toBe(0);
    const [cpu] = BenchResult.parse(json).devices;
    expect(cpu).toMatchObject({
      cores: [{ kind: 'efficiency', kernel: 'wasm' }],
      performanceCoresHashesPerSecond: null,
    });
    expect(cpu.efficiencyCoresHashesPerSecond).toBeGreaterThan(0);
  });
});

test('efficiency cores are refused on a chip whose cores are alike, and a kind that does not exist everywhere', async () => {
  const { code, stderr } = await pickaxe('bench', '--devices', 'cpu', '--cpu-cores', 'big');
  expect(code).toBe(2);
  expect(stderr).toMatch(/performance.*efficiency.*all/);
  if (readTopology(read)?.cores.some(({ kind }) => kind !== undefined)) return;
  const refused = await pickaxe('bench', '--devices', 'cpu', '--cpu-cores', 'efficiency');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('there are no efficiency cores to choose');
});
