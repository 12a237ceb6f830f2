import { describe, expect, it } from 'vitest';
import type { Cut } from '#pickaxe/protocol/ledger/cut.js';
import { assess, type Seen } from '#pickaxe/rig/survey/comparison.js';
import type { Look } from '#pickaxe/rig/survey/look.js';

const NOW_US = 1_700_000_000_000_000n;
/** @param height of most chains; the cut's own height says nothing */
const cut = (height: bigint): Cut => {
  const heights = Array.from({ length: 20 }, (_, chain) => height + BigInt((chain % 5) - 2) / 2n);
  const heads = new Map(heights.map((each, chain) => [chain, { height: each, hash: new Uint8Array(32) }]));
  return { origin: null, height: 7n, weight: height, heads };
};
const OLD_US = NOW_US - 60_000_000n;

const seen = (look: Partial<Look>, more: Partial<Seen> = {}): Seen => ({
  look: { network: 'x', cut: cut(1000n), newestBlockUs: NOW_US - 30_000_000n, ...look },
  ...more,
});
const judged = (...nodes: Seen[]) => assess(nodes, 'x', NOW_US).map(({ problems }) => problems);
const fault = (what: RegExp) => [{ about: expect.any(String), state: 'fault', what: expect.stringMatching(what) }];

describe('a node', () => {
  it('that answers and keeps up has no problems', () => {
    expect(assess([seen({}), seen({ cut: cut(996n), newestBlockUs: OLD_US })], 'x', NOW_US)).toEqual([
      { hasAnswered: true, behind: 0, problems: [] },
      { hasAnswered: true, behind: 4, problems: [] },
    ]);
  });

  it('is judged only when it has answered, or has said that it serves another network', () => {
    const silent = seen({ fault: 'no connection' });
    const elsewhere = seen({ network: 'y', fault: 'not found' });
    const hasAnswered = assess([seen({}), silent, elsewhere], 'x', NOW_US).map((each) => each.hasAnswered);
    expect(hasAnswered).toEqual([true, false, true]);
  });

  it.each<[string, Partial<Look>, RegExp]>([
    ['does not answer', { fault: 'no connection' }, /^does not answer: no connection$/],
    ['serves another network', { network: 'y', fault: 'not found' }, /^serves the network y, not x$/],
    ['lags', { cut: cut(995n), newestBlockUs: OLD_US }, /^is 5 blocks behind on each chain$/],
    ['stands still', { newestBlockUs: NOW_US - 660_000_000n }, /^stands still: .* 11 minutes$/],
    ['has stood still for hours', { newestBlockUs: NOW_US - 7_200_000_000n }, /for 2 hours$/],
    ['has stood still for days', { newestBlockUs: NOW_US - 3n * 86_400_000_000n }, /for 3 days$/],
    ['has stood still for years', { newestBlockUs: NOW_US - 169_030_320_000_000n }, /for 5 years$/],
    ['has a network with a long name', { network: 'y'.repeat(3_000) }, /^serves the network y{199}…, not x$/],
  ])('that %s is of no use', (_, look, what) => {
    expect(judged(seen({}), seen(look))).toEqual([[], fault(what)]);
  });

  it('that gets new blocks is not behind, however far another one claims to be', () => {
    const liar = seen({ cut: cut(1_000_000n) });
    expect(assess([seen({}), liar], 'x', NOW_US)[0]).toEqual({ hasAnswered: true, behind: 0, problems: [] });
    // Chains that the other node does not have do not count, nor does the height of its cut.
    const strange = {
      ...cut(1n),
      height: 1_000_000n,
      heads: new Map([[77, { height: 9n, hash: new Uint8Array(32) }]]),
    };
    expect(assess([seen({ newestBlockUs: OLD_US }), seen({ cut: strange })], 'x', NOW_US)).toMatchObject([
      { behind: 0, problems: [] },
      { behind: 0, problems: [] },
    ]);
    // A block is not old only because this machine's clock is ahead.
    const skew = { leastUs: 900_000_000n, mostUs: 900_000_000n };
    expect(assess([seen({ newestBlockUs: NOW_US - 930_000_000n, skew }), liar], 'x', NOW_US)[0].behind).toBe(0);
  });

  it('is behind on the chain in the middle: a single chain that is far ahead decides nothing', () => {
    const heads = (heights: bigint[]) =>
      new Map(heights.map((height, chain) => [chain, { height, hash: new Uint8Array(32) }]));
    const own = { cut: { ...cut(0n), heads: heads([10n, 10n, 10n]) }, newestBlockUs: OLD_US };
    const others = (heights: bigint[]) => seen({ cut: { ...cut(0n), heads: heads(heights) } });
    expect(assess([seen(own), others([10n, 10n, 19n])], 'x', NOW_US)[0]).toMatchObject({ behind: 0, problems: [] });
    expect(assess([seen(own), others([10n, 19n, 19n])], 'x', NOW_US)[0]).toMatchObject({ behind: 9 });
  });

  it('of any network will do where it is not known which one is wanted', () => {
    expect(assess([seen({})], '', NOW_US)).toMatchObject([{ hasAnswered: true, problems: [] }]);
  });

  it('on one of two branches is of no use, and nor is one on the other, when as many nodes follow each', () => {
    const [one, heavier] = [seen({}, { commonBlock: 'a' }), seen({ cut: cut(1002n) }, { commonBlock: 'b' })];
    const split = fault(/^follows one branch of the ledger, and as many nodes follow another one/);
    expect(judged(one, heavier)).toEqual([split, split]);
    expect(judged(one, seen({}))).toEqual([[], []]);
  });

  it('on another branch than most is of no use, whatever weight it claims', () => {
    const on = (commonBlock: string | undefined, height = 1000n, newestBlockUs = NOW_US) =>
      seen({ cut: cut(height), newestBlockUs }, { commonBlock });
    const fork = fault(/^follows another branch of the ledger than most nodes$/);
    expect(judged(on('a', 1_000_000n), on('b'), on('b'))).toEqual([fork, [], []]);
    expect(judged(on('a'), on('b'), on('a', 990n))).toEqual([[], fork, []]);
    // Nodes whose branch is not known have no vote.
    expect(judged(on('a'), on(undefined), on(undefined))).toEqual([[], [], []]);
    // Nodes that the rest of the network has left behind do not win, even if they are the majority.
    const lag = expect.objectContaining({ what: expect.stringMatching(/5 blocks behind/) });
    const left = on('b', 995n, OLD_US);
    expect(judged(on('a'), left, left)).toEqual([[], [lag, ...fork], [lag, ...fork]]);
  });

  it('that gives no work is of no use', () => {
    const noWork = 'mining is disabled';
    expect(judged(seen({}, { noWork }), seen({}))).toEqual([fault(/^gives no work: mining is disabled$/), []]);
  });

  it('does not stand still because our clock is wrong', () => {
    const newestBlockUs = NOW_US - 930_000_000n;
    const skew = { leastUs: 900_000_000n, mostUs: 901_000_000n };
    const wrongClock = [
      expect.objectContaining({ state: 'warning', what: 'this machine’s clock is at least 900 s ahead of the node’s' }),
    ];
    expect(judged(seen({ newestBlockUs, skew }))).toEqual([wrongClock]);
    expect(judged(seen({ newestBlockUs: newestBlockUs - 600_000_000n, skew }))).toEqual([
      [...fault(/^stands still: .* 10 minutes$/), ...wrongClock],
    ]);
  });

  it.each([
    [3_000_000n, 'ahead of'],
    [-3_000_000n, 'behind'],
  ])('whose clock is off by %d µs is warned of', (offUs, direction) => {
    const skew = { leastUs: offUs, mostUs: offUs };
    expect(judged(seen({ skew }))).toMatchObject([
      [{ about: 'clock', state: 'warning', what: `this machine’s clock is at least 3 s ${direction} the node’s` }],
    ]);
    expect(judged(seen({ skew: { leastUs: -2_000_000n, mostUs: 2_000_000n } }))).toEqual([[]]);
  });
});
