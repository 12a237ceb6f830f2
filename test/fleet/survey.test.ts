import { describe, expect, it } from 'vitest';
import { examineFleetServer } from '#pickaxe/fleet/survey.js';
import { FakeNats } from './nats/fake-nats.ts';
import { beat, SUBJECTS, sendState, stateWithWork } from './operator/messages.ts';

const limits = { connectMs: 10, listenMs: 50, helloMs: 50 };

/** Coordinators send these states again and again. */
async function examine(
  states: Parameters<typeof sendState>[2][] = [],
  { isCoordinator = false, denials = [] as string[], name = 'rig1', nats = new FakeNats() } = {},
) {
  const link = nats.link(name);
  const coordinators = states.map((state, at) => ({ name: `c${at + 1}`, link: nats.link(`c${at + 1}`), state }));
  const sending = setInterval(() => {
    for (const each of coordinators) sendState(each.link, each.name, each.state);
  }, 1);
  try {
    return await examineFleetServer({ link, subjects: SUBJECTS, name, isCoordinator, denials, limits });
  } finally {
    clearInterval(sending);
  }
}

const brief = (findings: Awaited<ReturnType<typeof examine>>) =>
  findings.map(({ about, state, what }) => `${state} ${about}: ${what}`);

describe('an examination of a fleet’s server', () => {
  it('names the coordinators that are found', async () => {
    expect(brief(await examine([stateWithWork(1), beat(1, null)]))).toEqual([
      'ok connection: can be reached',
      'ok coordinators: found c1, c2',
    ]);
  });

  it('names a coordinator of the own name only to a rig, for which it is another one', async () => {
    const states = [stateWithWork(1), beat(1, null)];
    expect(brief(await examine(states, { name: 'c1' })).at(-1)).toBe('ok coordinators: found c1, c2');
    expect(brief(await examine(states, { name: 'c1', isCoordinator: true })).at(-1)).toBe('ok coordinators: found c2');
  });

  it('reads no more messages and lists no more coordinators than its bounds', async () => {
    const found = async (bounds: object) => {
      const nats = new FakeNats();
      const [link, sender] = [nats.link('rig1'), nats.link('sender')];
      const question = { link, subjects: SUBJECTS, name: 'rig1', isCoordinator: false, denials: [] };
      const examining = examineFleetServer({ ...question, limits: { ...limits, ...bounds } });
      await new Promise((resolve) => setImmediate(resolve));
      sender.publish(SUBJECTS.beat('junk'), new TextEncoder().encode('{}'));
      for (const name of ['one', 'two', 'three']) sendState(sender, name, beat(1, null));
      return brief(await examining).at(-1);
    };
    expect(await found({})).toBe('ok coordinators: found one, two, three');
    expect(await found({ messages: 3 })).toBe('ok coordinators: found one, two');
    expect(await found({ coordinators: 2 })).toBe('ok coordinators: found two, three');
  });

  it('receives nothing any more once it has ended', async () => {
    const nats = new FakeNats();
    await examine([stateWithWork(1)], { nats });
    const received: string[] = [];
    nats.delivers = ({ subject }, to) => {
      if (to.name === 'rig1') received.push(subject);
      return true;
    };
    const sender = nats.link('sender');
    sendState(sender, 'c1', beat(1, null));
    sender.publish(SUBJECTS.control('rig1', 'op'), new Uint8Array());
    expect(received).toEqual([]);
  });

  it('warns of a coordinator that has lost its own source', async () => {
    const findings = await examine([{ ...stateWithWork(1), lost: 'no node\nanswers' }]);
    expect(findings.at(-1)).toEqual({
      about: 'coordinators',
      state: 'warning',
      what: 'c1 has lost its own source: no node answers',
      why: 'it gives no new work meanwhile',
    });
  });

  it('finds it a fault that a rig finds no coordinator, but not that a coordinator finds no other', async () => {
    expect((await examine()).at(-1)).toEqual({
      about: 'coordinators',
      state: 'fault',
      what: 'no coordinator was found',
      why: 'coordinators give the work, and a rig waits for the first of them',
      remedy: 'start pickaxe coordinate, with the same --nats-subject',
    });
    expect(brief(await examine([stateWithWork(1)], { isCoordinator: true, name: 'c1' })).at(-1)).toBe(
      'ok coordinators: no other coordinator was found',
    );
  });

  it('tries whether the server lets requests of operators through, which an earlier configuration does not', async () => {
    const nats = new FakeNats();
    const tried: string[] = [];
    nats.permits = (_, operation, subject) => {
      if (operation === 'subscribe') tried.push(subject);
      return true;
    };
    await examine([stateWithWork(1)], { nats });
    expect(tried).toContain(SUBJECTS.controlsTo('rig1'));
  });

  it('waits for a connection', async () => {
    const nats = new FakeNats();
    const link = nats.link('rig1');
    link.disconnect();
    const question = { link, subjects: SUBJECTS, name: 'rig1', isCoordinator: true, denials: [] };
    const examining = examineFleetServer({ ...question, limits: { ...limits, connectMs: 60_000 } });
    link.reconnect();
    expect(brief(await examining)[0]).toBe('ok connection: can be reached');
  });

  it('says so when there is no connection', async () => {
    const nats = new FakeNats();
    const link = nats.link('rig1');
    link.disconnect('nats://fake:4222 refuses this member’s credentials.');
    const question = { link, subjects: SUBJECTS, name: 'rig1', isCoordinator: false, denials: [], limits };
    expect(await examineFleetServer(question)).toEqual([
      {
        about: 'connection',
        state: 'fault',
        what: 'nats://fake:4222 refuses this member’s credentials.',
        why: 'the fleet’s work comes by way of it',
      },
    ]);
    expect(await examineFleetServer({ ...question, isCoordinator: true })).toMatchObject([
      { why: 'the fleet’s rigs are reached by way of it' },
    ]);
  });

  it('says whose the credentials are not when the server denies a subject', async () => {
    const nats = new FakeNats();
    nats.permits = (_, operation) => operation !== 'publish';
    expect(await examine([], { nats })).toEqual([
      { about: 'connection', state: 'ok', what: 'can be reached' },
      {
        about: 'permissions',
        state: 'fault',
        what: 'the credentials are not those of a rig named rig1: not permitted',
        why: 'the server lets each member do only what its name and role need',
        remedy: 'give --rig-name the name that pickaxe fleet keys made the credentials for, or make some for this rig',
      },
    ]);
    const denied = 'The NATS server does not permit this account to subscribe to pickaxe.work.*.';
    expect(brief(await examine([], { denials: [denied], isCoordinator: true, name: 'c1' })).at(-1)).toBe(
      `fault permissions: the credentials are not those of a coordinator named c1: ${denied}`,
    );
  });
});
