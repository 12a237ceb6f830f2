import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import type { EngineInfo, SearchReport } from '#pickaxe/miner/engine/engine.js';
import { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { isTypical, nameOf, SHADER_NAMES, VARIANTS } from '#pickaxe/miner/engine/gpu/tuning.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { splitNonce } from '#pickaxe/protocol/chain/nonce.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { jobOf, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { ourNiceness } from '../../../priority.ts';
import { brieflyTuned, describeGpu, untunedOptions } from './adapter.ts';
import { never } from './search-to-the-end.ts';

const directory = mkdtempSync(join(tmpdir(), 'pickaxe-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function open(tuneAgain = false) {
  const progress: string[] = [];
  const engine = new GpuEngine({ ...untunedOptions, ...brieflyTuned, cacheDirectory: directory, tuneAgain });
  const info = await engine.open({ progress: (what) => progress.push(what) });
  await engine.close();
  return { ...info, progress };
}

describeGpu('a GPU that is new', () => {
  test('is measured once, and again when asked for', async () => {
    const variants = brieflyTuned.tuningLimits!.variants!;
    const first = await open();
    const { tuning } = first;
    // The typical variants, and all variants of the fastest one's shader.
    expect(tuning.variants.length).toBeGreaterThan(SHADER_NAMES.length);
    expect(tuning.variants.length).toBeLessThanOrEqual(variants.length);
    expect(new Set(tuning.variants.map(({ variant }) => variant.shader))).toEqual(new Set(SHADER_NAMES));
    expect(tuning.variants[0].variant).toEqual(tuning.variant);
    const rates = tuning.variants.map(({ hashesPerSecond }) => hashesPerSecond);
    expect(rates.every((rate) => rate! > 0)).toBe(true);
    expect(tuning.batches.map(({ batchMs }) => batchMs)).toContain(tuning.batchMs);
    expect(new Set(first.progress).size).toBe(2);

    const second = await open();
    expect(second.tuning).toEqual(tuning);
    expect(second.why).toMatch(/as measured before$/);
    expect(second.progress).toEqual([]);

    const thorough = await open(true);
    expect(thorough.progress).not.toEqual([]);
    const names = thorough.tuning.variants.map(({ variant }) => nameOf(variant));
    expect(names.sort()).toEqual(variants.map(nameOf).sort());
  });

  test('mines at once with the likely variant, and finds every solution while all are measured', async () => {
    const [other, , likely] = VARIANTS.filter(isTypical);
    const tuningLimits = { ...brieflyTuned.tuningLimits, variants: [other, likely] };
    const engine = new GpuEngine({ ...untunedOptions, tuningLimits, minesAtOnce: true, likely });
    let changed: EngineInfo | undefined;
    const info = await engine.open({ changed: (now) => (changed = now) });
    expect(info).toMatchObject({ kernel: likely.shader, gpu: { variant: nameOf(likely), batchMs: 8 } });
    expect(info.why).toContain('measured while it mines');
    const job = jobOf(someHeaderHex, toHex(targetForDifficulty(2_000_000)));
    const ranges = new Rectangle({ lane: 0, step: 1, page: 0, pages: 0x1_0000, counter: 0, counters: 2 ** 20 });
    const stop = new AbortController();
    const reports: SearchReport[] = [];
    for await (const report of engine.search(job, ranges, stop.signal)) {
      reports.push(report);
      if (changed) stop.abort();
    }
    await engine.close();
    expect(changed!.why).toMatch(/fastest of 2 variants that run here/);
    ranges.expectBalanced(reports);
    const cpu = new CpuEngine({ niceness: ourNiceness });
    await cpu.open();
    const pages = Math.max(...reports.map(({ searched }) => searched.page + searched.pages));
    const solutions: bigint[] = [];
    for await (const { candidates } of cpu.search(job, new Rectangle({ ...ranges.whole, pages }), never)) {
      solutions.push(...candidates);
    }
    await cpu.close();
    const isSearched = (nonce: bigint) => {
      const { page, counter } = splitNonce(nonce);
      return reports.some(({ searched: at }) => {
        return (
          page >= at.page && page < at.page + at.pages && counter >= at.counter && counter < at.counter + at.counters
        );
      });
    };
    const found = reports.flatMap(({ candidates }) => candidates);
    expect(found.sort()).toEqual(solutions.filter(isSearched).sort());
    expect(found.length).toBeGreaterThan(0);
  }, 240_000);

  // Nothing else opens the variants between the smallest and the largest.
  test('computes right in every variant of the kernel', async () => {
    const tuningLimits = { warmUpMs: 0, turnMs: 1, batchTurnMs: 1 };
    const engine = new GpuEngine({ ...untunedOptions, tuningLimits, tuneAgain: true });
    const { tuning } = await engine.open();
    await engine.close();
    expect(tuning.variants.map(({ variant }) => nameOf(variant)).sort()).toEqual(VARIANTS.map(nameOf).sort());
    expect(tuning.variants.filter(({ fault }) => fault !== undefined)).toEqual([]);
  });
});
