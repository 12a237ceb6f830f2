/** Starts every benchmark in its shortest form and checks the result. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ourNiceness } from '../priority.ts';
import { scratch, written } from '../scripts/run.ts';
import { number, positive, testScripts, withResult } from '../scripts/starts.ts';

const row = { p50: number, p90: number, p99: number, most: number, n: positive };

testScripts('bench', {
  'bench/contract/contract.mjs': withResult('--loads 2 --transfers 5 --blocks 1 --no-goals', [], ({ rows }) => {
    const row = { p50: positive, p99: positive, n: positive };
    const names = ['cold load', 'warm load', 'block of 100', 'transfer'];
    expect(rows).toEqual(names.map((name) => ({ name, ...row })));
  }),
  'bench/fleet/fleet-page.mjs': withResult('--rigs 100 --refreshes 1 --frames 10', ['chromium'], ({ rows }) => {
    const both = { p50: positive, p99: positive };
    const shown = {
      rigs: 100,
      rowsMs: positive,
      refreshMs: both,
      frameMs: both,
      heapMB: positive,
      refreshKB: positive,
    };
    expect(rows).toEqual([expect.objectContaining(shown)]);
  }),
  'bench/fleet/fleet.mjs': withResult('--short --no-goals', ['linux', 'nats'], ({ notify, repeated, hashrate }) => {
    const few = { p50: positive, p99: positive, n: positive };
    expect(notify).toMatchObject({
      rigs: 60,
      cuts: 5,
      lastRigMs: few,
      lastHashingRigMs: few,
      perSecond: { outMessages: positive, outBytes: positive },
      perCut: { outMessages: positive, outBytes: positive },
      slowConsumers: 0,
      rigsSeen: positive,
    });
    expect(notify.memoryMib['NATS servers']).toEqual([positive, positive, positive]);
    expect(repeated.inFleet).toMatchObject({ headers: positive, sharedHeaders: number });
    for (const { measured, expected } of repeated.simulated) {
      expect(expected).toEqual(positive);
      expect(measured).toBeLessThan(1e-3);
    }
    expect(hashrate).toMatchObject({ threads: 1, ratio: positive, wallRatio: positive });
  }),
  'bench/gpu/idle.mjs': { startedBy: 'bench/gpu-run-sheet.mjs' },
  'bench/gpu/rate.mjs': { startedBy: 'bench/gpu-run-sheet.mjs' },
  'bench/gpu-run-sheet.mjs': {
    args: ['--software-gpu', '--quick', '--parts', 'devices,rate,idle,restart,endurance', '--out', scratch],
    needs: ['linux', 'gpu'],
    check: ({ stdout }) => {
      const sheet = written('gpu-run-sheet.json');
      expect(sheet.devices.gpus).toContainEqual(expect.objectContaining({ name: 'gpu0', usable: true }));
      const [rate] = sheet.rate.devices;
      expect(rate.tuning.variants).toEqual([
        { variant: { shader: 'wgsl', workgroupSize: 64, trips: 16 }, hashesPerSecond: positive },
      ]);
      expect(rate.mined).toMatchObject({
        hashesPerSecond: positive,
        rounds: expect.toSatisfy(({ length }) => length === 5),
      });
      expect(sheet.idle.devices[0].batches).toMatchObject([{ tuned: true }, { batchMs: 5, hashesPerSecond: positive }]);
      expect(sheet.restart.runs).toMatchObject([{ batchMs: 5, milliseconds: { 'New Cut → first hash on gpu0': row } }]);
      expect(sheet.endurance.devices[0]).toMatchObject({
        dispatches: positive,
        hits: positive,
        wrongHits: 0,
        flat: true,
      });
      const text = readFileSync(join(scratch, 'gpu-run-sheet.md'), 'utf8');
      expect(text.match(/^## .*$/gm)).toHaveLength(5);
      expect(stdout).not.toContain('FAILED');
    },
  },
  'bench/kernels/ceiling.mjs': withResult('--seconds 0.1', ['x64', 'native', 'cc', 'objdump'], ({ units, kernels }) => {
    expect(units).toMatchObject({ clock: positive, clock_by_multiplications: positive });
    const sse41 = { name: 'sse41', nonces: 4, alu: positive, MHs: positive, p90: positive, portBound: positive };
    expect(kernels).toContainEqual(expect.objectContaining(sse41));
  }),
  'bench/kernels/cpu.mjs': withResult('--seconds 0.1 --turn-ms 5 wasm', ['linux'], ({ results, several }) => {
    const names = results.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['wasm', 'hash-wasm', '@noble/hashes']));
    expect(results[0]).toEqual({
      name: 'wasm',
      kind: 'kernel',
      MHs: positive,
      p90: number,
      timesReference: positive,
      ofFastest: positive,
    });
    expect(several).toMatchObject({ threads: 2, wall: positive, MHs: positive });
  }),
  'bench/kernels/nonce1.mjs': withResult('--rounds 3 --turn-ms 5 --no-goals wasm', [], ({ rows }) => {
    expect(rows).toEqual([
      { device: 'cpu', kernel: 'wasm', hashesPerSecond: positive, three: positive, four: positive },
    ]);
  }),
  'bench/kernels/windows.mjs': withResult(
    '--rounds 1 --seconds 0.1 avx2 wasm',
    ['x64', 'native', 'clang', 'wine'],
    (result) => {
      const rates = { linuxMHs: positive, windowsMHs: positive, ratio: positive };
      expect(result.results).toContainEqual({ name: 'wasm', ...rates });
    },
  ),
  'bench/mining/efficiency.mjs': withResult(
    '--rounds 1 --seconds 0.3 --warm-up 0.3 --threads 1 --kernel wasm',
    ['linux'],
    (result) => {
      expect(result).toMatchObject({ kernel: 'wasm', threads: 1, ratio: positive, wallRatio: positive });
      expect(result.rounds).toHaveLength(1);
    },
  ),
  'bench/mining/main-thread.mjs': withResult('--threads 2 --ghs 0 --seconds 3 --no-goals', ['linux'], ({ rows }) => {
    const row = { threads: 2, tasksPerSecond: positive, spacePercent: positive, bareMicroseconds: positive };
    expect(rows).toMatchObject([
      { ...row, rolls: 'every 3 s' },
      { ...row, rolls: 'never' },
    ]);
  }),
  'bench/mining/metrics-cost.mjs': withResult(
    '--rounds 1 --seconds 0.3 --warm-up 0.3 --every-ms 100',
    ['linux'],
    (result) => {
      expect(result).toMatchObject({ everyMs: 100, ratio: number, addedMs: number, answers: positive });
      expect(result.rows).toHaveLength(1);
    },
  ),
  'bench/mining/pool.mjs': withResult(
    '--rounds 1 --seconds 0.3 --warm-up 0.3 --threads 1 --kernel wasm --no-goals',
    ['linux'],
    (result) => {
      expect(result).toMatchObject({ kernel: 'wasm', threads: 1, ratio: positive, wallRatio: positive, refused: 0 });
      expect(result.rounds).toHaveLength(1);
    },
  ),
  'bench/mining/restart.mjs': withResult(
    `--cuts 3 --warm-up 1 --spacing-ms 1000 --threads 1 --affinity none --niceness ${ourNiceness}`,
    ['linux'],
    ({ cpu, milliseconds, missed }) => {
      expect(cpu).toContain('1 thread: ');
      expect(milliseconds).toMatchObject({ 'New Cut → work in hand': row, 'New Cut → first hash on cpu': row });
      expect(missed).toBeLessThan(3);
    },
  ),
  'bench/mining/status-cost.mjs': withResult(
    '--rounds 1 --seconds 0.3 --warm-up 0.3',
    ['linux', 'script'],
    (result) => {
      expect(result).toMatchObject({ threads: positive, ratio: number, drawsPerSecond: positive, drawUs: positive });
      expect(result.rounds).toHaveLength(1);
    },
  ),
  'bench/mining/worker.mjs': withResult(`--jobs 5 --no-goals --niceness ${ourNiceness}`, [], ({ rows }) => {
    const row = { p50: positive, p90: positive, p99: positive, most: positive, n: 5 };
    expect(rows).toEqual([
      { name: 'without a job', ...row },
      { name: 'while it mines', ...row },
    ]);
  }),
  'bench/stratum/stratum.mjs': withResult('--short --no-goals', ['linux'], (result) => {
    const few = { p50: positive, p99: positive, n: positive };
    expect(result).toMatchObject({
      sessions: 100,
      lastNotifyMs: { quiet: few, busy: few },
      shares: { perSecond: positive, accepted: positive, refused: {} },
      memoryMib: { full: positive },
      doubledNonce1: 0,
      ledgerLinesLost: 0,
      sessionsLost: 0,
    });
  }),
});
