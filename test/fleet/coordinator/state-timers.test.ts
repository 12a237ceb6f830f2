/** When a coordinator says that a work has ended, by a clock that the test moves, and what it says of its link. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CoordinatorState, messageBytes, workOfGiven } from '#pickaxe/fleet/messages.js';
import { RelayRefusal } from '#pickaxe/miner/relay/relay.js';
import type { Verdict } from '#pickaxe/miner/source/source.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { mine } from '../../miner/source/follow.ts';
import { turns } from '../../turns.ts';
import { Coordinator, subjects, TestRig } from './coordinator.ts';

/** A coordinator whose timers fire only when the test lets time pass. */
async function started(options: ConstructorParameters<typeof Coordinator>[0] = {}) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => {
    const timers = vi.getTimerCount();
    vi.useRealTimers();
    expect(timers).toBe(0);
  });
  const coordinator = await Coordinator.start(options);
  const give = async (work = makeWork(4)) => {
    coordinator.source.work(work);
    await turns();
    return { work, name: coordinator.states.at(-1)!.given!.name };
  };
  const end = async (...works: Work[]) => {
    coordinator.source.stale(...works);
    await turns();
  };
  const pass = async (ms: number) => {
    vi.advanceTimersByTime(ms);
    await turns();
  };
  await turns();
  return { coordinator, states: coordinator.states, give, end, pass };
}

describe('a coordinator without a next work', () => {
  it('says that its work has ended after 50 ms, each time, and says it once', async () => {
    const { states, give, end, pass } = await started();
    for (const round of [1, 2, 3]) {
      const { name } = await give();
      const before = states.length;
      await end();
      await pass(49);
      expect([round, states.length]).toEqual([round, before]);
      await pass(1);
      expect(states.slice(before)).toEqual([expect.objectContaining({ work: null })]);
      expect(states.at(-1)!.ended[0]).toEqual({ name, reason: 'new-cut' });
      await pass(1_000);
      expect([round, states.length]).toEqual([round, before + 1]);
    }
  });

  it('says it earlier with the end of a work that was replaced, and only then', async () => {
    const { states, give, end, pass } = await started();
    const [former, current] = [await give(), await give()];
    const before = states.length;
    await end(current.work);
    await pass(30);
    await end(former.work);
    expect(states.slice(before)).toEqual([expect.objectContaining({ work: null })]);
    expect(states.at(-1)!.ended).toEqual([
      { name: former.name, reason: 'new-cut' },
      { name: current.name, reason: 'new-cut' },
    ]);
    await pass(1_000);
    expect(states).toHaveLength(before + 1);
  });
});

it('a coordinator with a next work says in one state what is new and what has ended, again and again', async () => {
  const { states, give, end, pass } = await started();
  let former = await give();
  for (const round of [1, 2, 3]) {
    const before = states.length;
    await end();
    await pass(49);
    const next = await give();
    expect([round, states.length]).toEqual([round, before + 1]);
    expect(states.at(-1)).toMatchObject({ work: next.name, given: { name: next.name } });
    expect(states.at(-1)!.ended[0]).toEqual({ name: former.name, reason: 'new-cut' });
    expect(workOfGiven(states.at(-1)!.given!)).toEqual(next.work);
    await pass(500);
    expect([round, states.length]).toEqual([round, before + 1]);
    former = next;
  }
});

describe('a coordinator that ends within these 50 ms', () => {
  it('because another one has its name says nothing more, and leaves no timer', async () => {
    const { coordinator, give, end, pass } = await started();
    const ending = expect(coordinator.running).rejects.toBeInstanceOf(RelayRefusal);
    await give();
    await end();
    const { nats } = coordinator;
    const other: CoordinatorState = {
      instance: 'f'.repeat(16),
      number: 1_000,
      version: '1',
      work: null,
      latestTimeMicros: 0,
      ended: [],
      lost: null,
    };
    nats.link('other').publish(subjects.beat('c1'), messageBytes(other));
    await turns();
    await ending;
    expect(vi.getTimerCount()).toBe(0);
    const sent = () => nats.sent.filter(({ by }) => by === 'c1').length;
    const before = sent();
    await pass(10_000);
    expect(sent()).toBe(before);
  });

  it('says nothing after its end, though a rig has solved its work since it began to stop', async () => {
    const { coordinator, states, give, pass } = await started({ limits: { answerMs: 0 } });
    const settle: (() => void)[] = [];
    coordinator.source.verdict = () =>
      new Promise<Verdict>((resolve) => {
        settle.push(() => resolve({ outcome: 'accepted', reason: '' }));
      });
    const rig = new TestRig(coordinator.nats, 'rig');
    const solve = ({ work, name }: { work: Work; name: string }) =>
      void rig.solve('c1', name, mine(work)).catch(() => {});
    solve(await give());
    const last = await give();
    const ended = coordinator.end();
    await turns();
    expect(states.at(-1)).toMatchObject({ work: last.name, lost: 'this coordinator is stopping' });
    solve(last);
    await turns();
    expect(settle).toHaveLength(2);
    for (const each of settle) each();
    await ended;
    expect(vi.getTimerCount()).toBe(0);
    const before = states.length;
    await pass(10_000);
    expect(states).toHaveLength(before);
  });
});

describe('what a coordinator says of its connection', () => {
  const GONE = 'reaches no rigs: nothing listens there.';
  const BACK = 'publishes work as pickaxe.work.c1 at nats://fake:4222';
  const leftOut = (count: number) => ` (${count} lines about the connection were left out)`;

  it('is each end with its reason and each beginning with its server, ten times, and then how much it left out', async () => {
    const coordinator = await Coordinator.start();
    const { lines, link } = coordinator;
    const go = () => link.disconnect('nothing listens there.');
    expect(lines.splice(0)).toEqual([BACK]);
    for (let time = 0; time < 20; time++) {
      go();
      link.reconnect();
    }
    expect(lines.splice(0)).toEqual([GONE, BACK, GONE, BACK, GONE, BACK, GONE, BACK, GONE]);
    coordinator.nowMs += 10_000;
    go();
    expect(lines.splice(0)).toEqual([`${GONE}${leftOut(31)}`]);
    coordinator.nowMs += 10_000;
    link.reconnect();
    expect(lines.splice(0)).toEqual([BACK]);
    go();
    coordinator.nowMs += 10_000;
    link.reconnect();
    expect(lines.splice(0)).toEqual([`${BACK}${leftOut(1)}`]);
  });
});
