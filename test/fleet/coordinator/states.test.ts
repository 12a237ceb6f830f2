import { describe, expect, it, vi } from 'vitest';
import { MOST_ENDED, workOfGiven } from '#pickaxe/fleet/messages.js';
import { RelayRefusal } from '#pickaxe/miner/relay/relay.js';
import { equalBytes } from '#pickaxe/protocol/chain/bytes.js';
import { makeWork } from '../../fakes.ts';
import { eventually, mine } from '../../miner/source/follow.ts';
import { FakeNats } from '../nats/fake-nats.ts';
import { Coordinator, TestRig } from './coordinator.ts';

describe('the states of a coordinator', () => {
  it('have each new work whole, and name what has ended', async () => {
    const coordinator = await Coordinator.start();
    const first = await coordinator.work();
    const second = await coordinator.work(makeWork(100, { nonce1: { value: 7, bytes: 1 }, until: 'replaced' }));
    coordinator.source.stale('new-cut', first.work);
    await eventually(() => expect(coordinator.states.at(-1)!.ended).toHaveLength(1));
    coordinator.source.stale('cancelled', second.work);
    await eventually(() => expect(coordinator.states.at(-1)!.ended).toHaveLength(2));
    const [start, one, other, ended, none] = coordinator.states;
    expect(start).toMatchObject({ work: null, ended: [], lost: null });
    expect(start).not.toHaveProperty('given');
    expect(workOfGiven(one.given!)).toEqual(first.work);
    expect(workOfGiven(other.given!)).toEqual(second.work);
    expect([one.work, other.work]).toEqual([first.name, second.name]);
    // The first work was replaced and not ended, so the second state does not name it.
    expect(other.ended).toEqual([]);
    expect(ended).toMatchObject({ work: second.name, ended: [{ name: first.name, reason: 'new-cut' }] });
    expect(none).toMatchObject({
      work: null,
      ended: [
        { name: second.name, reason: 'cancelled' },
        { name: first.name, reason: 'new-cut' },
      ],
    });
    for (const state of [ended, none]) expect(state).not.toHaveProperty('given');
    const numbers = coordinator.states.map(({ number }) => number);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('come without a timer: a next work is published, with the end of the last one, before any timer can fire', async () => {
    const coordinator = await Coordinator.start();
    await coordinator.work();
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout'] });
    try {
      const before = coordinator.states.length;
      const next = makeWork(4);
      coordinator.source.stale();
      coordinator.source.work(next);
      for (let turn = 0; turn < 100 && coordinator.states.length === before; turn++) await Promise.resolve();
      const whole = coordinator.states[before];
      expect(whole.ended).toMatchObject([{ reason: 'new-cut' }]);
      expect(workOfGiven(whole.given!)).toEqual(next);
      // A message of its own for the end would come before the next work at every rig.
      vi.advanceTimersByTime(500);
      expect(coordinator.states).toHaveLength(before + 1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('say that a work has ended if the next one does not come at once', async () => {
    const coordinator = await Coordinator.start();
    const { name } = await coordinator.work();
    coordinator.source.stale();
    await eventually(() =>
      expect(coordinator.states.at(-1)).toMatchObject({ work: null, ended: [{ name, reason: 'new-cut' }] }),
    );
  });

  it('name an ended work for ten seconds', async () => {
    const coordinator = await Coordinator.start();
    const first = await coordinator.work();
    coordinator.source.stale('new-cut', first.work);
    await eventually(() => expect(coordinator.states.at(-1)!.ended).toHaveLength(1));
    coordinator.nowMs += 9_000;
    const second = await coordinator.work();
    expect(coordinator.states.at(-1)!.ended).toEqual([{ name: first.name, reason: 'new-cut' }]);
    coordinator.nowMs += 1_000;
    coordinator.source.stale('new-cut', second.work);
    await eventually(() =>
      expect(coordinator.states.at(-1)!.ended).toEqual([{ name: second.name, reason: 'new-cut' }]),
    );
  });

  it('name at most 16 ended works, the newest first', async () => {
    const coordinator = await Coordinator.start();
    const names: string[] = [];
    for (let count = 0; count < MOST_ENDED + 4; count++) {
      names.unshift((await coordinator.work()).name);
      coordinator.source.stale();
    }
    await eventually(() => expect(coordinator.states.at(-1)!.work).toBeNull());
    expect(coordinator.states.at(-1)!.ended.map(({ name }) => name)).toEqual(names.slice(0, MOST_ENDED));
  });

  it('say at once that a work has its solution, when its source has not said so yet', async () => {
    const coordinator = await Coordinator.start();
    const { work, name } = await coordinator.work();
    const answer = new TestRig(coordinator.nats, 'rig').solve('c1', name, mine(work));
    await eventually(() =>
      expect(coordinator.states.at(-1)).toMatchObject({ work: null, ended: [{ name, reason: 'solved' }] }),
    );
    expect(await answer).toMatchObject({ state: 'verdict', outcome: 'accepted' });
    const count = coordinator.states.length;
    coordinator.source.stale('solved', work);
    const next = await coordinator.work();
    expect(coordinator.states).toHaveLength(count + 1);
    expect(coordinator.states.at(-1)).toMatchObject({ work: next.name, ended: [{ name, reason: 'solved' }] });
  });

  it('follow the loss of the source and its return, and a rest', async () => {
    const coordinator = await Coordinator.start();
    const { work, name } = await coordinator.work();
    coordinator.source.lost();
    await eventually(() => expect(coordinator.states.at(-1)).toMatchObject({ work: name, lost: 'the test says so' }));
    coordinator.source.work(work);
    await eventually(() => expect(coordinator.states.at(-1)).toMatchObject({ work: name, lost: null }));
    coordinator.source.rest();
    await eventually(() => expect(coordinator.states.at(-1)).toMatchObject({ work: null, lost: null, ended: [] }));
    expect((await coordinator.work(work)).name).toBe(name);
  });

  it('come in short form again and again, with the latest creation time', async () => {
    const coordinator = await Coordinator.start({ limits: { beatMs: 5 } });
    const { name } = await coordinator.work();
    coordinator.source.latestUs = () => 1_234_567_890n;
    await eventually(() =>
      expect(coordinator.states.at(-1)).toMatchObject({ work: name, latestTimeMicros: 1_234_567_890 }),
    );
    expect(coordinator.states.at(-1)).not.toHaveProperty('given');
    const count = coordinator.states.length;
    await eventually(() => expect(coordinator.states.length).toBeGreaterThan(count + 3));
  });

  it('are whole again after each reconnection, and nothing is kept for it', async () => {
    const coordinator = await Coordinator.start({ limits: { beatMs: 5 } });
    await coordinator.work();
    coordinator.link.disconnect();
    const count = coordinator.states.length;
    const missed = coordinator.source.work(makeWork(4));
    const latest = coordinator.source.work(makeWork(4));
    await eventually(() => expect(coordinator.updates).toHaveLength(3));
    coordinator.link.reconnect();
    await eventually(() => expect(coordinator.states.length).toBeGreaterThan(count));
    const given = coordinator.states.slice(count).flatMap(({ given }) => (given ? workOfGiven(given) : []));
    expect(given).toEqual([latest]);
    expect(given.some(({ header }) => equalBytes(header, missed.header))).toBe(false);
    expect(coordinator.lines.filter((line) => /reaches no rigs|publishes work/.test(line))).toHaveLength(3);
    const rig = new TestRig(coordinator.nats, 'rig');
    expect(workOfGiven((await rig.hello('c1'))!.given!)).toEqual(latest);
  });

  it('bound the lines about a connection that comes and goes', async () => {
    const coordinator = await Coordinator.start();
    for (let time = 0; time < 100; time++) {
      coordinator.link.disconnect();
      coordinator.link.reconnect();
    }
    expect(coordinator.lines.length).toBeLessThanOrEqual(10);
    coordinator.nowMs += 60_000;
    coordinator.link.disconnect();
    expect(coordinator.lines.at(-1)).toMatch(/reaches no rigs: .* \(\d+ lines about the connection were left out\)/);
  });

  it('say that it stops, while the last solution still gets its verdict', async () => {
    const coordinator = await Coordinator.start();
    const { work, name } = await coordinator.work();
    let answer = () => {};
    coordinator.source.verdict = () =>
      new Promise((resolve) => {
        answer = () => resolve({ outcome: 'accepted', reason: '' });
      });
    const asked = new TestRig(coordinator.nats, 'rig').solve('c1', name, mine(work));
    await eventually(() => expect(coordinator.source.submitted).toHaveLength(1));
    const ended = coordinator.end();
    await eventually(() => expect(coordinator.states.at(-1)).toMatchObject({ lost: 'this coordinator is stopping' }));
    answer();
    expect(await asked).toMatchObject({ state: 'verdict', outcome: 'accepted' });
    await ended;
    expect(coordinator.events.of('relay').at(-1)).toMatchObject({ workers: [{ name: 'rig', accepted: 1, blocks: 1 }] });
  });
});

describe('a coordinator’s name', () => {
  it('must not be that of one that answers', async () => {
    const nats = new FakeNats();
    await Coordinator.start({ nats });
    await expect(new Coordinator({ nats }).relay.open()).rejects.toThrow(
      'another coordinator named c1 is running: give this one another name with --rig-name',
    );
    await Coordinator.start({ nats, name: 'c2' });
  });

  it('is used without waiting for an answer while there is no connection', async () => {
    const coordinator = new Coordinator();
    coordinator.link.disconnect('nothing listens there.');
    await coordinator.start();
    expect(coordinator.lines).toEqual(['reaches no rigs: nothing listens there.']);
    const work = coordinator.source.work(makeWork(4));
    await eventually(() => expect(coordinator.updates).toHaveLength(1));
    coordinator.link.reconnect();
    await eventually(() => expect(coordinator.states.map(({ given }) => given && workOfGiven(given))).toEqual([work]));
  });

  it('is complained about when a second one appears later, some times', async () => {
    const coordinator = await Coordinator.start();
    const other = new Coordinator({ nats: coordinator.nats, limits: { beatMs: 1, newMs: 0 } });
    coordinator.nowMs += 60_000;
    other.link.disconnect();
    await other.start();
    other.link.reconnect();
    await eventually(() => expect(other.states.length).toBeGreaterThan(50));
    const complaints = coordinator.lines.filter((line) =>
      line.includes('another coordinator publishes as pickaxe.work.c1'),
    );
    expect(complaints.length).toBeGreaterThan(0);
    expect(complaints.length).toBeLessThanOrEqual(10);
  });

  /** Two of one name, of which neither answers while the other one starts. @returns whether each was refused */
  const refusedOf = async (start: (both: readonly [Coordinator, Coordinator]) => Promise<unknown>) => {
    const nats = new FakeNats();
    const limits = { beatMs: 5 };
    const both = [new Coordinator({ nats, limits }), new Coordinator({ nats, limits })] as const;
    await start(both);
    const endings = both.map(({ running }) =>
      running!.then(
        () => expect.fail('nobody has stopped it'),
        (fault: Error) => fault,
      ),
    );
    const fault = await Promise.race(endings);
    expect(fault).toEqual(
      new RelayRefusal('another coordinator named c1 is running: give this one another name with --rig-name'),
    );
    // The other one goes on.
    const states = both.map((each) => each.states.length);
    await eventually(() => {
      for (const [i, each] of both.entries()) expect(each.states.length).toBeGreaterThan(states[i] + 20);
    });
    expect(new Set(both[0].states.slice(-10).map(({ instance }) => instance)).size).toBe(1);
    const settled = endings.map((ending) => Promise.race([ending, Promise.resolve(undefined)]));
    return (await Promise.all(settled)).map((ending) => ending !== undefined);
  };

  it('is kept by one of two that start at the same moment', async () => {
    const refused = await refusedOf((both) => Promise.all(both.map((each) => each.start())));
    expect(refused.filter(Boolean)).toHaveLength(1);
  });

  it('is kept by one of two that start before the server does', async () => {
    const refused = await refusedOf(async (both) => {
      for (const each of both) each.link.disconnect();
      for (const each of both) await each.start();
      for (const each of both) each.link.reconnect();
    });
    expect(refused.filter(Boolean)).toHaveLength(1);
  });

  it('is kept by the one that has run before, also if the other one started without a connection', async () => {
    const refused = await refusedOf(async ([one, other]) => {
      other.link.disconnect();
      await other.start();
      await one.start();
      await eventually(() => expect(one.states.length).toBeGreaterThan(20));
      other.link.reconnect();
    });
    expect(refused).toEqual([false, true]);
  });
});
