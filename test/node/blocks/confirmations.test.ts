import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  type Agreement,
  APART_MS,
  type BlockLook,
  describeStanding,
  isUrgent,
  isWatched,
  JUST_FOUND,
  judge,
  OFF_CHAIN,
  ON_CHAIN,
  type Standing,
  UNANSWERED,
  UNDECIDED,
  UNKNOWN_AFTER_MS,
  WATCHED_DEPTH,
} from '#pickaxe/node/blocks/confirmations.js';

const RULES = { settledDepth: 6, apartMs: APART_MS };
const WINNER = 'w'.repeat(43);
const ours = (depth: number, node = 'one'): BlockLook => ({ node, chainHas: 'ours', depth });
const another = (depth: number, node = 'one', keepsOurs = true): BlockLook => {
  return { node, chainHas: 'another', depth, winner: WINNER, keepsOurs };
};
const cannotTell = (node = 'one'): BlockLook => ({ node, chainHas: 'another', depth: 1, winner: WINNER });
const notYet = (node = 'one'): BlockLook => ({ node, chainHas: 'not-yet' });

/** Judges one block by looks, each with the time since the previous look. */
class Watch {
  standing: Standing;
  #agreement: Agreement | undefined;
  #nowMs = 0;

  constructor(standing: Standing = JUST_FOUND) {
    this.standing = standing;
  }

  look(passedMs: number, ...looks: BlockLook[]): this {
    this.#nowMs += passedMs;
    const moment = { nowMs: this.#nowMs, ageMs: this.#nowMs };
    const { standing, agreement } = judge(this.standing, this.#agreement, looks, moment, RULES);
    this.standing = standing;
    this.#agreement = agreement;
    return this;
  }

  /** The same look twice, so far apart that it decides. */
  sure(...looks: BlockLook[]): this {
    return this.look(APART_MS, ...looks).look(APART_MS, ...looks);
  }

  get state() {
    return this.standing.state;
  }
}

describe('a block', () => {
  it.each<[string, BlockLook[], Standing['state']]>([
    ['is pending while no chain reaches its height', [notYet()], 'pending'],
    ['is pending as the head of a cut, which proves nothing', [ours(0)], 'pending'],
    ['is contested while another one of its height is the head', [another(0)], 'contested'],
    ['is won with one block on top', [ours(1)], 'won'],
    ['is won with one less than it takes to settle', [ours(5)], 'won'],
    ['is settled with as many as that takes', [ours(6)], 'settled'],
    ['is orphaned when another one of its height has a block on top', [another(1)], 'orphaned'],
    ['has never entered when no node keeps it', [another(1, 'one', false), another(2, 'two', false)], 'never-entered'],
    ['is orphaned when one node keeps it', [another(1, 'one', false), another(2, 'two')], 'orphaned'],
    [
      'is orphaned when one node does not keep it and another cannot tell',
      [another(1, 'one', false), cannotTell('two')],
      'orphaned',
    ],
    ['is contested while nodes contradict each other', [ours(2, 'one'), another(3, 'two')], 'contested'],
    ['is won although another node is behind', [ours(2, 'one'), notYet('two')], 'won'],
    ['is won although another node has a rival as its head', [ours(1, 'one'), another(0, 'two')], 'won'],
    ['is only as deep as at the node where it is least deep', [ours(7, 'one'), ours(5, 'two')], 'won'],
  ])('%s', (_, looks, state) => {
    expect(new Watch().sure(...looks).state).toBe(state);
  });

  it('says that nodes disagree, and no more once they agree', () => {
    const watch = new Watch().sure(ours(2, 'one'), another(3, 'two'));
    expect(watch.standing).toMatchObject({ state: 'contested', nodesDisagree: true });
    expect(describeStanding(watch.standing)).toBe('nodes disagree about it');
    expect(watch.sure(ours(3, 'one'), ours(4, 'two')).standing).toEqual({
      state: 'won',
      depth: 3,
      nodesDisagree: false,
    });
  });

  it('stays settled while nodes disagree, and says so', () => {
    const watch = new Watch().sure(ours(8)).sure(ours(9, 'one'), another(3, 'two'));
    expect(watch.standing).toEqual({ state: 'settled', depth: 8, nodesDisagree: true });
  });

  it('does not count a disagreement of seconds', () => {
    const watch = new Watch().look(0, ours(1, 'one'), another(1, 'two')).look(1, ours(1, 'one'), notYet('two'));
    expect(watch.standing).toEqual(JUST_FOUND);
  });

  it.each([
    ['goes back below it', notYet()],
    ['goes back to it', ours(0)],
    ['goes back and has another head of its height', another(0)],
    ['goes back and is less deep', ours(2)],
  ])('stays settled when the cut %s', (_, look) => {
    expect(new Watch().sure(ours(7)).sure(look).standing).toEqual({ state: 'settled', depth: 7, nodesDisagree: false });
  });

  it('is orphaned when the cut goes back and another branch grows, and won again when that is undone', () => {
    const watch = new Watch().sure(ours(7)).sure(notYet()).sure(another(0));
    const before = watch.standing;
    expect(watch.sure(another(2)).standing).toEqual({
      state: 'orphaned',
      depth: 2,
      nodesDisagree: false,
      winner: WINNER,
    });
    expect(describeStanding(watch.standing, before)).toBe(
      `it was settled: the chain was reorganised; the block ${WINNER} has its place`,
    );
    expect(watch.sure(ours(1)).standing).toEqual({ state: 'won', depth: 1, nodesDisagree: false });
  });

  it('that was won cannot turn out never to have entered', () => {
    expect(new Watch().sure(ours(1)).sure(another(2, 'one', false)).state).toBe('orphaned');
  });

  it('that is said never to have entered is orphaned once a node is seen to keep it', () => {
    expect(
      new Watch()
        .sure(another(1, 'one', false))
        .sure(another(2))
        .sure(another(3, 'one', false)).state,
    ).toBe('orphaned');
  });

  it('is unknown when nobody can tell for an hour, and decided all the same once somebody can', () => {
    const watch = new Watch().look(UNKNOWN_AFTER_MS - 1).look(1, notYet());
    expect(watch.state).toBe('unknown');
    expect(isWatched(watch.standing)).toBe(true);
    expect(describeStanding(watch.standing)).toBe('for an hour no node could tell');
    expect(watch.sure(ours(300_000)).standing).toEqual({ state: 'settled', depth: 300_000, nodesDisagree: false });
  });

  it.each([
    ['won', ours(WATCHED_DEPTH)],
    ['orphaned', another(WATCHED_DEPTH)],
  ])('is watched until two looks find it deep enough, if it was %s', (_, deep) => {
    const shallow = deep.chainHas === 'ours' ? ours(1) : another(1);
    const watch = new Watch().sure(shallow).look(0, deep);
    expect(isWatched(watch.standing)).toBe(true);
    watch.look(APART_MS, deep);
    expect(isWatched(watch.standing)).toBe(false);
    expect(watch.standing.depth).toBe(WATCHED_DEPTH);
  });
});

test('a block is asked about often only in its first hour, even if nodes contradict each other for ever', () => {
  for (const state of ['pending', 'contested', 'unanswered', 'won'] as const) {
    expect(isUrgent({ ...JUST_FOUND, state }, UNKNOWN_AFTER_MS - 1)).toBe(true);
    expect(isUrgent({ ...JUST_FOUND, state }, UNKNOWN_AFTER_MS)).toBe(false);
  }
  for (const state of ['unknown', 'settled', ...OFF_CHAIN] as const) {
    expect(isUrgent({ ...JUST_FOUND, state }, 0)).toBe(false);
  }
});

describe('a block whose answer was lost', () => {
  /** A look of a node that was not asked whether it keeps our block. */
  const anotherUnasked: BlockLook = { node: 'one', chainHas: 'another', depth: 2, winner: WINNER };

  it.each<[string, BlockLook[], Standing['state']]>([
    ['is unanswered while no chain reaches its height', [notYet()], 'unanswered'],
    ['is unanswered as the head of a cut', [ours(0)], 'unanswered'],
    ['is unanswered while another one is the head', [another(0)], 'unanswered'],
    ['is won when the chain has it', [ours(1)], 'won'],
    ['is settled like any other', [ours(6)], 'settled'],
    ['is orphaned when a node keeps it beside its chain', [another(1)], 'orphaned'],
    ['is lost when no node has it', [another(1, 'one', false), another(2, 'two', false)], 'lost'],
    [
      'is unanswered while one node does not keep it and another cannot tell',
      [another(1, 'one', false), cannotTell('two')],
      'unanswered',
    ],
    ['is unanswered while it cannot be asked who keeps it', [anotherUnasked], 'unanswered'],
    ['is contested when one node has it on its chain', [ours(1, 'one'), another(1, 'two', false)], 'contested'],
  ])('%s', (_, looks, state) => {
    expect(new Watch(UNANSWERED).sure(...looks).state).toBe(state);
  });

  it('stays so however long nobody can tell', () => {
    const watch = new Watch(UNANSWERED).look(UNKNOWN_AFTER_MS, notYet()).look(UNKNOWN_AFTER_MS, notYet());
    expect(watch.standing).toEqual(UNANSWERED);
    expect(isWatched(watch.standing)).toBe(true);
  });

  it('is found after all: that says that the node had taken it', () => {
    const watch = new Watch(UNANSWERED).sure(ours(1));
    expect(describeStanding(watch.standing, UNANSWERED)).toBe('the node has taken it, although its answer was lost');
  });

  it('that is lost is orphaned once a node is seen to keep it, and not because one could not be asked', () => {
    const watch = new Watch(UNANSWERED).sure(another(1, 'one', false));
    expect(watch.sure(anotherUnasked).state).toBe('lost');
    expect(watch.sure(another(3)).state).toBe('orphaned');
  });

  it('that is lost is watched until two looks find it deep enough', () => {
    const watch = new Watch(UNANSWERED).sure(another(1, 'one', false));
    expect(isWatched(watch.standing)).toBe(true);
    expect(isWatched(watch.sure(another(WATCHED_DEPTH, 'one', false)).standing)).toBe(false);
  });
});

const LOOK = fc.oneof(
  fc.nat(200).map((depth) => ours(depth)),
  fc.nat(200).map((depth) => ours(depth, 'two')),
  fc.nat(200).map((depth) => another(depth)),
  fc.tuple(fc.nat(200), fc.boolean()).map(([depth, keeps]) => another(depth, 'two', keeps)),
  fc.constant(notYet()),
);
const STEPS = fc.array(fc.tuple(fc.nat(2 * APART_MS), fc.array(LOOK, { maxLength: 3 })), { maxLength: 40 });

const BEGINNING = fc.constantFrom(JUST_FOUND, UNANSWERED);

/** @returns what looks of one moment would decide if they lasted; undefined for nothing */
function direction(looks: readonly BlockLook[]): 'ours' | 'another' | undefined {
  const chainHas = (what: string) => looks.some((look) => look.chainHas === what && 'depth' in look && look.depth > 0);
  if (chainHas('ours') === chainHas('another')) return undefined;
  return chainHas('ours') ? 'ours' : 'another';
}

test('nothing is ever decided on one look: looks some time apart agree, and none in between says otherwise', () => {
  fc.assert(
    fc.property(BEGINNING, STEPS, (beginning, steps) => {
      const watch = new Watch(beginning);
      let nowMs = 0;
      /** Since when all looks have had the same direction. */
      let since: { readonly direction: string | undefined; readonly ms: number } | undefined;
      for (const [passedMs, looks] of steps) {
        nowMs += passedMs;
        const now = direction(looks);
        if (since?.direction !== now) since = { direction: now, ms: nowMs };
        const before = watch.state;
        watch.look(passedMs, ...looks);
        if (watch.state === before || UNDECIDED.includes(watch.state)) continue;
        expect(ON_CHAIN.includes(watch.state) ? 'ours' : 'another').toBe(now);
        expect(nowMs - since!.ms).toBeGreaterThanOrEqual(APART_MS);
      }
    }),
  );
});

test('what was decided is never undecided again', () => {
  fc.assert(
    fc.property(BEGINNING, STEPS, (beginning, steps) => {
      const watch = new Watch(beginning);
      let decided = false;
      for (const [passedMs, looks] of steps) {
        watch.look(passedMs, ...looks);
        if (decided) expect([...ON_CHAIN, ...OFF_CHAIN]).toContain(watch.state);
        decided ||= !UNDECIDED.includes(watch.state);
      }
    }),
  );
});

it.each<[Standing['state'], number]>([
  ['won', WATCHED_DEPTH - 1],
  ['won', WATCHED_DEPTH],
  ['won', 10 * WATCHED_DEPTH],
  ['settled', WATCHED_DEPTH - 1],
  ['orphaned', WATCHED_DEPTH - 1],
  ['never-entered', 0],
  ...UNDECIDED.map((state): [Standing['state'], number] => [state, 10 * WATCHED_DEPTH]),
])('a block that is %s is still watched at depth %i', (state, depth) => {
  expect(isWatched({ state, depth, nodesDisagree: false })).toBe(true);
});

it.each<Standing['state']>(['settled', 'orphaned', 'never-entered', 'lost'])(
  'a block that is %s is watched no more once it is deep enough',
  (state) => {
    expect(isWatched({ state, depth: WATCHED_DEPTH, nodesDisagree: false })).toBe(false);
  },
);

it.each([
  [false, 'another block has its height, and nothing is on top of either'],
  [true, 'nodes disagree about it'],
])('a contested block is explained once, whether nodes disagree or not: %s', (nodesDisagree, text) => {
  expect(describeStanding({ state: 'contested', depth: 0, nodesDisagree })).toBe(text);
});
