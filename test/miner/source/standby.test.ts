/** What is known of one of failover's sources after each update, and which of two is better. */

import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { completed } from '#pickaxe/miner/source/complete-source.js';
import type { SourceUpdate } from '#pickaxe/miner/source/source.js';
import { Standby } from '#pickaxe/miner/source/standby.js';
import { FakeSource, makeWork } from '../../fakes.ts';
import { turns } from '../../turns.ts';

const work = makeWork(100);
const GIVEN: SourceUpdate = { kind: 'work', work };
const LOST: SourceUpdate = { kind: 'lost', reason: 'away' };

function standbyAfter(...updates: SourceUpdate[]): Standby {
  const standby = new Standby(completed(new FakeSource()));
  for (const update of updates) standby.note(update, 0);
  return standby;
}

it.each<[string, SourceUpdate[], object]>([
  ['nothing', [], { work: undefined, isLost: false, worksGiven: 0, isInNeed: true }],
  ['work', [GIVEN], { work, isLost: false, worksGiven: 1, isInNeed: false }],
  ['work twice', [GIVEN, GIVEN], { work, isLost: false, worksGiven: 2, isInNeed: false }],
  ['a loss', [GIVEN, LOST], { work, isLost: true, worksGiven: 1, isInNeed: true }],
  ['work after a loss', [LOST, GIVEN], { work, isLost: false, worksGiven: 1, isInNeed: false }],
  ['a rest', [GIVEN, { kind: 'rest' }], { work: undefined, isLost: false, isInNeed: true }],
  [
    'the end of its work',
    [GIVEN, { kind: 'stale', works: [makeWork(100), work], reason: 'new-cut' }],
    { work: undefined, isLost: false, isInNeed: true },
  ],
  [
    'the end of other work',
    [GIVEN, { kind: 'stale', works: [makeWork(100)], reason: 'new-cut' }],
    { work, isLost: false, isInNeed: false },
  ],
  ['the end of work before any', [{ kind: 'stale', works: [work], reason: 'new-cut' }], { work: undefined }],
])('after %s the state is as told', (_, updates, state) => {
  expect(standbyAfter(...updates)).toMatchObject(state);
});

it('a source that did not answer is in need until its next work', () => {
  const standby = standbyAfter(GIVEN);
  standby.isUnresponsive = true;
  standby.note({ kind: 'stale', works: [], reason: 'new-cut' }, 0);
  expect([standby.isInNeed, standby.isUnfit]).toEqual([true, true]);
  standby.note(GIVEN, 0);
  expect([standby.isInNeed, standby.isUnfit]).toEqual([false, false]);
});

it('a source that has ended is as new, and can be started again', async () => {
  const source = new FakeSource();
  const standby = new Standby(completed(source));
  const { signal } = new AbortController();
  const updates: SourceUpdate[] = [];
  for (let i = 1; i <= 2; i++) {
    const start = () =>
      standby.start(
        (update) => updates.push(update),
        signal,
        () => expect.fail('it throws nothing'),
      );
    source.ended = false;
    start();
    await turns();
    source.work(work);
    await turns();
    expect([standby.isStarted, updates.length, source.ended]).toEqual([true, i, false]);
    for (const update of [GIVEN, LOST]) standby.note(update, 0);
    standby.isUnresponsive = true;
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(standby.end()).toBe(work);
    expect(standby).toMatchObject({ isStarted: false, isLost: false, isUnresponsive: false, work: undefined });
    expect(standby.end()).toBeUndefined();
    await standby.settled;
    expect([source.ended, getEventListeners(signal, 'abort').length]).toEqual([true, 0]);
  }
});

describe('of two sources', () => {
  /** From the best to the worst. */
  const GRADES: [string, () => Standby][] = [
    ['healthy', () => standbyAfter(GIVEN)],
    [
      'unhealthy',
      () => {
        const standby = standbyAfter(GIVEN);
        standby.judge('others', 'lags');
        return standby;
      },
    ],
    [
      'removed',
      () => {
        const standby = standbyAfter(GIVEN);
        standby.removed = true;
        return standby;
      },
    ],
    ['without work', () => standbyAfter()],
  ];

  it.each(GRADES.flatMap((one, i) => GRADES.map((other, j) => [one[0], other[0], one[1], other[1], i - j] as const)))(
    'one that is %s is judged beside one that is %s by its state, and by its rank only if both are alike',
    (_one, _other, makeOne, makeOther, worseBy) => {
      for (const [rank, otherRank] of [
        [0, 1],
        [1, 0],
      ]) {
        const [one, other] = [makeOne(), makeOther()];
        one.rank = rank;
        other.rank = otherRank;
        expect(one.isBetterThan(other)).toBe(worseBy < 0 || (worseBy === 0 && rank < otherRank));
      }
    },
  );
});
