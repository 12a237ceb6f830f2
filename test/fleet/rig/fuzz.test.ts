/** Messages that are no states, and states that contradict each other. */

import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { givenWorkOf, messageBytes } from '#pickaxe/fleet/messages.js';
import { STALE_REASONS } from '#pickaxe/miner/events/vocabulary.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { difficultyOf } from '#pickaxe/protocol/chain/target.js';
import { cases } from '../../cases.ts';
import { makeWork } from '../../fakes.ts';
import { hexOf, pass, SUBJECTS, world } from './world.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const RUNS = cases(60);
const text = new TextEncoder();
const instance = 'e'.repeat(16);
const names = fc.constantFrom(`${instance}-1`, `${instance}-2`, `${instance}-3`);

/** A well-formed state, to be spoilt. */
const whole = () => ({
  instance,
  number: 1_000_000,
  version: '1',
  work: `${instance}-1` as string | null,
  given: givenWorkOf(makeWork(100), `${instance}-1`),
  latestTimeMicros: 1,
  ended: [],
  lost: null,
});

const spoilt = fc
  .tuple(
    fc.constantFrom(
      ...Object.keys(whole()).filter((key) => key !== 'given'),
      'given.record',
      'given.until',
      'given.name',
    ),
    fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(-1, 1.5, 1e300, '', 'x'.repeat(5_000))),
  )
  .map(([path, value]) => {
    const [key, inner] = path.split('.');
    const state: Record<string, unknown> = whole();
    if (inner === undefined) state[key] = { spoilt: value };
    else state.given = { ...whole().given, [inner]: { spoilt: value } };
    return messageBytes(state);
  });

const junk = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.jsonValue({ maxDepth: 3 }).map((value) => text.encode(JSON.stringify(value) ?? '')),
  fc.constant(text.encode(`"${'y'.repeat(70_000)}"`)),
  fc.constant(text.encode('['.repeat(60_000))),
  spoilt,
);
/** Last tokens of subjects: the known coordinator, others, and what is no name. */
const sender = fc.constantFrom('a', 'b', '%0A', '%zz', '%C3%28', 'x'.repeat(300), '%41');

it('nothing changes by messages that are no states', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(sender, junk), { maxLength: 30 }), async (messages) => {
      const { coordinators, follower, told, source, nats } = world(['a']);
      const [a] = coordinators;
      const work = a.give();
      await pass(1_000);
      const before = told();
      for (const [name, data] of messages) nats.link('outsider').publish(`pickaxe.work.${name}`, data);
      await pass(2_000);
      expect(follower.received.map(hexOf)).toEqual([hexOf(work)]);
      expect(follower.updates).toHaveLength(1);
      expect(source.nameOf(follower.received[0])).toBe('a');
      expect(told()).toEqual(before);
      a.die();
      await follower.end();
    }),
    { numRuns: RUNS },
  );
});

const state = fc.record({
  instance: fc.constantFrom(instance, 'd'.repeat(16)),
  number: fc.nat(20),
  version: fc.constant('1'),
  work: fc.oneof(names, fc.constant(null)),
  given: fc.option(
    fc.record({
      name: names,
      record: fc.uint8Array({ minLength: 322, maxLength: 322 }).map((bytes) => Buffer.from(bytes).toString('hex')),
      rollTime: fc.boolean(),
      until: fc.constantFrom('solved', 'replaced'),
      nonce1: fc.constantFrom({ value: 0, bytes: 0 }, { value: 255, bytes: 1 }, { value: 65_535, bytes: 2 }),
    }),
    { nil: undefined },
  ),
  latestTimeMicros: fc.oneof(fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER)),
  ended: fc.array(fc.record({ name: names, reason: fc.constantFrom(...STALE_REASONS) }), { maxLength: 16 }),
  lost: fc.oneof(fc.constant(null), fc.string({ maxLength: 40 })),
});

it('states in any order give only works that can be mined, and none twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(state, fc.nat(3_000)), { maxLength: 25 }), async (states) => {
      const { nats, follower, source } = world([]);
      const sender = nats.link('a');
      for (const [each, waitMs] of states) {
        sender.publish(SUBJECTS.work('a'), messageBytes(each));
        await pass(waitMs % 3 === 0 ? 0 : waitMs);
      }
      await pass(3_000);
      for (const work of follower.received) {
        expect(() => prepareJob(work)).not.toThrow();
        expect(difficultyOf(work.target)).toBeGreaterThan(0);
        expect(source.latestTimeUs(work)).toBeGreaterThanOrEqual(0n);
      }
      const ended = new Set<unknown>();
      for (const update of follower.updates) {
        if (update.kind === 'stale') for (const work of update.works) ended.add(work);
        if (update.kind === 'work') expect(ended).not.toContain(update.work);
      }
      await follower.end();
    }),
    { numRuns: RUNS },
  );
});

it('reads only so many states a second, and is told so a few times only', async () => {
  const { coordinators, told, follower } = world(['a']);
  const [a] = coordinators;
  a.give();
  await pass(1_000);
  for (let i = 0; i < 20_000; i++) a.publish(i % 100 === 0);
  const last = a.give();
  await pass(10);
  expect(follower.received).toHaveLength(1);
  expect(told().filter((line) => line.includes('messages a second'))).toHaveLength(3);
  // The next state is read again, and the rig asks for the work that it has missed.
  await pass(3_000);
  expect(follower.received.map(hexOf).at(-1)).toBe(hexOf(last));
});
