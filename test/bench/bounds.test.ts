import { describe, expect, it } from 'vitest';
import { boundsOf, clockLines } from '../../bench/kernels/bounds.mjs';

describe('the clock of bench/kernels/ceiling.mjs', () => {
  it('is measured with both chains, which may differ a little', () => {
    expect(clockLines({ clock: 2.99, clock_by_multiplications: 2.9 })).toEqual([
      expect.stringMatching(/^clock 2\.99 GHz .*, 2\.90 GHz by dependent multiplications$/),
    ]);
  });

  it.each([
    ['a chip folds the first', 17.63, 2.99],
    ['a chip multiplies in 4 cycles', 3, 2.25],
  ])('is doubted when %s', (_, clock, clock_by_multiplications) => {
    expect(clockLines({ clock, clock_by_multiplications })[1]).toMatch(/DISAGREE/);
  });
});

it('the bounds of Intel’s Golden Cove are those of two units of 512 bits, and of three of 256', () => {
  const units = {
    clock: 2.99,
    avx2_adds: 8.9,
    avx2_mixture: 8.8,
    avx512_adds: 5.95,
    avx512_mixture: 5.9,
    avx512vl_adds: 8.94,
    avx512vl_mixture: 8.97,
  };
  const avx2 = boundsOf(units, 'avx2', { nonces: 8, alu: 1_250 });
  expect(avx2).toMatchObject({ pipes: 3, portBound: expect.closeTo(57.4, 1) });
  expect(avx2.mixtureBound).toBeLessThan(avx2.portBound);
  const avx512 = boundsOf(units, 'avx512', { nonces: 32, alu: 1_908 });
  expect(avx512).toMatchObject({ pipes: 2, portBound: expect.closeTo(100.3, 1) });
  // Instructions of AVX-512 on 256 bits have three units, too.
  const avx512vl = boundsOf(units, 'avx512vl', { nonces: 16, alu: 1_908 });
  expect(avx512vl).toMatchObject({ pipes: 3, portBound: expect.closeTo(75.2, 1) });
});
