import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Backoff, MAX_RETRY_AFTER_MS } from '#pickaxe/base/net/backoff.js';

describe('Backoff', () => {
  it('doubles from the first to the longest pause, and starts again after a reset', () => {
    const backoff = new Backoff({ firstMs: 100, mostMs: 1_000 }, () => 1);
    expect([1, 2, 3, 4, 5, 6].map(() => backoff.nextMs())).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    backoff.reset();
    expect(backoff.nextMs()).toBe(100);
  });

  it('chooses a random time in the second half of the limit', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 100 }), (random, attempts) => {
        const backoff = new Backoff({ firstMs: 100, mostMs: 1_000 }, () => random);
        let pauseMs = 0;
        for (let i = 0; i < attempts; i++) pauseMs = backoff.nextMs();
        const whole = Math.min(1_000, 100 * 2 ** (attempts - 1));
        expect(pauseMs).toBeGreaterThanOrEqual(whole / 2);
        expect(pauseMs).toBeLessThanOrEqual(whole);
      }),
    );
  });

  it('waits as long as the server asks for, up to a limit', () => {
    const backoff = new Backoff({ firstMs: 100, mostMs: 1_000 }, () => 1);
    expect(backoff.nextMs(7_000)).toBe(7_000);
    expect(backoff.nextMs(86_400_000)).toBe(MAX_RETRY_AFTER_MS);
  });
});
