/** What a coordinator does about others that answer, or publish, under its name. */

import { describe, expect, it } from 'vitest';
import { messageBytes } from '#pickaxe/fleet/messages.js';
import { FakeNats } from '../nats/fake-nats.ts';
import { Coordinator, stateOf, subjects } from './coordinator.ts';

const OWN = '8'.repeat(16);
const SMALLER = '7'.repeat(16);
const GREATER = '9'.repeat(16);
const REFUSED = 'another coordinator named c1 is running: give this one another name with --rig-name';

describe('the start of a coordinator', () => {
  /** Opens one while its request for a coordinator of its name gets this answer. */
  async function opened(answer: unknown, isPermitted = true) {
    const nats = new FakeNats();
    const other = nats.link('other');
    other.subscribe(subjects.hellosTo('c1'), ({ reply = '' }) => other.publish(reply, messageBytes(answer)));
    if (!isPermitted) nats.permits = (_, operation, subject) => operation !== 'publish' || !/hello/.test(subject);
    const coordinator = new Coordinator({ nats, instance: OWN });
    const fault = await coordinator.relay.open().then(
      () => undefined,
      ({ message }: Error) => message,
    );
    return { fault, lines: coordinator.lines };
  }

  it.each([
    ['its own state, which it receives itself', stateOf(OWN, 0), undefined],
    ['a state of another run', stateOf(GREATER, 0), REFUSED],
    ['a state of another run with a smaller number', stateOf(SMALLER, 0), REFUSED],
    ['rubbish', 'rubbish', undefined],
    ['a state that lacks a part', { ...stateOf(GREATER, 0), lost: undefined }, undefined],
  ])('that is answered with %s', async (_, answer, expected) => {
    const { fault, lines } = await opened(answer);
    expect(fault).toBe(expected);
    expect(lines).toEqual(expected ? [] : ['publishes work as pickaxe.work.c1 at nats://fake:4222']);
  });

  it('that may not ask says so', async () => {
    const { fault, lines } = await opened(stateOf(GREATER, 0), false);
    expect(fault).toBeUndefined();
    expect(lines[0]).toBe('it is not known whether another coordinator has this name: not permitted');
  });
});

describe('a coordinator that receives a state in its name', () => {
  const warning = expect.stringContaining('another coordinator publishes as pickaxe.work.c1, too');

  // The coordinator has made one state, with the number 0, when the other state comes.
  it.each([
    { what: 'its own, goes on', instance: OWN, number: 5, ends: false, warns: false },
    { what: 'one with a higher number, ends', instance: GREATER, number: 1, ends: true, warns: false },
    { what: 'one of the same number and a smaller instance, ends', instance: SMALLER, number: 0, ends: true },
    { what: 'one of the same number and a greater instance, stays', instance: GREATER, number: 0, warns: true },
    {
      what: 'a higher number after ten seconds, stays',
      instance: GREATER,
      number: 9,
      afterMs: 10_000,
      warns: true,
    },
    { what: 'a higher number before ten seconds, ends', instance: GREATER, number: 9, afterMs: 9_999, ends: true },
  ])('$what', async ({ instance, number, ends = false, warns = false, afterMs = 0 }) => {
    const coordinator = await Coordinator.start({ instance: OWN });
    expect(coordinator.states.map((state) => state.number)).toEqual([0]);
    const { running } = coordinator;
    const ending = running!.then(
      () => 'stopped',
      ({ message }: Error) => message,
    );
    const before = coordinator.lines.length;
    coordinator.nowMs += afterMs;
    coordinator.nats.link('other').publish(subjects.beat('c1'), messageBytes(stateOf(instance, number)));
    if (!ends) {
      await coordinator.work();
      await coordinator.end();
    }
    expect(await ending).toBe(ends ? REFUSED : 'stopped');
    expect(coordinator.lines.slice(before)).toEqual(warns ? [warning] : []);
  });
});
