/**
 * The choice on common chips, with pretended figures: MH/s of one thread. The figures of Golden Cove and Zen 5 were
 * measured; those of Gracemont and Zen 2 follow from the operations of their vector units per cycle.
 */

import { describe, expect, test } from 'vitest';
import type { KernelName } from '#pickaxe/miner/engine/device.js';
import { FakeChip, type Figures, randomFrom } from './fake-chip.ts';

/** In consumer chips, which have no AVX-512. Two vectors in short turns lose as much by their stores as they gain. */
const GOLDEN_COVE: Figures = {
  avx2x2long: 51.5,
  avx2x2: 37.7,
  avx2: 48.2,
  sse41: 24.5,
  portable: 10.1,
  'wasm-simd': 26.9,
  wasm: 8.7,
};
/** With another program on the second thread of each core, one vector is faster. */
const GOLDEN_COVE_SHARED: Figures = { ...GOLDEN_COVE, avx2x2long: 38.0, avx2x2: 29.6, avx2: 42.2 };
/** With two vectors in turns of 160 without scheduling, both forms were close. */
const GOLDEN_COVE_CLOSE: Figures = { ...GOLDEN_COVE, avx2x2long: 49.4 };
/** Its 256-bit operations run as two halves, so SSE4.1 loses nothing, and its spills cost less. */
const GRACEMONT: Figures = {
  avx2x2long: 10.9,
  avx2x2: 9.1,
  avx2: 12.8,
  sse41: 13.9,
  portable: 5.2,
  'wasm-simd': 11.9,
  wasm: 4.6,
};
/** One vector a cycle and pipe: two vectors in 16 registers only spill. */
const ZEN_2: Figures = {
  avx2x2long: 37.1,
  avx2x2: 33.0,
  avx2: 41.5,
  sse41: 21.0,
  portable: 8.9,
  'wasm-simd': 19.8,
  wasm: 7.3,
};
const ZEN_5: Figures = {
  avx512x2: 213.7,
  avx512: 131.9,
  avx512vlx2: 107.2,
  avx512vl: 66.2,
  avx2x2: 76.9,
  avx2: 52.4,
  sse41: 25.4,
  portable: 12.2,
  'wasm-simd': 31.0,
  wasm: 12.8,
};
/** A system that hides AVX-512. */
const { avx512x2, avx512, avx512vlx2, avx512vl, ...ZEN_5_WITHOUT_AVX512 } = ZEN_5;

/**
 * Kinds of load on a machine while pickaxe measures. A thread's clock sees less of a load when it counts its own time.
 */
const LOADS: [name: string, (chip: FakeChip, seed: number) => void, mostWrong: number][] = [
  ['a quiet machine', () => {}, 0],
  [
    'turns that differ by a percent or two',
    (chip, seed) => {
      const random = randomFrom(seed);
      chip.slowdown = () => 1 + 0.02 * random() ** 2;
    },
    0,
  ],
  [
    'bursts of load',
    (chip, seed) => {
      chip.slowdown = () => ((chip.nowMs + 7 * seed) % 40 < 22 ? 1.9 : 1);
    },
    1,
  ],
  [
    'load all the time, on a chip that shares its cores',
    (chip, seed) => {
      const random = randomFrom(seed);
      chip.slowdown = () => (random() < 0.7 ? 1 + random() : 1);
    },
    2,
  ],
];

/** Under heavy load, one to three choices in 100 are wrong. */
const SEEDS = 25;

describe.each(LOADS)('with %s, the choice', (_, disturb, mostWrong) => {
  test.each<[string, Figures[], KernelName[]]>([
    ['on Golden Cove is two vectors in long turns', [GOLDEN_COVE], ['avx2x2long']],
    ['on cores of Golden Cove that are shared is one vector', [GOLDEN_COVE_SHARED], ['avx2']],
    ['on Gracemont is SSE4.1', [GRACEMONT], ['sse41']],
    ['on a hybrid of both is one for each kind of cores', [GOLDEN_COVE, GRACEMONT], ['avx2x2long', 'sse41']],
    ['on Zen 2 is one vector', [ZEN_2], ['avx2']],
    ['on Zen 5 is two vectors of AVX-512', [ZEN_5], ['avx512x2']],
    ['on Zen 5 without AVX-512 is two vectors of AVX2', [ZEN_5_WITHOUT_AVX512], ['avx2x2']],
  ])('%s', async (_, groups, expected) => {
    let wrong = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const chip = new FakeChip(...groups);
      chip.random = randomFrom(1000 + seed);
      disturb(chip, seed);
      const verdicts = await chip.choose();
      if (verdicts.some(({ fastest }, i) => fastest !== expected[i])) wrong++;
    }
    expect(wrong).toBeLessThanOrEqual(mostWrong);
  });
});

test('of two forms that are close, the faster one is chosen', async () => {
  const [{ fastest }] = await new FakeChip(GOLDEN_COVE_CLOSE).choose();
  expect(fastest).toBe('avx2x2long');
});
