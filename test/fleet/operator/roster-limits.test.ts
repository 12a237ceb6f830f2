/** How many messages and bytes of rigs and coordinators an operator reads at once, and how many a second later. */

import { expect, it } from 'vitest';
import { Roster } from '#pickaxe/fleet/operator/roster.js';
import { FakeClock } from '../../rig/status/fakes.ts';
import { FakeNats } from '../nats/fake-nats.ts';
import { delivered, SUBJECTS } from './messages.ts';

const LONGEST = new Uint8Array(65_536);

/** @returns a function that sends junk of several members, and says how much of it was read since the last call */
function setUp(kind: 'rig' | 'coordinator') {
  const nats = new FakeNats();
  const sender = nats.link('sender');
  const clock = new FakeClock();
  const roster = new Roster({ link: nats.link('operator'), subjects: SUBJECTS, clock });
  const subjectOf = (name: string) => (kind === 'rig' ? SUBJECTS.report(name) : SUBJECTS.beat(name));
  let before = 0;
  const readOf = async (count: number, data: Uint8Array, nameOf = (i: number) => `member ${i}`) => {
    for (let i = 0; i < count; i++) sender.publish(subjectOf(nameOf(i)), data);
    await delivered();
    const { malformed } = roster.status().ignored;
    const read = malformed - before;
    before = malformed;
    return read;
  };
  return { readOf, clock };
}

it.each([
  { kind: 'rig', atOnce: 3, later: 2, afterMs: 10_000 },
  { kind: 'coordinator', atOnce: 60, later: 20, afterMs: 1_000 },
] as const)('a $kind may send $atOnce messages at once', async ({ kind, atOnce, later, afterMs }) => {
  const { readOf, clock } = setUp(kind);
  const one = () => readOf(atOnce + 5, new Uint8Array(1), () => 'one');
  expect(await one()).toBe(atOnce);
  clock.advance(afterMs);
  expect(await one()).toBe(later);
});

it.each([
  { kind: 'rig', atOnce: 4_000, later: 4_000 },
  { kind: 'coordinator', atOnce: 320, later: 320 },
] as const)('all members that are a $kind may send $atOnce messages a second', async ({ kind, atOnce, later }) => {
  const { readOf, clock } = setUp(kind);
  let round = 0;
  const all = () => readOf(atOnce + 5, new Uint8Array(1), (i) => `${round++}-${i}`);
  expect(await all()).toBe(atOnce);
  clock.advance(500);
  expect(await all()).toBe(later / 2);
});

it.each([
  { kind: 'rig', atOnce: 256, later: 128 },
  { kind: 'coordinator', atOnce: 32, later: 16 },
] as const)(
  'all members that are a $kind may send $atOnce of the longest messages',
  async ({ kind, atOnce, later }) => {
    const { readOf, clock } = setUp(kind);
    let round = 0;
    const all = () => readOf(atOnce + 5, LONGEST, (i) => `${round++}-${i}`);
    expect(await all()).toBe(atOnce);
    clock.advance(1_000);
    expect(await all()).toBe(later);
  },
);
