import { describe, expect, it } from 'vitest';
import { Bans } from '#pickaxe/miner/relay/stratum/bans.js';

describe('bans', () => {
  const limits = { banPoints: 10, banPointsPerMinute: 6, banMs: 1_000, remembered: 3 };

  it('begin when the points are used up, and end after their time', () => {
    const bans = new Bans(limits);
    expect([bans.note('192.0.2.1', 6, 0), bans.note('192.0.2.1', 6, 0), bans.note('192.0.2.1', 6, 0)]).toEqual([
      false,
      true,
      false,
    ]);
    expect([0, 999, 1_000].map((nowMs) => bans.isBanned('192.0.2.1', nowMs))).toEqual([true, true, false]);
    expect(bans.isBanned('192.0.2.2', 0)).toBe(false);
  });

  it('are never for one small fault in a while', () => {
    const bans = new Bans(limits);
    for (let minute = 0; minute < 100; minute++) expect(bans.note('::1', 6, 60_000 * minute)).toBe(false);
  });

  it('are for faults that come faster than so many points a minute', () => {
    const bans = new Bans(limits);
    expect([0, 10_000, 20_000].map((nowMs) => bans.note('192.0.2.1', 5, nowMs))).toEqual([false, false, true]);
  });

  it('remember a bounded number of addresses', () => {
    const bans = new Bans(limits);
    bans.note('192.0.2.1', 11, 0);
    for (let last = 2; last < 5; last++) bans.note(`192.0.2.${last}`, 1, 0);
    expect(bans.isBanned('192.0.2.1', 0)).toBe(false);
  });
});
