import { beforeEach, describe, expect, it } from 'vitest';
import { StreamTrust } from '#pickaxe/miner/source/node/stream-trust.js';

const limits = { burstMs: 100, pollMs: 2_000, refreshMs: 20_000, steadyStreamMs: 5_000, newCutGraceMs: 2_000 };
const parent = (number: number) => new Uint8Array(32).fill(number);

describe('StreamTrust', () => {
  let trust: StreamTrust;
  let ms: number;

  beforeEach(() => {
    trust = new StreamTrust(limits);
    ms = 1_000_000;
  });

  /** A fetch that takes 10 ms. */
  const fetch = (chain: number, block: number) => {
    const askedAtMs = ms;
    ms += 10;
    trust.fetched(chain, parent(block), askedAtMs, ms);
  };
  const afterGrace = () => {
    ms += limits.newCutGraceMs;
    return trust.judge(ms).missed;
  };

  it('polls chains without a stream, and no others', () => {
    expect(trust.pollReason(3)).toBe('no-stream');
    trust.opened(3, ms);
    expect(trust.pollReason(3)).toBeUndefined();
    trust.ended(3, ms);
    expect(trust.pollReason(3)).toBe('no-stream');
  });

  it('finds the stream that missed a block, once the grace period for its New Cut is over', () => {
    trust.opened(3, ms);
    fetch(3, 1);
    ms += 20_000;
    fetch(3, 2);
    expect(trust.judgeAtMs()).toBe(ms + limits.newCutGraceMs);
    expect(trust.judge(ms + limits.newCutGraceMs - 1).missed).toEqual([]);
    expect(trust.pollReason(3)).toBeUndefined();
    expect(afterGrace()).toEqual([3]);
    expect(trust.pollReason(3)).toBe('missed-block');
    expect(trust.polled(ms)).toEqual([{ chain: 3, reason: 'missed-block' }]);
    expect(trust.judgeAtMs()).toBe(Number.POSITIVE_INFINITY);
    // It is told once.
    fetch(3, 3);
    expect(afterGrace()).toEqual([]);
  });

  it('counts the grace period from the first missed block, however many follow', () => {
    trust.opened(3, ms);
    fetch(3, 1);
    fetch(3, 2);
    const judgeAtMs = trust.judgeAtMs();
    ms += limits.newCutGraceMs - 100;
    fetch(3, 3);
    expect(trust.judgeAtMs()).toBe(judgeAtMs);
    expect(trust.judge(judgeAtMs).missed).toEqual([3]);
  });

  it('accepts a New Cut that comes before its block is given out as work', () => {
    trust.opened(3, ms);
    fetch(3, 1);
    ms += 20_000;
    trust.newCut(3, ms);
    for (const pauseMs of [1, 50, 100, 200]) {
      ms += pauseMs;
      fetch(3, 1);
    }
    ms += 400;
    fetch(3, 2);
    expect(afterGrace()).toEqual([]);
    // It has told that block, and no other one.
    ms += 20_000;
    fetch(3, 3);
    expect(afterGrace()).toEqual([3]);
  });

  it('accepts a block that came before the stream was open', () => {
    trust.opened(4, ms);
    trust.fetched(3, parent(1), ms, ms + 10);
    trust.opened(3, ms + 5);
    ms += 1_000;
    fetch(3, 2);
    expect(afterGrace()).toEqual([]);
  });

  it('suspects no stream that ends within the grace period', () => {
    trust.opened(3, ms);
    fetch(3, 1);
    fetch(3, 2);
    trust.ended(3, ms);
    expect(afterGrace()).toEqual([]);
    expect(trust.pollReason(3)).toBe('no-stream');
  });

  it.each<[string, () => void]>([
    ['told before the fetch', () => trust.newCut(3, ms - 1)],
    [
      'told long before the fetch that succeeded',
      () => {
        trust.newCut(3, ms);
        ms += 60_000;
      },
    ],
    ['of a stream that opened after the fetch before', () => trust.opened(3, ms)],
    ['of a stream that was closed meanwhile', () => trust.ended(3, ms)],
  ])('takes no offence at a block %s', (_, happens) => {
    trust.opened(3, ms);
    fetch(3, 1);
    ms += 1_000;
    happens();
    fetch(3, 2);
    expect(afterGrace()).toEqual([]);
    expect(trust.judgeAtMs()).toBe(Number.POSITIVE_INFINITY);
  });

  it('accepts a New Cut within the grace period, and the same parent again', () => {
    trust.opened(3, ms);
    fetch(3, 1);
    fetch(3, 1);
    fetch(3, 2);
    ms += limits.newCutGraceMs - 1;
    trust.newCut(3, ms);
    expect(afterGrace()).toEqual([]);
  });

  it('also distrusts silent and later streams, but none with a recent New Cut', () => {
    for (const chain of [3, 4, 5]) trust.opened(chain, ms);
    fetch(3, 1);
    ms += limits.refreshMs + 1;
    trust.newCut(5, ms);
    fetch(3, 2);
    ms += limits.newCutGraceMs;
    expect(trust.judge(ms)).toEqual({ missed: [3], distrusted: [3, 4] });
    trust.opened(6, ms);
    expect([3, 4, 5, 6].map((chain) => trust.pollReason(chain) ?? 'trusted')).toEqual([
      'missed-block',
      'missed-block',
      'trusted',
      'missed-block',
    ]);
  });

  it('goes on trusting a stream whose last New Cut is as old as work may become, and no older one', () => {
    for (const chain of [3, 4, 5]) trust.opened(chain, ms);
    fetch(3, 1);
    trust.newCut(4, ms - 1);
    trust.newCut(5, ms);
    ms += limits.refreshMs - limits.newCutGraceMs - 10;
    fetch(3, 2);
    ms += limits.newCutGraceMs;
    expect(trust.judge(ms).distrusted).toEqual([3, 4]);
  });

  it('also distrusts chains without a stream, but reports no missed block for them', () => {
    trust.opened(3, ms);
    trust.opened(4, ms);
    trust.ended(4, ms);
    fetch(3, 1);
    ms += limits.refreshMs + 1;
    fetch(3, 2);
    ms += limits.newCutGraceMs;
    expect(trust.judge(ms)).toEqual({ missed: [3], distrusted: [3] });
    trust.opened(4, ms);
    expect(trust.pollReason(4)).toBe('missed-block');
  });

  it('suspects no stream while its chain stays on one parent', () => {
    trust.opened(3, ms);
    for (let i = 0; i < 3; i++) fetch(3, 1);
    expect([trust.judgeAtMs(), afterGrace()]).toEqual([Number.POSITIVE_INFINITY, []]);
  });

  it.each([
    [0, []],
    [1, [3]],
  ])('counts a New Cut that came %d ms before the fetch of the parent that it has replaced', (beforeMs, missed) => {
    trust.opened(3, ms - 10);
    trust.newCut(3, ms - beforeMs);
    fetch(3, 1);
    ms += 20_000;
    fetch(3, 2);
    expect(afterGrace()).toEqual(missed);
  });

  it('distrusts a stream that has missed a block, however recent its last New Cut is', () => {
    trust.opened(3, ms);
    trust.newCut(3, ms);
    ms += 5_000;
    fetch(3, 1);
    ms += 5_000;
    fetch(3, 2);
    ms += limits.newCutGraceMs;
    expect(trust.judge(ms)).toEqual({ missed: [3], distrusted: [3] });
  });

  it('lists polled chains in ascending order, also one that has missed a block and whose stream has just ended', () => {
    for (const chain of [9, 10, 3]) trust.opened(chain, ms);
    fetch(9, 1);
    ms += limits.refreshMs + 1;
    fetch(9, 2);
    afterGrace();
    trust.ended(9, ms);
    expect(trust.polled(ms).map(({ chain }) => chain)).toEqual([3, 9, 10]);
  });

  it('remembers 64 chains', () => {
    for (let chain = 0; chain < 64; chain++) trust.opened(chain, ms);
    expect(trust.pollReason(0)).toBeUndefined();
    trust.opened(64, ms);
    expect([trust.pollReason(0), trust.pollReason(1)]).toEqual(['no-stream', undefined]);
  });

  it('trusts a stream again that has sent a New Cut and stays open', () => {
    trust.opened(3, ms);
    fetch(3, 1);
    fetch(3, 2);
    afterGrace();
    trust.newCut(3, ms);
    trust.ended(3, ms);
    trust.opened(3, ms);
    ms += limits.steadyStreamMs;
    trust.judge(ms);
    expect(trust.pollReason(3)).toBe('missed-block');
    trust.newCut(3, ms);
    expect(trust.judgeAtMs()).toBe(ms + limits.steadyStreamMs);
    ms += limits.steadyStreamMs - 1;
    // However often it speaks meanwhile.
    trust.newCut(3, ms);
    trust.judge(ms);
    expect(trust.pollReason(3)).toBe('missed-block');
    ms += 1;
    trust.judge(ms);
    expect(trust.pollReason(3)).toBeUndefined();
    expect(trust.polled(ms)).toEqual([]);
    expect(trust.judgeAtMs()).toBe(Number.POSITIVE_INFINITY);
  });

  it('does not list a chain whose stream is about to open', () => {
    trust.opened(3, ms);
    ms += 240_000;
    trust.ended(3, ms);
    expect(trust.polled(ms + limits.pollMs - 1)).toEqual([]);
    expect(trust.polled(ms + limits.pollMs)).toEqual([{ chain: 3, reason: 'no-stream' }]);
  });

  describe('the age at which work is fetched again', () => {
    it('is that of polling until a stream has sent a New Cut, and grows with the silence', () => {
      trust.opened(3, ms);
      expect(trust.refreshMs(ms)).toBe(limits.pollMs);
      // A stream that opens proves nothing.
      trust.opened(4, ms + 60_000);
      expect(trust.refreshMs(ms + 60_000)).toBe(6_000);
      expect(trust.refreshMs(ms + 3_600_000)).toBe(limits.refreshMs);
    });

    it('is the usual one while New Cuts come as usual, and shorter in a silence', () => {
      trust.opened(3, ms);
      trust.opened(4, ms);
      for (let i = 0; i < 50; i++) {
        ms += 4_000;
        trust.newCut(3 + (i % 2), ms);
        // One block's echo makes no usual pause.
        trust.newCut(3 + (i % 2), ms + 499);
      }
      expect(trust.refreshMs(ms + 499)).toBe(limits.refreshMs);
      // Three of the usual pauses, which are 3,501 ms.
      expect(trust.refreshMs(ms + 499 + 10_500)).toBe(limits.refreshMs);
      expect(trust.refreshMs(ms + 499 + 10_510)).toBe(limits.pollMs);
      expect(trust.refreshMs(ms + 30_499)).toBe(3_000);
    });

    it('is that of polling before anything has happened', () => {
      expect(trust.refreshMs(ms)).toBe(limits.pollMs);
    });

    it.each([
      [499, limits.pollMs],
      [500, limits.refreshMs],
    ])('counts a pause of %d ms between two New Cuts: %d', (pauseMs, ageMs) => {
      trust.opened(3, ms);
      trust.newCut(3, ms + pauseMs);
      expect(trust.refreshMs(ms + pauseMs)).toBe(ageMs);
    });

    it('hardly changes with a single long pause', () => {
      trust.opened(3, ms);
      for (const pauseMs of [...Array(50).fill(4_000), 40_000]) {
        ms += pauseMs;
        trust.newCut(3, ms);
      }
      expect(trust.refreshMs(ms + 25_000)).toBe(limits.refreshMs);
      expect(trust.refreshMs(ms + 26_000)).toBe(2_600);
    });

    it('is not shortened by a silence of a few seconds, however quick the chains are', () => {
      trust.opened(3, ms);
      for (let i = 0; i < 100; i++) {
        ms += 600;
        trust.newCut(3, ms);
      }
      expect(trust.refreshMs(ms + 4_999)).toBe(limits.refreshMs);
      expect(trust.refreshMs(ms + 5_001)).toBe(limits.pollMs);
    });
  });
});
