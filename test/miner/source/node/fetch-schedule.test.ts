import { beforeEach, describe, expect, it } from 'vitest';
import { FetchSchedule } from '#pickaxe/miner/source/node/fetch-schedule.js';
import { HEADER_BYTES } from '#pickaxe/protocol/chain/bytes.js';
import { type Work, withCreationTime } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../../fakes.ts';

const limits = { burstMs: 100, pollMs: 2_000, expiryMs: 300_000 };
const refreshMs = 20_000;
/** Makes work on a new block. All have one height, because a greater one shows that earlier work is outdated. */
const workOn = (chain: number): Work => ({ ...makeWork(100), chain, height: 100n });
/** Makes another work on the same parent, as nodes do for new transactions. */
const otherPayload = (work: Work): Work => {
  const header = work.header.slice();
  header[200] ^= 1;
  return { ...work, header };
};
const NOW = Number.NEGATIVE_INFINITY;

describe('FetchSchedule', () => {
  let schedule: FetchSchedule;
  let open: Set<number>;
  let ms: number;

  beforeEach(() => {
    schedule = new FetchSchedule(limits);
    open = new Set();
    ms = 1_000_000;
  });

  const due = () => schedule.dueAtMs((chain) => (open.has(chain) ? refreshMs : undefined));
  const fetch = (work: Work) => schedule.fetchEnded(work, schedule.fetchBegan(ms), ms);
  /** @param agoMs by default, so long ago that what it announces is complete */
  const openStream = (chain: number, agoMs = 1_500) => {
    open.add(chain);
    schedule.streamOpened(chain, ms - agoMs);
  };

  it('wants work when there is none', () => {
    expect(due()).toBe(NOW);
  });

  it('polls while the chain has no stream', () => {
    fetch(workOn(3));
    openStream(4);
    expect(due()).toBe(ms + limits.pollMs);
  });

  it('fetches once more when the stream opens after the fetch', () => {
    fetch(workOn(3));
    openStream(3);
    expect(due()).toBe(NOW);
    fetch(workOn(3));
    expect(due()).toBe(ms + refreshMs);
  });

  it('fetches once more for a stream that opens during the fetch', () => {
    const order = schedule.fetchBegan(ms);
    openStream(3);
    schedule.fetchEnded(workOn(3), order, ms);
    expect(due()).toBe(NOW);
  });

  it('fetches once more when a stream has been open for 1.5 s, because a New Cut may have come just before it', () => {
    const openedAtMs = ms;
    openStream(3, 0);
    fetch(workOn(3));
    expect(due()).toBe(openedAtMs + 1_500);
    ms += 1_499;
    fetch(workOn(3));
    expect(due()).toBe(openedAtMs + 1_500);
    ms += 1;
    fetch(workOn(3));
    expect(due()).toBe(ms + refreshMs);
  });

  it('does not if a New Cut of the chain has come over the stream, or for work of another chain', () => {
    openStream(3, 0);
    openStream(4);
    fetch(workOn(4));
    expect(due()).toBe(ms + refreshMs);
    schedule.newCut(3, ms);
    // The node's work may be older than the New Cut, so it is fetched twice more.
    const work = workOn(3);
    for (const pauseMs of [0, 400, 800]) {
      ms += pauseMs;
      fetch(work);
    }
    expect(due()).toBe(ms + refreshMs);
  });

  it('never refetches work that was fetched under an open stream, whatever other streams do', () => {
    openStream(3);
    fetch(workOn(3));
    for (let chain = 4; chain < 20; chain++) openStream(chain);
    expect(due()).toBe(ms + refreshMs);
  });

  it('fetches at once when a stream has come back, and polls from its end while it has not', () => {
    openStream(3);
    fetch(workOn(3));
    ms += 60_000;
    open.delete(3);
    schedule.streamEnded(3, ms);
    expect(due()).toBe(ms + limits.pollMs);
    openStream(3);
    expect(due()).toBe(NOW);
  });

  it('drops the current work at a New Cut of its chain, and no other', () => {
    openStream(3);
    fetch(workOn(3));
    expect(schedule.newCut(4, ms)).toBe(false);
    expect(schedule.current).toBeDefined();
    expect(schedule.newCut(3, ms)).toBe(true);
    expect(schedule.current).toBeUndefined();
    expect(due()).toBe(NOW);
  });

  it('answers a burst of New Cuts with one fetch at once and one at the end', () => {
    openStream(3);
    fetch(workOn(3));
    expect(schedule.newCut(3, ms)).toBe(true);
    ms += 5;
    const next = workOn(3);
    fetch(next);
    for (let i = 0; i < 5; i++) {
      ms += 5;
      expect(schedule.newCut(3, ms)).toBe(false);
    }
    // A solution of it is worth sending.
    expect(schedule.isOutdated(next)).toBe(false);
    expect(due()).toBe(1_000_000 + limits.burstMs);
    ms = due();
    fetch(workOn(3));
    expect(due()).toBe(ms + refreshMs);
  });

  it('counts a New Cut after the burst as a new block', () => {
    openStream(3);
    fetch(workOn(3));
    schedule.newCut(3, ms);
    fetch(workOn(3));
    ms += limits.burstMs;
    expect(schedule.newCut(3, ms)).toBe(true);
  });

  it('fetches once more, and at once, when a New Cut came while the work was on its way', () => {
    openStream(3);
    const order = schedule.fetchBegan(ms);
    schedule.newCut(3, ms);
    schedule.fetchEnded(workOn(3), order, ms);
    expect(due()).toBeLessThanOrEqual(ms);
    fetch(workOn(3));
    expect(due()).toBe(ms + 400);
    expect(schedule.newCut(3, ms + limits.burstMs - 1)).toBe(false);
  });

  it('keeps the work when a fetch brings the same with another time and nonce', () => {
    const work = workOn(3);
    expect(fetch(work)).toBe(true);
    openStream(3);
    const header = withCreationTime(work.header, 1n);
    header[HEADER_BYTES - 1] ^= 1;
    expect(fetch({ ...work, header })).toBe(false);
    expect(schedule.current).toBe(work);
    expect(due()).toBe(ms + refreshMs);
  });

  it('accepts the same work again after it was dropped', () => {
    const work = workOn(3);
    fetch(work);
    schedule.expire();
    expect(fetch({ ...work })).toBe(true);
  });

  it('mines work that a New Cut has ended when the node gives it out again, and soon fetches other work', () => {
    const work = workOn(3);
    openStream(3);
    fetch(work);
    schedule.newCut(3, ms);
    expect(fetch({ ...work })).toBe(true);
    const pauses = [];
    for (let i = 0; i < 5; i++) {
      pauses.push(due() - ms);
      ms = due();
      expect(fetch({ ...work })).toBe(false);
    }
    expect(pauses).toEqual([50, 100, 200, 400, 800]);
    // The node is believed in the end.
    expect(due()).toBe(ms + refreshMs);
  });

  it('soon fetches other work than that of an ended parent, also if other chains get blocks meanwhile', () => {
    const work = workOn(3);
    openStream(3);
    fetch(work);
    schedule.newCut(3, ms);
    expect(fetch({ ...work })).toBe(true);
    ms += 20;
    expect(schedule.newCut(4, ms)).toBe(false);
    expect(due()).toBe(ms + 30);
  });

  it('repeats no fetch once the node has given other work', () => {
    const work = workOn(3);
    openStream(3);
    fetch(work);
    schedule.newCut(3, ms);
    fetch({ ...work });
    ms += 5;
    fetch(workOn(3));
    expect(due()).toBe(ms + refreshMs);
  });

  describe('work that came soon after a New Cut of its chain, which was not mined then', () => {
    const pauses = (work: Work) => {
      const made: number[] = [];
      while (due() !== ms + refreshMs) {
        made.push(due() - ms);
        ms = due();
        fetch(work);
      }
      return made;
    };

    it('is fetched again after the two longest pauses if nothing shows whether it is older', () => {
      openStream(3);
      fetch(workOn(4));
      schedule.newCut(3, ms);
      ms += 1_499;
      const work = workOn(3);
      expect(fetch(work)).toBe(true);
      expect(schedule.current).toBe(work);
      expect(pauses(work)).toEqual([400, 800]);
    });

    it('is fetched again after all pauses if it is known from before', () => {
      openStream(3);
      const work = workOn(3);
      fetch(work);
      fetch(workOn(4));
      schedule.newCut(3, ms);
      fetch({ ...work });
      expect(pauses(work)).toEqual([50, 100, 200, 400, 800]);
    });

    it('is not fetched again if it is on another block than the work before, or if time has passed', () => {
      openStream(3);
      fetch(workOn(3));
      fetch(workOn(4));
      schedule.newCut(3, ms);
      fetch(workOn(3));
      expect(pauses(workOn(3))).toEqual([]);
      openStream(5);
      fetch(workOn(6));
      schedule.newCut(5, ms);
      ms += 1_500;
      fetch(workOn(5));
      expect(pauses(workOn(5))).toEqual([]);
    });

    it('is fetched again if the work before it was doubtful, because the node may be a block late again', () => {
      openStream(3);
      fetch(workOn(4));
      schedule.newCut(3, ms);
      fetch(workOn(3));
      ms += 600;
      schedule.newCut(3, ms);
      const stillLate = workOn(3);
      expect(fetch(stillLate)).toBe(true);
      expect(pauses(stillLate)).toEqual([400, 800]);
    });

    it('is no longer doubtful once the node has given it to the end', () => {
      openStream(3);
      fetch(workOn(4));
      schedule.newCut(3, ms);
      const work = workOn(3);
      fetch(work);
      expect(pauses(work)).toEqual([400, 800]);
      schedule.newCut(3, ms);
      const next = workOn(3);
      fetch(next);
      expect(pauses(next)).toEqual([]);
    });

    it('is no longer fetched again once other work has come', () => {
      openStream(3);
      openStream(4);
      fetch(workOn(4));
      schedule.newCut(3, ms);
      fetch(workOn(3));
      expect(due()).toBe(ms + 400);
      fetch(workOn(4));
      expect(due()).toBe(ms + refreshMs);
    });

    it('counts the first of several New Cuts for one block', () => {
      openStream(3);
      const work = workOn(3);
      fetch(work);
      schedule.newCut(3, ms);
      const next = workOn(3);
      fetch(next);
      ms += limits.burstMs - 1;
      expect(schedule.newCut(3, ms)).toBe(false);
      fetch(next);
      expect(pauses(next)).toEqual([]);
    });
  });

  it('does not count another payload on the ended parent as other work', () => {
    const work = workOn(3);
    openStream(3);
    fetch(work);
    schedule.newCut(3, ms);
    expect(fetch(otherPayload(work))).toBe(true);
    expect(due()).toBe(ms + 50);
  });

  it('does not mine on a solved parent until the node has given it out several times', () => {
    const work = workOn(3);
    openStream(3);
    fetch(work);
    expect(schedule.solved(work)).toBe(true);
    expect(due()).toBe(NOW);
    // Another payload on the same parent is worth as little.
    const again = otherPayload(work);
    for (let i = 0; i < 5; i++) {
      expect(fetch(again)).toBe(false);
      expect(schedule.current).toBeUndefined();
      ms = due();
    }
    expect(fetch(again)).toBe(true);
  });

  it('fetches at once when a New Cut follows a solution, or when the solution was not accepted', () => {
    for (const happens of [() => schedule.newCut(3, ms), (work: Work) => schedule.notSolved(work)]) {
      const work = workOn(3);
      fetch(work);
      schedule.solved(work);
      fetch({ ...work });
      expect(due()).toBe(ms + 50);
      happens(work);
      expect(due()).toBe(NOW);
    }
  });

  it('mines on a parent whose solution was not accepted', () => {
    const work = workOn(3);
    fetch(work);
    schedule.solved(work);
    schedule.notSolved(work);
    expect(fetch({ ...work })).toBe(true);
    expect(due()).toBe(ms + limits.pollMs);
  });

  it('goes on fetching after a New Cut when a solution of the old work is not accepted', () => {
    const work = workOn(3);
    openStream(3);
    fetch(work);
    schedule.solved(work);
    schedule.newCut(3, ms);
    expect(fetch({ ...work })).toBe(false);
    schedule.notSolved(work);
    expect(due()).toBe(NOW);
    // The node has not made it yet, so this is what a New Cut has ended.
    expect(fetch({ ...work })).toBe(true);
    expect(due()).toBe(ms + 50);
  });

  it('goes on fetching when a solution of an earlier work is not accepted', () => {
    const [earlier, work] = [workOn(3), workOn(3)];
    openStream(3);
    fetch(earlier);
    fetch(work);
    schedule.newCut(3, ms);
    fetch({ ...work });
    schedule.notSolved(earlier);
    expect(due()).toBe(ms + 50);
  });

  it('is not affected by a solution on another parent', () => {
    const [old, current] = [workOn(3), workOn(3)];
    fetch(old);
    fetch(current);
    expect(schedule.solved(old)).toBe(false);
    expect(schedule.current).toBe(current);
  });

  it('fetches at once when everything may have changed, once', () => {
    openStream(3);
    fetch(workOn(3));
    schedule.makeDue();
    expect(due()).toBe(NOW);
    fetch(workOn(3));
    expect(due()).toBe(ms + refreshMs);
  });

  it('marks earlier work of a chain as outdated when a fetch shows a greater height', () => {
    const old = { ...workOn(3), height: 7n };
    const same = { ...workOn(3), height: 8n };
    const other = { ...workOn(4), height: 7n };
    for (const work of [old, same, other]) fetch(work);
    fetch({ ...workOn(3), height: 8n });
    expect([old, same, other].map((work) => schedule.isOutdated(work))).toEqual([true, false, false]);
  });

  it('knows how long the node remembers an earlier work', () => {
    const work = workOn(3);
    fetch(work);
    for (let i = 0; i < 100; i++) {
      ms += 2_000;
      fetch(workOn(4));
    }
    expect(schedule.lifeMs(work, ms)).toBe(limits.expiryMs - 200_000);
    schedule.newCut(3, ms);
    expect(schedule.isOutdated(work)).toBe(true);
    expect(schedule.lifeMs(workOn(3), ms)).toBe(0);
  });

  it('forgets work that the node has forgotten, and the oldest when there is too much', () => {
    const [old, first] = [workOn(3), workOn(3)];
    fetch(old);
    ms += limits.expiryMs + 1;
    fetch(first);
    expect(schedule.lifeMs(old, ms)).toBe(0);
    for (let i = 1; i < 1_024; i++) fetch(workOn(3));
    expect(schedule.lifeMs(first, ms)).toBe(limits.expiryMs);
    fetch(workOn(3));
    expect(schedule.lifeMs(first, ms)).toBe(0);
  });

  it('knows which earlier work has had a New Cut', () => {
    const [old, other, later] = [workOn(3), workOn(4), workOn(3)];
    fetch(old);
    fetch(other);
    schedule.newCut(3, ms);
    fetch(later);
    expect([old, other, later].map((work) => schedule.isOutdated(work))).toEqual([true, false, false]);
  });

  it('says once of each work that it is stale, and only of those that are', () => {
    const [work, other, elsewhere] = [workOn(3), workOn(3), workOn(4)];
    const again = otherPayload(work);
    for (const each of [other, work, elsewhere, again]) fetch(each);
    expect(schedule.takeStale()).toEqual([]);
    expect(schedule.solved(work)).toBe(true);
    expect(schedule.takeStale()).toEqual([work, again]);
    expect(schedule.takeStale()).toEqual([]);
    schedule.newCut(3, ms);
    expect(new Set(schedule.takeStale())).toEqual(new Set([other, work, again]));
    schedule.newCut(3, ms + limits.burstMs);
    schedule.solved(work);
    expect(schedule.takeStale()).toEqual([]);
    fetch(elsewhere);
    schedule.expire();
    expect([schedule.current, schedule.takeStale()]).toEqual([undefined, [elsewhere]]);
    schedule.expire();
    expect(schedule.takeStale()).toEqual([]);
  });

  it('takes a New Cut of a burst for one of the works before the current one', () => {
    const [work, later, last] = [workOn(3), workOn(3), workOn(3)];
    fetch(work);
    schedule.newCut(3, ms);
    fetch(later);
    fetch(last);
    expect(schedule.newCut(3, ms + limits.burstMs - 1)).toBe(false);
    expect([work, later, last].map((each) => schedule.isOutdated(each))).toEqual([true, true, false]);
  });

  it('knows nothing of works that were never fetched, and expires nothing without work', () => {
    const work = workOn(3);
    expect([schedule.solved(work), schedule.isRemembered(work), schedule.isExpired(ms)]).toEqual([false, false, false]);
    fetch(work);
    expect([schedule.isRemembered(work), schedule.isRemembered(workOn(3))]).toEqual([true, false]);
    ms += limits.expiryMs;
    fetch(workOn(3));
    expect(schedule.isRemembered(work)).toBe(true);
    ms += 1;
    fetch(workOn(3));
    expect(schedule.isRemembered(work)).toBe(false);
  });

  it('does not mine on a parent that a New Cut has ended before its solution was sent', () => {
    const work = workOn(3);
    fetch(work);
    schedule.newCut(3, ms);
    expect(schedule.solved(work)).toBe(false);
    expect(fetch(otherPayload(work))).toBe(false);
  });

  it('mines on an earlier parent again when the node goes back to it', () => {
    const work = workOn(3);
    fetch(work);
    schedule.solved(work);
    expect(fetch(workOn(3))).toBe(true);
    expect(fetch(otherPayload(work))).toBe(true);
    expect(due()).toBe(ms + limits.pollMs);
  });

  it.each<[string, (work: Work) => Work, boolean]>([
    ['in nothing', (work) => ({ ...work }), false],
    ['in its target', (work) => ({ ...work, target: new Uint8Array(32) }), true],
    ['in its chain', (work) => ({ ...work, chain: 4 }), true],
    ['in its first byte', (work) => ({ ...work, header: work.header.with(0, work.header[0] ^ 1) }), true],
    ['in its last byte', (work) => ({ ...work, header: work.header.with(277, work.header[277] ^ 1) }), true],
    ['in its nonce', (work) => ({ ...work, header: work.header.with(278, work.header[278] ^ 1) }), false],
  ])('takes a work that differs %s for a new one if it matters', (_, change, isNew) => {
    const work = workOn(3);
    fetch(work);
    expect(fetch(change(work))).toBe(isNew);
  });

  it('takes the same parent on another chain for another one', () => {
    const work = workOn(3);
    fetch(work);
    fetch({ ...work, chain: 4 });
    expect(schedule.solved(work)).toBe(false);
    expect(schedule.current?.chain).toBe(4);
    expect(schedule.takeStale()).toEqual([work]);
  });

  it('knows when the node has forgotten the work', () => {
    fetch(workOn(3));
    expect(schedule.isExpired(ms + limits.expiryMs - 1)).toBe(false);
    expect(schedule.isExpired(ms + limits.expiryMs)).toBe(true);
  });
});
