/** What a rig derives from one coordinator's states, in each order in which they can come. */

import { describe, expect, it, test } from 'vitest';
import { type CoordinatorState, givenWorkOf } from '#pickaxe/fleet/messages.js';
import { CoordinatorStates } from '#pickaxe/fleet/rig/coordinator-state.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';

const REPLACED_AFTER_MS = 5_000;
/** Time of the first state, in ms: latest valid creation times are µs since the UNIX epoch, and need no fractions. */
const START_MS = 1_000;
const LATEST_MICROS = 1_700_000_000_000_000;

const works = { a: makeWork(100), b: makeWork(200) };
type Name = keyof typeof works;

/** A state, and the time in ms at which it comes, after the first. */
type Message = Partial<CoordinatorState> & { readonly atMs?: number; readonly whole?: Name };

/** A state with the whole work, as a coordinator sends it for each new work. */
const whole = (number: number, name: Name, more: Message = {}): Message => ({
  number,
  work: name,
  whole: name,
  ...more,
});
/** A state with the work's name only, as a coordinator sends it every second. */
const beat = (number: number, work: Name | null, more: Message = {}): Message => ({ number, work, ...more });
const ended = (name: string, reason: 'solved' | 'new-cut' = 'new-cut') => ({ ended: [{ name, reason }] }) as Message;

function take(states: CoordinatorStates, { atMs = 0, whole: given, ...message }: Message) {
  const state = {
    instance: '0000000000000001',
    version: '1.0.0',
    latestTimeMicros: LATEST_MICROS,
    lost: null,
    ended: [],
    ...(given && { given: givenWorkOf(works[given], given) }),
    ...message,
  } as unknown as CoordinatorState;
  return states.take(state, START_MS + atMs);
}

/** @returns what a rig knows after these states */
function after(...messages: Message[]) {
  const states = new CoordinatorStates(REPLACED_AFTER_MS);
  const receptions = messages.map((message) => take(states, message));
  const { hasNone } = states;
  const news = [...states.takeEnded()].map(([reason, all]) => [reason, all.map(({ chain }) => chain)]);
  return { receptions, current: states.current?.name, asks: states.isCurrentUnknown, news, lost: states.lost, hasNone };
}

const T = 'taken';
const chainOf = (name: Name) => works[name].chain;

describe('after', () => {
  it.each<[what: string, messages: Message[], known: object]>([
    ['a whole state', [whole(0, 'a')], { receptions: [T], current: 'a', asks: false, hasNone: false }],
    ['a name only', [beat(0, 'a')], { receptions: [T], current: undefined, asks: true }],
    ['a name and the work', [beat(0, 'a'), whole(1, 'a')], { receptions: [T, T], current: 'a', asks: false }],
    ['no work', [whole(0, 'a'), beat(1, null)], { receptions: [T, T], current: undefined, asks: false, hasNone: true }],
    ['the same number again', [whole(0, 'a'), beat(0, 'a')], { receptions: [T, T], current: 'a' }],
    ['an older state', [whole(5, 'a'), whole(4, 'b')], { receptions: [T, 'old'], current: 'a' }],
    [
      'an older state, just in time',
      [whole(5, 'a'), whole(4, 'b', { atMs: REPLACED_AFTER_MS - 1 })],
      { receptions: [T, 'old'], current: 'a' },
    ],
    [
      'a smaller number after a silence',
      [whole(2 ** 40, 'a'), whole(1, 'b', { atMs: REPLACED_AFTER_MS }), whole(2, 'a', { atMs: REPLACED_AFTER_MS })],
      { receptions: [T, T, T], current: 'a' },
    ],
    [
      'a state of another run',
      [whole(5, 'a'), whole(6, 'b', { instance: '0000000000000002' })],
      { receptions: [T, 'other-instance'], current: 'a' },
    ],
    [
      'a state of another run after a silence, and one of the first run',
      [
        whole(5, 'a'),
        whole(0, 'b', { instance: '0000000000000002', atMs: REPLACED_AFTER_MS }),
        whole(6, 'a', { atMs: REPLACED_AFTER_MS + 1 }),
      ],
      { receptions: [T, T, 'other-instance'], current: 'b' },
    ],
    [
      'the end of the work',
      [whole(0, 'a'), beat(1, 'a', ended('a', 'solved'))],
      { current: undefined, asks: false, news: [['solved', [chainOf('a')]]] },
    ],
    [
      'the end of a work, and a later state that still names it',
      [whole(0, 'a'), beat(1, null, ended('a')), whole(2, 'a')],
      { current: undefined, asks: false, news: [['new-cut', [chainOf('a')]]] },
    ],
    [
      'the end of a work before the work itself',
      [beat(0, 'a', ended('a')), whole(1, 'a')],
      { current: undefined, asks: false, news: [] },
    ],
    [
      'the end of a work twice, for two reasons',
      [whole(0, 'a'), beat(1, null, ended('a')), beat(2, null, ended('a', 'solved'))],
      { news: [['new-cut', [chainOf('a')]]] },
    ],
    [
      'the end of another work',
      [whole(0, 'a'), whole(1, 'b'), beat(2, 'b', ended('a'))],
      { current: 'b', asks: false, news: [['new-cut', [chainOf('a')]]] },
    ],
    ['the end of a work in an older state', [whole(5, 'a'), beat(4, 'a', ended('a'))], { current: 'a', news: [] }],
    ['a work under another name than the current', [beat(0, 'b', { whole: 'a' })], { current: undefined, asks: true }],
    ['a work that was not current when it came', [beat(0, 'b', { whole: 'a' }), beat(1, 'a')], { asks: true }],
    [
      'the ends of two works at once',
      [whole(0, 'a'), whole(1, 'b', { ended: [...ended('a').ended!] }), beat(2, null, ended('b'))],
      { news: [['new-cut', [chainOf('a'), chainOf('b')]]] },
    ],
    ['a lost source', [whole(0, 'a', { lost: 'no node' })], { current: 'a', lost: 'no node' }],
    ['a source that is back', [whole(0, 'a', { lost: 'no node' }), beat(1, 'a')], { lost: null }],
    ['a lost source in an older state', [whole(5, 'a'), beat(4, 'a', { lost: 'no node' })], { lost: null }],
  ])('%s', (_, messages, known) => {
    expect(after(...messages)).toMatchObject(known);
  });
});

describe('a work', () => {
  const workOf = (states: CoordinatorStates): Work => states.current!.work;

  test('that is sent again is the same one', () => {
    const states = new CoordinatorStates(REPLACED_AFTER_MS);
    take(states, whole(0, 'a'));
    const first = workOf(states);
    take(states, whole(1, 'b'));
    take(states, whole(2, 'a'));
    expect(workOf(states)).toBe(first);
  });

  test('that was dropped must be requested, and is then another one', () => {
    const states = new CoordinatorStates(REPLACED_AFTER_MS);
    take(states, whole(0, 'a'));
    const known = states.current!;
    states.forget(known);
    take(states, beat(1, 'a'));
    expect([states.current, states.isCurrentUnknown]).toEqual([undefined, true]);
    take(states, whole(2, 'a'));
    expect(workOf(states)).not.toBe(known.work);
    expect(states.about(known.work)).toBe(known);
  });

  test('ends once, and is known by its object even then', () => {
    const states = new CoordinatorStates(REPLACED_AFTER_MS);
    take(states, whole(0, 'a'));
    const work = workOf(states);
    take(states, beat(1, null, ended('a')));
    expect(states.takeEnded()).toEqual(new Map([['new-cut', [work]]]));
    expect(states.takeEnded()).toEqual(new Map());
    expect(states.about(work)).toMatchObject({ name: 'a', hasEnded: true });
    expect(states.about(makeWork(1))).toBeUndefined();
  });

  test('has the latest time and the age of the last state that names it', () => {
    const states = new CoordinatorStates(REPLACED_AFTER_MS);
    take(states, whole(0, 'a'));
    const work = workOf(states);
    expect(states.latestTimeUs(work, START_MS + 2)).toBe(BigInt(LATEST_MICROS + 2_000));
    take(states, whole(1, 'b', { atMs: 100, latestTimeMicros: LATEST_MICROS + 900_000 }));
    expect(states.latestTimeUs(work, START_MS + 100)).toBe(BigInt(LATEST_MICROS + 100_000));
    take(states, beat(2, 'a', { atMs: 200, latestTimeMicros: LATEST_MICROS + 50_000 }));
    expect(states.latestTimeUs(work, START_MS + 200)).toBe(BigInt(LATEST_MICROS + 50_000));
    expect(states.about(work)!.confirmedMs).toBe(START_MS + 200);
    states.age(70);
    expect(states.about(work)!.confirmedMs).toBe(START_MS + 130);
    expect(states.latestTimeUs(makeWork(1), START_MS)).toBe(0n);
  });
});
