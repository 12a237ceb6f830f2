/** Which rigs have an account of their own, which one makes room for another, and what is listed of each. */

import { describe, expect, it } from 'vitest';
import { coordinatorLimits } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import { Rigs } from '#pickaxe/fleet/coordinator/rigs.js';
import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import { subjects } from './coordinator.ts';

const LIMITS = { ...coordinatorLimits, rigs: 2, rigIdleMs: 2_000, sessionMs: 500, wrongBurst: 0 };

function setUp() {
  const rigs = new Rigs(LIMITS, () => 0, 0);
  const of = (name: string, nowMs: number) => rigs.of(subjects.solution('c1', name), nowMs)!;
  return {
    rigs,
    of,
    /** Whose account the rig's messages count for. */
    account: (name: string, nowMs: number) => of(name, nowMs).rig.name,
    listed: (nowMs: number, name = 'a') => rigs.list(nowMs).find((each) => each.name === name),
  };
}

describe('a rig', () => {
  it('has an account of its own while there is room, and is known by its name all the same', () => {
    const { of, account } = setUp();
    expect(['a', 'b', 'c'].map((name) => account(name, 0))).toEqual(['a', 'b', OTHER_WORKERS]);
    expect(['a', 'c'].map((name) => of(name, 0).sender)).toEqual(['a', 'c']);
    expect(of('a', 1).rig).toBe(of('a', 2).rig);
  });

  it('makes room for another one when it has sent nothing for a time', () => {
    const { account } = setUp();
    account('a', 0);
    account('b', 10);
    expect(account('c', 1_999)).toBe(OTHER_WORKERS);
    expect(account('c', 2_000)).toBe('c');
    expect([account('b', 2_000), account('a', 2_000)]).toEqual(['b', OTHER_WORKERS]);
  });

  it.each([
    ['a second ago', 1_000, 'b'],
    ['less than a second after the message before it, which is not noted', 999, 'a'],
  ])('that has sent a message %s: the other one makes room, or not', (_, atMs, dropped) => {
    const { account } = setUp();
    account('a', 0);
    account('b', 10);
    account('a', atMs);
    expect(account('c', 2_010)).toBe('c');
    const kept = dropped === 'a' ? 'b' : 'a';
    expect([account(kept, 2_010), account(dropped, 2_010)]).toEqual([kept, OTHER_WORKERS]);
  });

  it('whose name cannot be read is none, and one without letters is shown as in its subject', () => {
    const { rigs, of } = setUp();
    expect(rigs.of('pickaxe.solution.c1.%zz', 0)).toBeUndefined();
    expect(of('\n', 0).rig.shown).toBe('%0A');
  });
});

describe('the list of rigs', () => {
  it('has each that mines once, with the hashrate that it claims, until it mines elsewhere', () => {
    const { rigs, of, listed } = setUp();
    const { rig } = of('a', 0);
    expect(listed(0)?.sessions ?? 0).toBe(0);
    rig.mines(0, 5);
    rig.mines(0);
    expect(listed(0)).toMatchObject({ sessions: 1, hashesPerSecond: 5 });
    rig.mines(0, 7);
    expect(listed(0)).toMatchObject({ sessions: 1, hashesPerSecond: 7 });
    rig.minesElsewhere();
    rig.minesElsewhere();
    expect(listed(0)?.sessions ?? 0).toBe(0);
    rig.mines(100);
    expect(listed(100)).toMatchObject({ sessions: 1, hashesPerSecond: 0 });
    rigs.tick(599);
    expect(listed(599)?.sessions).toBe(1);
    rigs.tick(600);
    expect(listed(600)?.sessions ?? 0).toBe(0);
  });

  it('has no session of a rig that has made room for another one', () => {
    const { of, listed } = setUp();
    of('a', 0).rig.mines(0, 5);
    of('b', 0);
    of('c', 2_000);
    expect(listed(2_000)?.sessions ?? 0).toBe(0);
  });

  it('counts wrong solutions, for which a rig is refused, but not all rigs that share an account', () => {
    const { of, listed } = setUp();
    of('a', 0);
    of('b', 0);
    expect([of('a', 0).rig.wasWrong(0), of('c', 0).rig.wasWrong(0)]).toEqual([true, false]);
    expect([listed(0)?.rejected, listed(0, OTHER_WORKERS)?.rejected]).toEqual([1, 1]);
    expect([of('a', 0).rig.isRefused(59_999), of('a', 0).rig.isRefused(60_000)]).toEqual([true, false]);
  });
});
