/** Which form of the shader suits the driver: compilers differ in whether they see that two shifts are a rotate. */

import { searchOf } from '../../../chain/job.ts';
import { HEADER_BYTES, TARGET_BYTES } from '../../../chain/layout.ts';
import { MOST_COUNTERS, type Scanner, WORKGROUP_COUNTERS } from './scanner.ts';
import { Sizing } from './sizing.ts';

/** Long against the overhead of a dispatch, short against patience: with two forms about 150 ms in all. */
const DISPATCH_MS = 10;
const ROUNDS = 4;

export interface Measured {
  readonly scanner: Scanner;
  readonly hashesPerSecond: number;
}

/** @returns fastest first */
export async function benchmark(scanners: readonly Scanner[]): Promise<Measured[]> {
  const runs = scanners.map((scanner) => ({ scanner, sizing: smallSizing(), fastest: 0 }));
  for (const run of runs) await warmUp(run.scanner, run.sizing);
  // In turns, so that a clock that rises or a busy machine meets all alike; the best round counts.
  for (let round = 0; round < ROUNDS; round++) {
    for (const run of runs) {
      const counters = run.sizing.size;
      run.fastest = Math.max(run.fastest, counters / (await timeMs(run.scanner, counters)));
    }
  }
  return runs
    .map(({ scanner, fastest }) => ({ scanner, hashesPerSecond: fastest * 1000 }))
    .sort((a, b) => b.hashesPerSecond - a.hashesPerSecond);
}

const smallSizing = () =>
  new Sizing({ goalMs: DISPATCH_MS, unit: WORKGROUP_COUNTERS, most: MOST_COUNTERS, first: WORKGROUP_COUNTERS });

/** Doubles the dispatch until it takes long enough to be measured. */
async function warmUp(scanner: Scanner, sizing: Sizing): Promise<void> {
  for (let ms = 0; ms < DISPATCH_MS / 2 && sizing.size < MOST_COUNTERS; ) {
    const counters = sizing.size;
    ms = await timeMs(scanner, counters);
    sizing.observe(counters, ms);
  }
}

async function timeMs(scanner: Scanner, counters: number): Promise<number> {
  const impossible = searchOf(new Uint8Array(HEADER_BYTES), new Uint8Array(TARGET_BYTES));
  const startMs = performance.now();
  await scanner.scan(impossible, { lane: 0, page: 0, pages: 1, counter: 0, counters });
  return performance.now() - startMs;
}
