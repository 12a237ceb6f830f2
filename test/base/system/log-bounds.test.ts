/** The bounds on what others can make a program log. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LogBucket, Refusals } from '#pickaxe/base/system/bounded.js';
import { systemClock } from '#pickaxe/base/system/clock.js';

describe('lines that others cause', () => {
  it('are logged in a burst, then one every ten seconds with the number of those that were left out', () => {
    const bucket = new LogBucket(2, 0);
    const at = (...times: number[]) => times.map((ms) => bucket.take(ms));
    expect(at(0, 0)).toEqual([0, 0]);
    expect(at(1, 2, 9_999)).toEqual([undefined, undefined, undefined]);
    expect(at(10_000, 10_001)).toEqual([3, undefined]);
    // After a pause, nothing but the last line was left out, and there is a burst again.
    expect(at(60_000, 60_000, 60_000)).toEqual([1, 0, undefined]);
  });

  it('can have another rate', () => {
    const bucket = new LogBucket(1, 0, 2);
    expect([0, 499, 500, 999, 1_000].map((ms) => bucket.take(ms))).toEqual([0, undefined, 1, undefined, 1]);
  });
});

describe('refusals', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function counted() {
    const lines: string[] = [];
    const refusals = new Refusals(systemClock, ['too-fast', 'no-token', 'other'], (line) => lines.push(line), 1_000);
    return { lines, refusals };
  }

  it('are logged together, and those of the next time are counted from the beginning', () => {
    const { lines, refusals } = counted();
    refusals.note('no-token', '10.0.0.1');
    vi.advanceTimersByTime(999);
    refusals.note('no-token', '::ffff:10.0.0.2');
    refusals.note('too-fast', '10.0.0.1');
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(lines).toEqual(['refused: too-fast 1, no-token 2; from 10.0.0.1, 10.0.0.2']);
    refusals.note('other', '10.0.0.3');
    vi.advanceTimersByTime(1_000);
    expect(lines.slice(1)).toEqual(['refused: other 1; from 10.0.0.3']);
    expect(refusals.counts).toEqual({ 'too-fast': 1, 'no-token': 2, other: 1 });
    vi.advanceTimersByTime(60_000);
    expect(lines).toHaveLength(2);
  });

  it('of more than four addresses name four, and those of none name none', () => {
    const { lines, refusals } = counted();
    const report = (...addresses: (string | undefined)[]) => {
      for (const address of addresses) refusals.note('other', address);
      vi.advanceTimersByTime(1_000);
      return lines.pop();
    };
    expect(report('a', 'b', 'c', 'd', 'a')).toBe('refused: other 5; from a, b, c, d');
    expect(report('a', 'b', 'c', 'd', 'e', 'a')).toBe('refused: other 6; from a, b, c, d and others');
    expect(report('a', undefined)).toBe('refused: other 2; from a');
    expect(report(undefined)).toBe('refused: other 1');
  });

  it('that are not logged yet are logged at the end, and nothing is if there are none', () => {
    const { lines, refusals } = counted();
    refusals.close();
    expect(lines).toEqual([]);
    refusals.note('other', 'a');
    refusals.close();
    expect([lines, vi.getTimerCount()]).toEqual([['refused: other 1; from a'], 0]);
    refusals.close();
    expect(lines).toHaveLength(1);
  });
});
