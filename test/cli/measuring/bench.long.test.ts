import { release } from 'node:os';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { BenchResult, StressResult } from '#pickaxe/rig/bench/bench-result.js';
import { DEFAULT_COUNT } from '#pickaxe/rig/bench/challenge.js';
import { PretendedMachine } from '../../miner/engine/cpu/cpu-sensors/machines.ts';
import { loadableKernels } from '../../miner/engine/cpu/loadable-kernels.ts';
import { describeGpu } from '../../miner/engine/gpu/adapter.ts';
import { pickaxe } from '../pickaxe.ts';
import { on } from '../pretended.ts';
import { rememberGpus } from '../remember-gpu.ts';
import { noTmux, Terminal, why } from '../tmux.ts';
import {
  bench,
  cpu,
  golden,
  oneThread,
  PATIENCE_MS,
  result,
  skipping,
  small,
  startBench,
  TUNING_MS,
  write,
} from './bench-runs.ts';

describe('pickaxe bench', () => {
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

  it('repeats its runs, and a pipe gets a line when a run begins and one when it ends', async () => {
    const { code, json, stderr } = await bench([...small, '--repeat', '3', '--log-format', 'text']);
    expect(code).toBe(0);
    expect(BenchResult.parse(json)).toEqual(json);
    expect(json.repeat).toBe(3);
    const [{ runs, hashesPerSecond, spread }] = json.devices;
    const rates = runs.map((run: { hashesPerSecond: number }) => run.hashesPerSecond);
    expect(rates).toHaveLength(3);
    expect(hashesPerSecond).toBe(rates.sort((a: number, b: number) => a - b)[1]);
    expect(spread).toBeGreaterThanOrEqual(0);
    const reported = stderr.split('\n').flatMap((line) => /run \d of 3.*/.exec(line)?.[0] ?? []);
    expect(reported).toEqual(
      [1, 2, 3].flatMap((run) => [
        `run ${run} of 3: measuring for 0.2 s after a warm-up`,
        expect.stringMatching(new RegExp(`^run ${run} of 3: [\\d.]+ .H/s ± [\\d.]+ %$`)),
      ]),
    );
    expect(stderr).not.toContain('\u001b');
  });

  it.each(loadableKernels)('prints the same hash sum with kernel %s', async (kernel) => {
    const { code, json } = await bench([...small, '--kernel', kernel]);
    expect(code).toBe(0);
    expect(json.devices).toMatchObject([
      {
        kernel,
        runs: [
          {
            hashSum: golden.sum,
            candidates: { found: golden.candidates, expected: 4_096, wrong: 0, missed: 0 },
          },
        ],
      },
    ]);
  });

  it('searches the usual number of nonces, of which only the hash sum is said', async () => {
    const { code, json } = await bench(cpu);
    expect(code).toBe(0);
    expect(json.count).toBe(DEFAULT_COUNT);
    const [{ line, runs }] = json.devices;
    expect(runs[0].candidates).toMatchObject({ wrong: 0, missed: 0 });
    expect(line).toMatch(/ · sum [0-9a-f]{16} · pickaxe [\d.]+$/);
  });

  it('prints another hash sum for another seed', async () => {
    const { code, json } = await bench([...small, '--seed', 'mine']);
    expect(code).toBe(0);
    expect(json.seed).toBe('mine');
    expect(json.devices[0].runs[0].hashSum).not.toBe(golden.sum);
  });

  it('reports all that in text for people, too', async () => {
    const { code, stdout } = await pickaxe('bench', ...small);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^pickaxe \S+ on /);
    expect(stdout).toMatch(/^cpu {4}.*; \S+, 1 thread$/m);
    expect(stdout).toMatch(/^ {2}hashrate {6}[\d.]+ .H\/s ± [\d.]+ % \(mean of 5 slices: .* to .*\)$/m);
    expect(stdout).toMatch(/^ {2}power +\S.*$/m);
    expect(stdout).toContain(`hash sum      ${golden.sum} (${golden.candidates} candidates found, 4096 ± 64 expected)`);
    expect(stdout).toContain(`seed “pickaxe” and ${golden.count} nonces`);
  });

  it('shows each of several runs to people', async () => {
    const { code, stdout } = await pickaxe('bench', ...small, '--repeat', '2');
    expect(code).toBe(0);
    expect(stdout).toContain(', 2 runs of 0.2 s on each device, in turns');
    expect(stdout).toMatch(/^ {2}hashrate {6}[\d.]+ .H\/s ± [\d.]+ % \(median of 2 runs: .* to .*\)$/m);
    for (const run of [1, 2]) expect(stdout).toMatch(new RegExp(`^ {4}run ${run} {7}[\\d.]+ .H/s ± [\\d.]+ %$`, 'm'));
    expect(stdout.match(/hash sum {6}/g)).toHaveLength(1);
    expect(stdout).toContain('All runs agree.');
  });

  it('catches a device that misses one of thousands of candidates, because the known sum differs', async () => {
    const { code, json, stderr } = await bench(cpu, { NODE_OPTIONS: skipping });
    expect(json.devices[0].runs[0].errors, stderr).toEqual([expect.stringContaining('known to be right')]);
    expect(code).toBe(6);
  });
});

describe.skipIf(noTmux)(`pickaxe bench on a terminal${why}`, () => {
  it('shows its progress in one line, which is gone at the end', async () => {
    const terminal = new Terminal({ columns: 120 });
    try {
      await terminal.wipe();
      const recorded = terminal.record();
      terminal.type(`pickaxe bench ${small.join(' ')} --repeat 2\n`);
      await terminal.sees(/All runs agree\./);
      const text = recorded();
      for (const run of [1, 2]) {
        expect(text).toMatch(new RegExp(`cpu run ${run} of 2 measuring \\d+ %, [\\d.]+ .H/s`));
        expect(text).toMatch(new RegExp(`cpu run ${run} of 2 computing the hash sum 100 %`));
      }
      expect(terminal.text()).not.toMatch(/measuring|computing/);
    } finally {
      await terminal.close();
    }
  });

  it('leaves no line behind when Ctrl-C ends it', async () => {
    const terminal = new Terminal({ columns: 120 });
    try {
      await terminal.wipe();
      terminal.type('pickaxe bench --devices cpu --threads 1 --seconds 600\n');
      await terminal.sees(/cpu measuring \d+ %/);
      terminal.press('C-c');
      await terminal.sees(/\n\$\s*$/);
      expect(terminal.text()).not.toContain('measuring');
    } finally {
      await terminal.close();
    }
  });
});

describeGpu('pickaxe bench with a GPU', () => {
  beforeAll(rememberGpus);

  it(
    'reports the same hash sum as for the CPU, even if both are measured at the same time',
    async () => {
      const devices = ['--devices', 'cpu,gpu0', '--software-gpu', '--together'];
      const { code, json, stderr } = await bench([...small, ...devices]);
      expect(code, stderr).toBe(0);
      expect(json.together).toBe(true);
      expect(json.devices).toMatchObject([
        { name: 'cpu', kind: 'cpu', runs: [{ hashSum: golden.sum }] },
        { name: 'gpu0', kind: 'gpu', driver: expect.stringMatching(/./), runs: [{ hashSum: golden.sum }] },
      ]);
      const { kernel, variant, workgroupSize, noncesPerInvocation } = json.devices[1];
      expect(variant).toBe(`${kernel} ${workgroupSize}×${noncesPerInvocation}`);
    },
    TUNING_MS,
  );
});

describe('pickaxe bench --stress', () => {
  const count = 2 ** 18;
  /** More candidates than a round has: about 4,096 ± 64. */
  const MORE_THAN_A_ROUND = 4_500;
  const samples = /candidates: (\d+) verified, 0 wrong, \d+ missed/g;

  /** Stresses a device until this number of candidates was verified, then ends the command as Ctrl-C does. */
  async function stress(candidates: number, args: readonly string[] = [], env: Record<string, string> = {}) {
    const run = startBench(['--stress', ...oneThread, '--count', String(count), '--seconds', '300', ...args], env);
    const { child, code, lines } = run;
    const verified = () => Number([...run!.stderr.matchAll(samples)].at(-1)?.[1] ?? 0);
    const enough = () => expect(verified(), run!.stderr).toBeGreaterThan(candidates);
    await vi.waitFor(enough, { timeout: PATIENCE_MS, interval: 50 });
    child.kill('SIGINT');
    return { code: await code, stdout: lines.join('\n'), stderr: run.stderr };
  }

  it('finds nothing wrong with a good device, and says so', async () => {
    const { code, stdout, stderr } = await stress(MORE_THAN_A_ROUND, ['--json']);
    expect(code, stderr).toBe(0);
    const json = JSON.parse(stdout);
    expect(StressResult.parse(json)).toEqual(json);
    expect(json).toMatchObject({ type: 'stress', durationSeconds: 300, count, failed: [] });
    const [{ rounds, candidates, errors, samples }] = json.devices;
    expect(rounds).toBeGreaterThan(0);
    expect(candidates).toMatchObject({ wrong: 0, missed: 0 });
    expect(candidates.found).toBeGreaterThan(3_700 * rounds);
    expect(samples.length).toBeGreaterThan(0);
    expect(errors).toEqual([]);
    expect(stderr).toContain('0 wrong, 0 missed');
  });

  it('ends with exit code 6 when a candidate was missed', async () => {
    const env = { NODE_OPTIONS: skipping, SKIP: 'odd' };
    const { code, stdout, stderr } = await stress(2 * MORE_THAN_A_ROUND, ['--json'], env);
    const [{ rounds, candidates, errors }] = JSON.parse(stdout).devices;
    expect(rounds, stderr).toBeGreaterThan(1);
    expect(candidates.missed).toBe(Math.ceil(rounds / 2));
    expect(errors).toEqual([`missed candidates: ${candidates.missed}`]);
    expect(code).toBe(6);
  });

  it('ends by itself when its time is up, and reports all that in text for people, too', async () => {
    const { code, stdout } = await pickaxe(
      'bench',
      '--stress',
      ...oneThread,
      '--count',
      String(count),
      '--seconds',
      '1',
    );
    expect(stdout).toMatch(/candidates {4}\d+ verified, 0 wrong, 0 missed\n {2}errors {8}none$/);
    expect(code).toBe(0);
  });
});

describe('pickaxe bench compare', () => {
  const compare = (...files: string[]) => pickaxe('bench', 'compare', ...files);

  it('shows the hashrates, their ratio and whether the sums agree', async () => {
    const a = await result('a.json', ['--count', '65536', '--kernel', 'wasm']);
    const b = await result('b.json', ['--count', '65536']);
    const { code, stdout } = await compare(a.file, b.file);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^A: pickaxe .*\nB: pickaxe /);
    expect(stdout).toMatch(/^cpu .*; wasm, 1 thread$/m);
    expect(stdout).toMatch(/^ {2}hashrate .*H\/s ± .* % → .*H\/s ± .* %$/m);
    expect(stdout).toMatch(/^ {2}B \/ A {9}\d+\.\d{3}: (B is faster|B is slower|within the spread \(±[\d.]+ %\))$/m);
    // The table explains only the words that it uses.
    expect(/^Within the spread: /m.test(stdout)).toBe(stdout.includes('within the spread (±'));
    expect(stdout).toContain(`Hash sums are equal: ${a.json.devices[0].runs[0].hashSum}.`);

    const withRuns = (changes: object) => ({
      ...b.json,
      devices: b.json.devices.map((each) => ({ ...each, runs: each.runs.map((run) => ({ ...run, ...changes })) })),
    });
    const otherSum = withRuns({ hashSum: '0'.repeat(16) });
    const different = await compare(a.file, write('different.json', JSON.stringify(otherSum)));
    expect(different.stdout).toContain('HASH SUMS DIFFER');
    expect(different.code).toBe(6);

    const otherSeed = write('seed.json', JSON.stringify({ ...otherSum, seed: 'other' }));
    const incomparable = await compare(a.file, otherSeed);
    expect(incomparable.stdout).toContain('cannot be compared: A has seed “pickaxe”');
    expect(incomparable.code).toBe(0);

    const faulty = withRuns({ errors: ['it is broken'] });
    const withErrors = await compare(a.file, write('faulty.json', JSON.stringify(faulty)));
    expect(withErrors.stdout).toContain('ERROR: B cpu: it is broken');
    expect(withErrors.code).toBe(6);
  });
});
