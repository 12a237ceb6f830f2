import { describe, expect, test } from 'vitest';
import type { KernelName } from '#pickaxe/engine/cpu/kernel-names.js';
import { type Kernel, PAGES_WORD, ROW_COUNTERS } from '#pickaxe/engine/cpu/kernels/kernel.js';
import { fastestOf, type Load, measureSpeeds } from '#pickaxe/engine/cpu/kernels/speed.js';

/** A simulated machine with a fake clock. Its kernels have the given speeds, in hashes per millisecond. */
class FakeMachine {
  nowMs = 0;
  readonly calls = new Map<KernelName, number>();
  readonly turns: KernelName[] = [];
  /** The factor by which other programs slow down a call. */
  slowdown = () => 1;

  kernel(name: KernelName, hashesPerMs: (call: number) => number): Kernel {
    return {
      name,
      search: (search, _, hits) => {
        const call = (this.calls.get(name) ?? 0) + 1;
        this.calls.set(name, call);
        if (this.turns.at(-1) !== name) this.turns.push(name);
        hits[0] = 0;
        this.nowMs += ((search[PAGES_WORD] * ROW_COUNTERS) / hashesPerMs(call)) * this.slowdown();
        return search[PAGES_WORD];
      },
    };
  }

  measure(kernels: readonly Kernel[], load?: Load) {
    return measureSpeeds(kernels, { nowMs: () => this.nowMs, ...(load && { load }) });
  }
}

const always = (hashesPerMs: number) => () => hashesPerMs;

describe('measuring speeds', () => {
  test('gives each kernel’s speed in H/s', async () => {
    const machine = new FakeMachine();
    const kernels = [
      machine.kernel('avx512', always(160_000)),
      machine.kernel('avx2', always(120_000)),
      machine.kernel('js', always(8_000)),
    ];
    expect(await machine.measure(kernels)).toEqual({ avx512: 160_000_000, avx2: 120_000_000, js: 8_000_000 });
  });

  test('gives each kernel turns of 3 ms, and slow kernels only a few', async () => {
    const machine = new FakeMachine();
    await machine.measure([
      machine.kernel('avx512x2', always(200_000)),
      machine.kernel('avx512', always(150_000)),
      machine.kernel('js', always(7_000)),
    ]);
    expect(machine.nowMs).toBeLessThan(3.2 * (2 * 25 + 10));
    expect(machine.calls.get('js')).toBe(20);
    expect(machine.calls.get('avx512')).toBe(50);
    expect(machine.turns.slice(0, 6)).toEqual(['avx512x2', 'avx512', 'js', 'avx512x2', 'avx512', 'js']);
    expect(machine.turns.slice(-4)).toEqual(['avx512x2', 'avx512', 'avx512x2', 'avx512']);
  });

  test('is not misled by other programs that use the processor', async () => {
    const machine = new FakeMachine();
    let call = 0;
    // Two of three calls are disturbed, by up to ten times their length.
    machine.slowdown = () => [1, 1.7, 10, 1.1, 3][call++ % 5] * (call % 3 === 0 ? 1 : 1.5);
    const speeds = await machine.measure([
      machine.kernel('avx512x2', always(161_000)),
      machine.kernel('avx512', always(157_000)),
    ]);
    expect(speeds.avx512x2! / speeds.avx512!).toBeCloseTo(161 / 157, 3);
    expect(fastestOf(speeds)).toBe('avx512x2');
  });

  test('waits until V8 has optimized a kernel', async () => {
    const machine = new FakeMachine();
    const speeds = await machine.measure([
      machine.kernel('wasm-simd', (call) => (call <= 8 ? 3_000 : 24_000)),
      machine.kernel('wasm', always(7_500)),
    ]);
    expect(speeds['wasm-simd']).toBeCloseTo(24_000_000, -4);
  });

  test('counts the hashes of the load threads, too: the result is the mean of all threads', async () => {
    const machine = new FakeMachine();
    // One of three other threads never gets a processor. The others are half as fast as the measuring thread.
    let since = 0;
    let countedMs = 0;
    const load: Load = {
      count: 3,
      run: () => {
        since = machine.nowMs;
      },
      endCount: () => {
        countedMs = machine.nowMs - since;
      },
      rows: () => (2 * 50_000 * countedMs) / ROW_COUNTERS,
    };
    const { avx2 } = await machine.measure([machine.kernel('avx2', always(100_000))], load);
    expect(avx2! / 1e6).toBeCloseTo((100 + 2 * 50) / 4, 3);
  });

  test('ends with the reason when it is canceled', async () => {
    const machine = new FakeMachine();
    const closed = new AbortController();
    const reason = new Error('closed');
    const kernel = machine.kernel('js', (call) => {
      if (call === 3) closed.abort(reason);
      return 8_000;
    });
    await expect(measureSpeeds([kernel], { nowMs: () => machine.nowMs, stop: closed.signal })).rejects.toBe(reason);
    expect(machine.calls.get('js')).toBe(4);
  });

  test('has no result without kernels', async () => {
    expect(await measureSpeeds([])).toEqual({});
    expect(fastestOf({})).toBeUndefined();
  });
});

describe('the fastest kernel', () => {
  test.each([
    ['is the fastest, in whatever order they are named', { js: 1, avx2: 50, avx512x2: 40, avx512: 60 }, 'avx512'],
    ['may be the last in the list', { avx512: 6, js: 7 }, 'js'],
    ['is the first in the list among equals', { avx2: 99.5, avx512: 99.1, avx512x2: 98.9, wasm: 100 }, 'avx512'],
  ] as const)('%s', (_, speeds, expected) => {
    expect(fastestOf(speeds)).toBe(expected);
  });
});
