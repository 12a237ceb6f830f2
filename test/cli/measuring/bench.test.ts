import { release } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BenchResult } from '#pickaxe/rig/bench/bench-result.js';
import { PretendedMachine } from '../../miner/engine/cpu/cpu-sensors/machines.ts';
import { hybrid, result } from '../../rig/bench/results.ts';
import { pickaxe } from '../pickaxe.ts';
import { on } from '../pretended.ts';
import { bench, golden, home, PATIENCE_MS, small, write } from './bench-runs.ts';

describe('pickaxe bench', { timeout: PATIENCE_MS }, () => {
  it('measures the CPU, whose hash sum is the known one', async () => {
    const { code, json } = await bench(small, on(new PretendedMachine({})));
    expect(code).toBe(0);
    expect(BenchResult.parse(json)).toEqual(json);
    expect(json).toMatchObject({
      type: 'bench',
      machine: { node: process.version, os: expect.stringContaining(release()) },
      seed: 'pickaxe',
      count: golden.count,
      durationSeconds: 0.2,
      repeat: 1,
    });
    const [device] = json.devices;
    const kernel = expect.any(String);
    expect(device).toMatchObject({ name: 'cpu', kind: 'cpu', threads: 1, kernel, spread: null });
    const [{ slices, hashesPerSecond, candidates, errors, date }] = device.runs;
    expect(slices).toHaveLength(5);
    expect(hashesPerSecond).toBeGreaterThanOrEqual(Math.min(...slices));
    expect(hashesPerSecond).toBeLessThanOrEqual(Math.max(...slices));
    expect(candidates).toMatchObject({ wrong: 0, missed: 0 });
    expect(errors).toEqual([]);
    expect(Date.parse(date)).toBeGreaterThanOrEqual(Date.parse(json.date));
    // The pretended machine has no sensors, and unknown values are null.
    expect(device).toMatchObject({ powerWatts: null, temperatureCelsius: null, hashesPerJoule: null });
    const { count, sum } = golden;
    expect(device.line).toMatch(/ · [\w-]+ × 1 · [\d.]+ [kMG]?H\/s ± [\d.]+ % · sum .* · pickaxe [\d.]+$/);
    expect(device.line).toContain(` sum ${sum} of “pickaxe” and ${count} nonces `);
  });

  it('prints CSV, and nothing else on stdout', async () => {
    const { code, stdout } = await pickaxe('bench', '--csv', ...small, '--repeat', '2');
    expect(code).toBe(0);
    const [head, ...rows] = stdout.split('\n').map((line) => line.split(','));
    expect(rows).toHaveLength(2);
    expect(head).toEqual(
      expect.arrayContaining(['name', 'run', 'hashesPerSecond', 'powerWatts', 'temperatureCelsius']),
    );
    expect(rows.map((row) => row[head.indexOf('run')])).toEqual(['1', '2']);
    expect(stdout.match(new RegExp(golden.sum, 'g'))).toHaveLength(2);
  });

  it('names devices that cannot be measured', async () => {
    const { code, json } = await bench([...small, '--devices', 'cpu,gpu77']);
    expect(code).toBe(0);
    expect(json.failed).toMatchObject([{ name: 'gpu77', fault: 'missing', reason: expect.stringMatching(/./) }]);
    const alone = await bench(['--devices', 'gpu77', '--seconds', '0.2']);
    expect(alone.code).toBe(3);
    expect(alone.json.devices).toEqual([]);
  });

  it.each([
    [['--count', '65535'], '65536'],
    [['--count', '1e9'], 'whole number'],
    [['--seed', ''], 'seed'],
    [['--seed', 'x'.repeat(65)], '64 characters'],
    [['--seconds', '3601'], '--stress'],
    [['--tune', '--stress'], '--stress'],
    [['--json', '--csv'], '--csv'],
    [['--stress', '--csv'], '--stress has no --csv'],
    [['--tune', '--repeat', '2'], '--tune has no --repeat'],
    [['--repeat', '0'], 'whole number'],
    [['--repeat', '1001'], '1000'],
    [['--stress', '--count', '1'], '65536'],
    [['more'], 'takes no arguments, but got'],
    [['compare'], 'a.json'],
    [['compare', 'a.json', 'b.json', '--json'], '--json'],
  ])('wrong usage ends with exit code 2 and says what to do: %j', async (args, message) => {
    const { code, stdout, stderr } = await pickaxe('bench', ...args);
    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });
});

describe('pickaxe bench compare', { timeout: PATIENCE_MS }, () => {
  const compare = (...files: string[]) => pickaxe('bench', 'compare', ...files);

  it.each([
    ['nothing', '', 'not JSON'],
    ['text that is not JSON', '\u001b[2Jhello', 'not JSON'],
    ['a list', '[]', 'expected object'],
    ['another object', '{"type":"x"}', 'expected "bench", at type'],
    ['a later format', '{"type":"bench","formatVersion":2}', 'expected 1, at formatVersion'],
    ['half a result', '{"type":"bench","formatVersion":1}', 'at date'],
    ['deep nesting', '['.repeat(100_000), 'not'],
    ['a prototype', '{"__proto__":{"type":"bench"}}', 'at type'],
  ])('refuses a file that contains %s', async (name, text, message) => {
    const file = write(`${name}.json`, text);
    const { code, stdout, stderr } = await compare(file, file);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`${file} is not a result of pickaxe bench --json`);
    expect(stderr).not.toContain('\u001b');
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it('shows the kinds of a hybrid CPU’s cores apart, where both results have them', async () => {
    const faster = { ...hybrid, performanceCoresHashesPerSecond: 246e6, efficiencyCoresHashesPerSecond: null };
    const [a, b] = [
      write('hybrid-a.json', JSON.stringify(result([hybrid]))),
      write('hybrid-b.json', JSON.stringify(result([faster]))),
    ];
    const { stdout, stderr } = await compare(a, b);
    expect(stderr).toBe('');
    expect(stdout).toContain('    performance 205.0 MH/s → 246.0 MH/s (B / A 1.200)\n');
    expect(stdout).not.toContain('    efficiency ');
  });

  it.each([
    ['does not exist', join(home, 'missing.json'), /missing\.json cannot be read: there is no such file\.\n/],
    ['is a folder', home, /cannot be read: it is a directory\.\n/],
    ...(process.platform === 'linux' ? [['does not end', '/dev/zero', /more than \d+ bytes/] as const] : []),
  ] as const)('refuses a file that %s', async (_, file, message) => {
    const { code, stderr } = await compare(file, file);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});
