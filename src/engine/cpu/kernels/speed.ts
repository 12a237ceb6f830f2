/** Measures kernels against each other: which one is fastest depends on the chip more than on the instruction set. */

import { type Kernel, ROW_COUNTERS } from './kernel.ts';
import { scan } from './scan.ts';

/** Pages of one turn: 20 µs with AVX-512, 0.3 ms in JavaScript. */
const TURN_PAGES = 8;

/** Turns of each kernel. With ten kernels they take about 30 ms, enough for V8 to optimise WebAssembly on the way. */
const TURNS = 24;

/** A search that nothing solves, the usual case; what it hashes makes no difference. */
const SEARCH = { midstate: new Uint32Array(8), tail: new Uint32Array(16), target: new Uint32Array(8) };

/**
 * Kernels take turns, and each one's best turn counts: whatever else the machine does can only make a turn longer.
 * @returns the speed of each kernel in MH/s
 */
export function speedsOf(kernels: readonly Kernel[]): number[] {
  const range = { lane: 0, page: 0, pages: TURN_PAGES, counter: 0, counters: ROW_COUNTERS };
  const bestMs = kernels.map(() => Number.POSITIVE_INFINITY);
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [i, kernel] of kernels.entries()) {
      const startMs = performance.now();
      scan(kernel, SEARCH, 1, range, Int32Array.of(1));
      bestMs[i] = Math.min(bestMs[i], performance.now() - startMs);
    }
  }
  return bestMs.map((ms) => (TURN_PAGES * ROW_COUNTERS) / ms / 1000);
}
