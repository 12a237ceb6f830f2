/** What the accounts of a fleet may send and receive, on real servers with the generated configuration. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { LinkError } from '#pickaxe/fleet/nats/link.js';
import type { NatsLink } from '#pickaxe/fleet/nats/nats-link.js';
import { FALLBACK_QUEUE, token } from '#pickaxe/fleet/subjects.js';
import { connect, connected, disconnected, type OpenedLink, openLink } from './links.ts';
import { bytes, configOf, MEMBERS, never, openMember, rawMember, settled, subjects, until } from './members.ts';
import { noServer, TestServer, whyNoServer } from './server.ts';

let server: TestServer;
beforeAll(async () => {
  if (!noServer) server = await TestServer.start(configOf(MEMBERS));
});

async function member(name: string, url = server.url): Promise<OpenedLink> {
  const opened = openMember(url, name);
  await connected(opened.link);
  return opened;
}

async function memberAt(url: string, name: string): Promise<NatsLink> {
  return (await member(name, url)).link;
}

const PUBLISHED = {
  'rig 1': {
    may: [
      subjects.hello('c1', 'rig 1'),
      subjects.solution('c1', 'rig 1'),
      subjects.fallback('rig 1'),
      subjects.report('rig 1'),
    ],
    mayNot: [
      subjects.work('c1'),
      subjects.work('rig 1'),
      subjects.beat('c1'),
      subjects.beat('rig 1'),
      subjects.hello('c1', 'rig2'),
      subjects.solution('c1', 'rig2'),
      subjects.fallback('rig2'),
      subjects.report('rig2'),
      subjects.control('rig 1', 'rig 1'),
      subjects.control('rig2', 'rig 1'),
      subjects.control('rig2', 'boss'),
      `${subjects.inbox('rig2')}.a`,
      `${subjects.inbox('rig 1')}.a`,
      `${subjects.inbox('boss')}.a`,
      `${subjects.operatorInbox('boss')}.a`,
      'pickaxe.other',
      'elsewhere',
      '$SYS.REQ.SERVER.PING',
    ],
  },
  c1: {
    may: [
      subjects.work('c1'),
      subjects.beat('c1'),
      subjects.hello('c2', 'c1'),
      `${subjects.inbox('rig2')}.a`,
      subjects.report('c1'),
    ],
    mayNot: [
      subjects.work('c2'),
      subjects.beat('c2'),
      subjects.hello('c2', 'c2'),
      subjects.solution('c2', 'c1'),
      subjects.fallback('c1'),
      subjects.report('rig2'),
      subjects.control('rig2', 'c1'),
      subjects.control('rig2', 'boss'),
      'elsewhere',
    ],
  },
  boss: {
    may: [subjects.control('rig 1', 'boss'), subjects.control('rig2', 'boss')],
    mayNot: [
      subjects.control('rig2', 'boss2'),
      `pickaxe.control.${token('rig2')}`,
      subjects.work('boss'),
      subjects.beat('c1'),
      subjects.work('c1'),
      subjects.hello('c1', 'boss'),
      subjects.solution('c1', 'boss'),
      subjects.fallback('boss'),
      subjects.report('boss'),
      `${subjects.inbox('rig2')}.a`,
      'elsewhere',
    ],
  },
} as const;

const RECEIVED = {
  'rig 1': {
    may: [subjects.allWork, subjects.allBeats, subjects.controlsTo('rig 1')],
    mayNot: [
      subjects.reports,
      subjects.report('rig2'),
      subjects.controls,
      subjects.controlsTo('rig2'),
      subjects.controlsBy('boss'),
      subjects.fallbacks,
      subjects.solutionsTo('c1'),
      subjects.hellosTo('c1'),
      subjects.inboxes,
      `${subjects.inbox('rig2')}.>`,
      'pickaxe.>',
      '>',
      '$SYS.>',
    ],
  },
  c1: {
    may: [
      subjects.allWork,
      subjects.allBeats,
      subjects.hellosTo('c1'),
      subjects.solutionsTo('c1'),
      subjects.reports,
      subjects.controlsTo('c1'),
    ],
    mayNot: [
      subjects.fallbacks,
      subjects.hellosTo('c2'),
      subjects.solutionsTo('c2'),
      subjects.controls,
      subjects.inboxes,
      `${subjects.inbox('rig2')}.>`,
      'pickaxe.>',
    ],
  },
  boss: {
    may: [subjects.allWork, subjects.allBeats, subjects.reports],
    mayNot: [
      subjects.controls,
      subjects.fallbacks,
      subjects.solutionsTo('c1'),
      subjects.inboxes,
      `${subjects.inbox('rig2')}.>`,
      'pickaxe.>',
    ],
  },
} as const;
type Name = keyof typeof PUBLISHED;
const NAMES = Object.keys(PUBLISHED) as Name[];

describe.skipIf(noServer)(`the accounts of a fleet${whyNoServer}`, () => {
  it.each(NAMES)('%s may send its own kinds of messages, and no others', async (name) => {
    const { link } = await member(name);
    const faultOf = (subject: string) =>
      link.request(subject, bytes(''), 60_000, never).then(
        () => 'answered',
        (thrown: LinkError) => thrown.fault,
      );
    const { may, mayNot } = PUBLISHED[name];
    for (const subject of may) expect([subject, await faultOf(subject)]).toEqual([subject, 'no-responders']);
    for (const subject of mayNot) expect([subject, await faultOf(subject)]).toEqual([subject, 'denied']);
    expect(link.state.isConnected).toBe(true);
  });

  it.each(NAMES)('%s may receive its own kinds of messages, and no others', async (name) => {
    const { may, mayNot } = RECEIVED[name];
    const allowed = await member(name);
    for (const subject of may) allowed.link.subscribe(subject, () => {});
    await settled(allowed.link, name === 'boss' ? subjects.control('nobody', 'boss') : subjects.hello('nobody', name));
    expect(allowed.warnings).toEqual([]);
    for (const subject of mayNot) {
      const { link, warnings } = await member(name);
      link.subscribe(subject, () => {});
      await until(() =>
        expect(warnings).toEqual([expect.stringContaining(`not permit this account to subscribe to ${subject}. `)]),
      );
      await link.close();
    }
  });

  it('a message under another name reaches nobody', async () => {
    const [{ link: rig }, { link: coordinator }, { link: boss }] = [
      await member('rig 1'),
      await member('c1'),
      await member('boss'),
    ];
    const recorded: string[] = [];
    boss.subscribe(subjects.reports, ({ subject }) => recorded.push(subject));
    boss.subscribe(subjects.allWork, ({ subject }) => recorded.push(subject));
    await settled(boss, subjects.control('nobody', 'boss'));
    rig.publish(subjects.report('rig2'), bytes(''));
    rig.publish(subjects.work('c1'), bytes(''));
    coordinator.publish(subjects.work('c2'), bytes(''));
    coordinator.publish(subjects.work('c1'), bytes(''));
    rig.publish(subjects.report('rig 1'), bytes(''));
    await until(() => expect(recorded).toHaveLength(2));
    expect(recorded.sort()).toEqual([subjects.report('rig 1'), subjects.work('c1')].sort());
  });

  it('requests are answered: hello, solution, fallback and control', async () => {
    const [{ link: rig }, { link: coordinator }, { link: boss }] = [
      await member('rig 1'),
      await member('c1'),
      await member('boss'),
    ];
    const answer = (link: NatsLink, subject: string, queue?: string) =>
      link.subscribe(subject, ({ reply = '' }) => link.publish(reply, bytes(subject)), queue);
    answer(coordinator, subjects.hellosTo('c1'));
    answer(coordinator, subjects.solutionsTo('c1'));
    answer(coordinator, subjects.fallbacks, FALLBACK_QUEUE);
    answer(rig, subjects.controlsTo('rig 1'));
    await settled(coordinator, subjects.hello('nobody', 'c1'));
    await settled(rig, subjects.hello('nobody', 'rig 1'));
    const ask = async (link: NatsLink, subject: string) =>
      new TextDecoder().decode(await link.request(subject, bytes(''), 60_000, never));
    expect(await ask(rig, subjects.hello('c1', 'rig 1'))).toBe(subjects.hellosTo('c1'));
    expect(await ask(rig, subjects.solution('c1', 'rig 1'))).toBe(subjects.solutionsTo('c1'));
    expect(await ask(rig, subjects.fallback('rig 1'))).toBe(subjects.fallbacks);
    expect(await ask(boss, subjects.control('rig 1', 'boss'))).toBe(subjects.controlsTo('rig 1'));
    expect(await ask(boss, subjects.control('rig 1', 'boss'))).toBe(subjects.controlsTo('rig 1'));
  });

  it('an operator cannot act under another operator’s name', async () => {
    const [{ link: rig }, { link: boss, warnings }] = [await member('rig 1'), await member('boss')];
    const asked: string[] = [];
    rig.subscribe(subjects.controlsTo('rig 1'), ({ subject }) => asked.push(subject));
    await settled(rig, subjects.hello('nobody', 'rig 1'));
    boss.publish(subjects.control('rig 1', 'boss2'), bytes(''));
    boss.publish(subjects.control('rig 1', 'boss'), bytes(''));
    await until(() => expect(asked).toHaveLength(1));
    expect(asked).toEqual([subjects.control('rig 1', 'boss')]);
    await until(() => expect(warnings).toEqual([expect.stringContaining('publish to pickaxe.control.rig%201.boss2.')]));
  });

  it('a rig cannot publish work, although an operator asks it with that subject for the answer', async () => {
    const [{ link: rig, warnings }, { link: other }] = [await member('rig 1'), await member('rig2')];
    const recorded: string[] = [];
    other.subscribe(subjects.allWork, ({ subject }) => recorded.push(subject));
    const asked: string[] = [];
    rig.subscribe(subjects.controlsTo('rig 1'), ({ reply = '' }) => {
      asked.push(reply);
      rig.publish(reply, bytes('forged'));
    });
    await settled(other, subjects.hello('nobody', 'rig2'));
    await settled(rig, subjects.hello('nobody', 'rig 1'));
    const boss = await rawMember('boss', server);
    boss.write(`PUB ${subjects.control('rig 1', 'boss')} ${subjects.work('c1')} 0\r\n\r\n`);
    await until(() => expect(warnings).toEqual([expect.stringMatching(/publish to pickaxe\.work\.c1/)]));
    expect(asked).toEqual([subjects.work('c1')]);
    const { link: coordinator } = await member('c1');
    coordinator.publish(subjects.work('c1'), bytes(''));
    await until(() => expect(recorded).toHaveLength(1));
  });

  it('rigs may answer an operator that is new, and stay connected', async () => {
    const own = await TestServer.start(configOf(MEMBERS.filter(({ role }) => role !== 'operator')));
    const rig = await memberAt(own.url, 'rig 1');
    const states: boolean[] = [];
    rig.onState(({ isConnected }) => states.push(isConnected));
    rig.subscribe(subjects.controlsTo('rig 1'), ({ reply = '' }) => rig.publish(reply, bytes('done')));
    await settled(rig, subjects.hello('nobody', 'rig 1'));
    await own.reconfigure(configOf(MEMBERS));
    const boss = await memberAt(own.url, 'boss');
    const answer = await boss.request(subjects.control('rig 1', 'boss'), bytes(''), 60_000, never);
    expect(new TextDecoder().decode(answer)).toBe('done');
    expect(states).toEqual([]);
  });

  it('a member cannot fill the memory of a server with subscriptions', async () => {
    const rig = await rawMember('rig 1', server);
    let answer = '';
    rig.on('data', (chunk) => {
      answer += chunk;
    });
    for (let i = 0; i < 100; i++) rig.write(`SUB ${subjects.inbox('rig 1')}.a${i} ${i}\r\n`);
    await until(() => expect(answer).toMatch(/-ERR 'maximum subscriptions exceeded'/i));
  });

  it('members at a site with a leaf node have the same accounts, and only servers of the fleet can be leaf nodes', async () => {
    const secret = 'ab'.repeat(24);
    const hub = await TestServer.start(
      ({ client, leafnode }) => configOf(MEMBERS, { leaves: { listen: `127.0.0.1:${leafnode}`, secret } })({ client }),
      ['client', 'leafnode'],
    );
    const leafOf = (proof: string) =>
      configOf(MEMBERS, { hub: { servers: [`127.0.0.1:${hub.ports.leafnode}`], secret: proof } });
    const [leaf, stranger] = [await TestServer.start(leafOf(secret)), await TestServer.start(leafOf('00'.repeat(24)))];
    const coordinator = await memberAt(hub.url, 'c1');
    const recorded: string[] = [];
    coordinator.subscribe(subjects.reports, ({ subject }) => recorded.push(subject));
    const [near, far] = [await memberAt(leaf.url, 'rig 1'), await memberAt(stranger.url, 'rig2')];
    await until(() => expect(stranger.log).toMatch(/Authorization Violation/));
    // The servers tell each other of subscriptions a moment later.
    await until(() => {
      far.publish(subjects.report('rig2'), bytes(''));
      near.publish(subjects.report('rig2'), bytes(''));
      near.publish(subjects.report('rig 1'), bytes(''));
      expect(recorded).toContain(subjects.report('rig 1'));
    });
    expect(recorded).not.toContain(subjects.report('rig2'));
  });

  it('whoever has the secret of a site with a leaf node can do what rigs can, and no more', async () => {
    const secret = 'ab'.repeat(24);
    const hub = await TestServer.start(
      ({ client, leafnode }) => configOf(MEMBERS, { leaves: { listen: `127.0.0.1:${leafnode}`, secret } })({ client }),
      ['client', 'leafnode'],
    );
    const remote = `nats-leaf://server:${secret}@127.0.0.1:${hub.ports.leafnode}`;
    const thief = await TestServer.start(
      ({ client }) => `listen: "127.0.0.1:${client}"\nleafnodes { remotes: [{ urls: ["${remote}"] }] }\n`,
    );
    await until(() => expect(hub.log).toMatch(/Leafnode connection created/));
    const { link } = await connect([thief.url], 'thief', { inbox: subjects.inbox('thief') });
    const stolen: string[] = [];
    for (const wish of [subjects.reports, subjects.solutionsTo('c1'), subjects.allWork]) {
      link.subscribe(wish, ({ subject }) => stolen.push(subject));
    }
    const [coordinator, rig] = [await memberAt(hub.url, 'c1'), await memberAt(hub.url, 'rig2')];
    const received: string[] = [];
    coordinator.subscribe(subjects.reports, ({ subject }) => received.push(subject));
    for (const wish of [subjects.allWork, subjects.allBeats, subjects.controlsTo('rig2')]) {
      rig.subscribe(wish, ({ subject }) => received.push(subject));
    }
    // The servers tell each other of subscriptions a moment later.
    await until(() => {
      link.publish(subjects.work('c2'), bytes(''));
      link.publish(subjects.beat('c2'), bytes(''));
      link.publish(subjects.control('rig2', 'boss'), bytes(''));
      link.publish(subjects.report('rig 1'), bytes(''));
      rig.publish(subjects.solution('c1', 'rig2'), bytes(''));
      rig.publish(subjects.report('rig2'), bytes(''));
      coordinator.publish(subjects.work('c1'), bytes(''));
      // What may not arrive was sent before, and the second time it would surely have arrived.
      const times = (all: readonly string[], one: string) => all.filter((subject) => subject === one).length;
      expect(times(received, subjects.report('rig 1'))).toBeGreaterThan(1);
      expect(times(received, subjects.report('rig2'))).toBeGreaterThan(1);
      expect(times(stolen, subjects.work('c1'))).toBeGreaterThan(1);
    });
    await settled(rig, subjects.hello('c1', 'rig2'));
    const reports = [subjects.report('rig 1'), subjects.report('rig2')];
    expect(new Set(received)).toEqual(new Set([...reports, subjects.work('c1')]));
    // Its own server also delivers what it has published itself: this work and this report.
    const own = [subjects.work('c2'), subjects.report('rig 1')];
    expect(new Set(stolen)).toEqual(new Set([...own, subjects.work('c1')]));
  });

  it('a member that takes nothing is cut off, and the others go on', async () => {
    const own = await TestServer.start(configOf(MEMBERS));
    const rig = await memberAt(own.url, 'rig 1');
    const other = await memberAt(own.url, 'c1');
    let recorded = 0;
    other.subscribe(subjects.reports, () => recorded++);
    const socket = await rawMember('boss', own);
    socket.pause();
    socket.write(`SUB ${subjects.reports} 1\r\n`);
    const report = new Uint8Array(60_000);
    let sent = 0;
    // One batch after the other: a server holds up who sends faster than it can pass on.
    while (!own.log.includes('Slow Consumer Detected')) {
      for (let i = 0; i < 10; i++) if (rig.publish(subjects.report('rig 1'), report)) sent += 1;
      await until(() => expect(recorded).toBe(sent));
    }
    expect([rig.state.isConnected, other.state.isConnected]).toEqual([true, true]);
  });

  it('only servers of the fleet can join its cluster', async () => {
    const cluster = (servers: readonly string[], secret: string) =>
      TestServer.start(
        ({ client, route }) =>
          configOf(MEMBERS, { cluster: { listen: `127.0.0.1:${route}`, servers, secret } })({ client }),
        ['client', 'route'],
      );
    const first = await cluster([], 'ab'.repeat(24));
    const routes = [`127.0.0.1:${first.ports.route}`];
    const [second, stranger] = [await cluster(routes, 'ab'.repeat(24)), await cluster(routes, '00'.repeat(24))];
    const coordinator = await memberAt(first.url, 'c1');
    const recorded: string[] = [];
    coordinator.subscribe(subjects.reports, ({ subject }) => recorded.push(subject));
    const [near, far] = [await memberAt(second.url, 'rig 1'), await memberAt(stranger.url, 'rig2')];
    await until(() => expect(stranger.log).toMatch(/Authorization Violation/));
    await until(() => {
      far.publish(subjects.report('rig2'), bytes(''));
      near.publish(subjects.report('rig 1'), bytes(''));
      expect(recorded).toContain(subjects.report('rig 1'));
    });
    expect(recorded).not.toContain(subjects.report('rig2'));
  });

  it('a server without members lets nobody in', async () => {
    const empty = await TestServer.start(configOf([]));
    const { link } = openLink([empty.url]);
    await disconnected(link, /asks for credentials/);
  });

  it('a revoked rig loses its connection when the server reads its configuration anew, and is told why', async () => {
    const own = await TestServer.start(configOf(MEMBERS));
    const links = [];
    for (const name of ['rig 1', 'rig2']) links.push(await memberAt(own.url, name));
    await own.reconfigure(configOf(MEMBERS.filter(({ name }) => name !== 'rig 1')));
    expect(await disconnected(links[0], /revoked/)).toBe(
      `${own.url} refuses this member’s credentials: they are not known there, or were revoked. ` +
        'Ask the fleet’s operator for new ones (--nats-credentials).',
    );
    expect(links[1].state.isConnected).toBe(true);
    expect(links[1].publish(subjects.report('rig2'), bytes(''))).toBe(true);
    await settled(links[1], subjects.report('rig2'));
  });
});
