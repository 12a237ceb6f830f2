import { describe, expect, test } from 'vitest';
import { measureTurns } from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';
import { FakeChip, randomFrom } from './fake-chip.ts';

describe('measuring speeds', () => {
  test('gives each kernel’s speed in H/s', async () => {
    const [verdict] = await new FakeChip({ avx512: 160, avx2: 120, wasm: 8 }).choose();
    expect(verdict.speeds).toEqual({ avx512: 160_000_000, avx2: 120_000_000, wasm: 8_000_000 });
    expect(verdict.fastest).toBe('avx512');
    expect(verdict.doubt).toBeUndefined();
  });

  test('gives slow kernels only a few turns, and lets the threads rest between rounds', async () => {
    const chip = new FakeChip({ avx512x2: 200, avx512: 150, wasm: 7 });
    await chip.choose();
    const count = (name: string) => chip.turns.filter((each) => each === name).length;
    expect([count('avx512x2'), count('avx512'), count('wasm')]).toEqual([25, 25, 10]);
    expect(chip.rests).toBe(25);
  });

  test('waits until V8 has optimized a kernel', async () => {
    const chip = new FakeChip({ 'wasm-simd': 24, wasm: 7.5 });
    chip.warmth = (name, turn) => (name === 'wasm-simd' && turn <= 6 ? 1 / 8 : 1);
    const [{ speeds, fastest }] = await chip.choose();
    expect(speeds['wasm-simd']).toBe(24_000_000);
    expect(fastest).toBe('wasm-simd');
  });

  test('is for each kind of cores, and a kernel that may win on one of them gets all turns', async () => {
    const chip = new FakeChip({ avx2x2: 49, avx2: 48, sse41: 21 }, { avx2x2: 9, avx2: 11, sse41: 12 });
    const [performance, efficiency] = await chip.choose();
    expect(performance.fastest).toBe('avx2x2');
    expect(efficiency.fastest).toBe('sse41');
    expect(chip.turns.filter((each) => each === 'sse41')).toHaveLength(25);
  });

  test('goes on while it is open for one kind of cores, though the other kind has a clear winner', async () => {
    const clear = { avx2: 50, sse41: 20 };
    const open = { avx2: 10, sse41: 11 };
    for (const [groups, turns] of [
      [[clear, clear], 10],
      [[clear, open], 25],
      [[open, clear], 25],
    ] as const) {
      const chip = new FakeChip(...groups);
      await chip.choose();
      expect(chip.turns.filter((each) => each === 'sse41')).toHaveLength(turns);
    }
  });

  test('takes a turn without a result for no turn', async () => {
    const chip = new FakeChip({ avx2: 50, sse41: 20 });
    let turns = 0;
    const takeTurn: typeof chip.takeTurn = async (...all) => (++turns % 3 === 0 ? [undefined] : chip.takeTurn(...all));
    const [result] = await measureTurns(chip.names, { groups: 1, takeTurn, rest: () => {}, random: randomFrom(1) });
    for (const rates of result.values()) {
      expect(rates.length).toBeGreaterThan(5);
      expect(rates.length).toBeLessThan(25);
    }
  });

  test('on a very busy machine takes fewer turns', async () => {
    const chip = new FakeChip({ avx2x2: 50, avx2: 49, sse41: 20 });
    chip.slowdown = () => 30;
    await chip.choose();
    expect(chip.turns.filter((each) => each === 'avx2')).toHaveLength(15);
    chip.turns.length = 0;
    chip.slowdown = () => 400;
    await chip.choose();
    expect(chip.turns.filter((each) => each === 'avx2')).toHaveLength(4 + 5);
  });

  test('ends with the reason when it is canceled', async () => {
    const chip = new FakeChip({ avx2: 50, wasm: 8 });
    const closed = new AbortController();
    const reason = new Error('closed');
    chip.slowdown = () => {
      if (chip.turns.length === 3) closed.abort(reason);
      return 1;
    };
    await expect(chip.choose(closed.signal)).rejects.toBe(reason);
    expect(chip.turns).toHaveLength(3);
  });
});

/** Two kernels on this machine's kind of chip, and one that is clearly slower. */
const FIGURES = { avx512x2: 214, avx512: 132, avx512vlx2: 107 };

describe('load does not decide', () => {
  test('when it comes in bursts that last longer than a round', async () => {
    const chip = new FakeChip(FIGURES);
    // Of every 50 ms, other programs have the processor half of the time.
    chip.slowdown = () => (chip.nowMs % 50 < 25 ? 2.3 : 1);
    const [{ fastest, speeds }] = await chip.choose();
    expect(fastest).toBe('avx512x2');
    expect(speeds.avx512x2).toBe(214_000_000);
  });

  test('when it comes back so regularly that it would always hit the same kernel', async () => {
    const chip = new FakeChip(FIGURES);
    let turn = 0;
    // Every third turn is slow, and a round has three turns.
    chip.slowdown = () => (turn++ % 3 === 0 ? 2.5 : 1);
    const [{ fastest, doubt }] = await chip.choose();
    expect([fastest, doubt]).toEqual(['avx512x2', undefined]);
  });

  test('when most turns are disturbed, each by another factor', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = randomFrom(seed);
      const chip = new FakeChip(FIGURES);
      chip.slowdown = () => (random() < 0.6 ? 1 + 2 * random() : 1);
      expect((await chip.choose())[0].fastest).toBe('avx512x2');
    }
  });

  test('when it hits every turn of one kernel: the verdict is in doubt, if its turns differ', async () => {
    const random = randomFrom(1);
    const chip = new FakeChip({ avx512x2: 214, avx512: 205 });
    chip.slowdown = (name) => (name === 'avx512x2' ? 1.02 + random() : 1);
    const [{ fastest, doubt }] = await chip.choose();
    expect(fastest).toBe('avx512');
    // The best turn of avx512x2 shows that it may be as fast.
    expect(doubt).toMatch(/^only \d+ of 25 turns of avx512x2 agree within 2 %$/);
  });

  test('when the chip slows down as it gets warm: all kernels slow down alike', async () => {
    const chip = new FakeChip({ avx512x2: 214, avx512: 205, avx512vlx2: 107 });
    chip.slowdown = () => 1 + chip.nowMs / 2_000;
    expect((await chip.choose())[0].fastest).toBe('avx512x2');
  });
});
