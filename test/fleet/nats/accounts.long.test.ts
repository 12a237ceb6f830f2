/** The NATS accounts of a fleet on real servers: no key takes connections away from members of another account. */

import { describe, expect, it } from 'vitest';
import type { NatsLink } from '#pickaxe/fleet/nats/nats-link.js';
import { serverConfig } from '#pickaxe/fleet/nats/server-config.js';
import { connected, disconnected } from './links.ts';
import { bytes, configOf, MEMBERS, never, openMember, rawMember, settled, subjects, until } from './members.ts';
import { noServer, TestServer, whyNoServer } from './server.ts';

const SECRET = 'ab'.repeat(24);

const hubOf =
  (members: typeof MEMBERS) =>
  ({ client, leafnode }: { client: number; leafnode: number }) =>
    configOf(members, { leaves: { listen: `127.0.0.1:${leafnode}`, secret: SECRET } })({ client });
const leafOf = (hub: TestServer, members = MEMBERS) =>
  configOf(members, { hub: { servers: [`127.0.0.1:${hub.ports.leafnode}`], secret: SECRET } });

const startHub = (members = MEMBERS) => TestServer.start(hubOf(members), ['client', 'leafnode']);

async function memberAt(url: string, name: string): Promise<NatsLink> {
  const { link } = openMember(url, name);
  await connected(link);
  return link;
}

/** Opens connections with one key, and subscribes with each as often as it may. @returns how many of them stay open */
async function crowd(name: string, server: TestServer, connections: number, subscriptions: number) {
  const crowded = { open: 0, refusals: '' };
  for (let i = 0; i < connections; i++) {
    const socket = await rawMember(name, server);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
      // A server ends connections that do not answer, which takes longer than this test on a machine that is not busy.
      if (`${chunk}`.includes('PING')) socket.write('PONG\r\n');
      crowded.refusals += chunk;
    });
    socket.on('error', () => {});
    crowded.open += 1;
    socket.on('close', () => {
      crowded.open -= 1;
    });
    socket.write('PING\r\n');
    await until(() => expect(socket.closed || answer.includes('PONG')).toBe(true));
    for (let j = 0; j < subscriptions; j++) socket.write(`SUB ${subjects.allBeats} ${j + 1}\r\n`);
  }
  return crowded;
}

describe.skipIf(noServer)(`one key${whyNoServer}`, () => {
  it.each([
    ['a server', () => TestServer.start(configOf(MEMBERS))],
    ['a server that leaf nodes connect to', () => startHub()],
  ])(
    'of a rig keeps four connections with few subscriptions to %s, and all others connect and go on',
    async (_, start) => {
      const server = await start();
      const before = await memberAt(server.url, 'c1');
      const crowded = await crowd('rig 1', server, 60, 15);
      expect(crowded.open).toBe(4);
      expect(server.log).toContain('maximum account active connections exceeded');
      expect(server.log).toContain(MEMBERS[0].credentials.publicKey);
      const [rig, coordinator, boss] = [
        await memberAt(server.url, 'rig2'),
        await memberAt(server.url, 'c2'),
        await memberAt(server.url, 'boss'),
      ];
      const received: string[] = [];
      rig.subscribe(subjects.allWork, ({ subject }) => received.push(subject));
      boss.subscribe(subjects.reports, ({ subject }) => received.push(subject));
      coordinator.subscribe(subjects.solutionsTo('c2'), ({ reply = '' }) =>
        coordinator.publish(reply, bytes('verdict')),
      );
      await settled(rig, subjects.hello('nobody', 'rig2'));
      await settled(boss, subjects.control('nobody', 'boss'));
      await settled(coordinator, subjects.hello('nobody', 'c2'));
      before.publish(subjects.work('c1'), bytes(''));
      coordinator.publish(subjects.work('c2'), bytes(''));
      rig.publish(subjects.report('rig2'), bytes(''));
      await until(() => expect(received).toHaveLength(3));
      const verdict = await rig.request(subjects.solution('c2', 'rig2'), bytes(''), 60_000, never);
      expect(new TextDecoder().decode(verdict)).toBe('verdict');
      expect(before.state.isConnected).toBe(true);
    },
  );

  it('has few subscriptions on a server that leaf nodes connect to, and on a leaf node', async () => {
    const hub = await startHub();
    for (const server of [hub, await TestServer.start(leafOf(hub))]) {
      const { refusals } = await crowd('rig 1', server, 1, 0);
      expect(refusals).not.toMatch(/maximum subscriptions exceeded/);
      const crowded = await crowd('rig 1', server, 1, 17);
      await until(() => expect(crowded.refusals).toMatch(/maximum subscriptions exceeded/i));
    }
  });

  it('of operators leaves the coordinators alone', async () => {
    const server = await TestServer.start(configOf(MEMBERS));
    const crowded = await crowd('boss', server, 60, 15);
    expect(crowded.open).toBe(32);
    await memberAt(server.url, 'c1');
  });

  it('counts at all servers of a cluster together', async () => {
    const cluster = (servers: readonly string[]) =>
      TestServer.start(
        ({ client, route }) =>
          configOf(MEMBERS, { cluster: { listen: `127.0.0.1:${route}`, servers, secret: SECRET } })({ client }),
        ['client', 'route'],
      );
    const first = await cluster([]);
    const second = await cluster([`127.0.0.1:${first.ports.route}`]);
    const [one, other] = [await crowd('rig 1', first, 3, 1), await crowd('rig 1', second, 3, 1)];
    // A server ends connections when it learns of those at the other one.
    await until(() => expect(one.open + other.open).toBeLessThanOrEqual(4));
  });

  it('that others use is told to the rig whose it is', async () => {
    const server = await TestServer.start(configOf(MEMBERS));
    const crowded = await crowd('rig 1', server, 4, 1);
    const { link } = openMember(server.url, 'rig 1');
    expect(await disconnected(link, /too many/)).toBe(
      `${server.url} takes no further connection with this member’s key: it has too many. If this member runs once, ` +
        'others use its key, or that of a member which shares its account: let the fleet’s operator revoke it.',
    );
    expect(crowded.open).toBe(4);
  });
});

describe.skipIf(noServer)(`members of different accounts${whyNoServer}`, () => {
  it('reach a rig that is added while the servers run, and all others stay connected', async () => {
    const without = MEMBERS.filter(({ name }) => name !== 'rig2');
    const server = await TestServer.start(configOf(without));
    const links = await Promise.all(['rig 1', 'c1', 'boss'].map((name) => memberAt(server.url, name)));
    const [rig, coordinator, boss] = links;
    const states: boolean[] = [];
    for (const link of links) link.onState(({ isConnected }) => states.push(isConnected));
    const received: string[] = [];
    coordinator.subscribe(subjects.reports, ({ subject }) => received.push(`c1 ${subject}`));
    coordinator.subscribe(subjects.hellosTo('c1'), ({ reply = '' }) => coordinator.publish(reply, bytes('work')));
    boss.subscribe(subjects.reports, ({ subject }) => received.push(`boss ${subject}`));
    await settled(coordinator, subjects.hello('nobody', 'c1'));
    await settled(boss, subjects.control('nobody', 'boss'));
    await server.reconfigure(configOf(MEMBERS));
    await until(() => expect(server.log).toMatch(/Reloaded server configuration/));
    const added = await memberAt(server.url, 'rig2');
    added.subscribe(subjects.controlsTo('rig2'), ({ reply = '' }) => added.publish(reply, bytes('done')));
    await settled(added, subjects.hello('nobody', 'rig2'));
    for (const [link, name] of [
      [rig, 'rig 1'],
      [added, 'rig2'],
    ] as const) {
      link.publish(subjects.report(name), bytes(''));
      const work = await link.request(subjects.hello('c1', name), bytes(''), 60_000, never);
      expect(new TextDecoder().decode(work)).toBe('work');
    }
    const answer = await boss.request(subjects.control('rig2', 'boss'), bytes(''), 60_000, never);
    expect(new TextDecoder().decode(answer)).toBe('done');
    await until(() => expect(received).toHaveLength(4));
    const both = ['boss', 'c1'].flatMap((name) => ['rig 1', 'rig2'].map((each) => `${name} ${subjects.report(each)}`));
    expect(received.sort()).toEqual(both.sort());
    expect(states).toEqual([]);
  });

  it('reach each other by way of a leaf node, also when it connects again', async () => {
    const hub = await startHub();
    const leaf = await TestServer.start(leafOf(hub));
    const [coordinator, boss] = [await memberAt(hub.url, 'c1'), await memberAt(hub.url, 'boss')];
    const reported: string[] = [];
    coordinator.subscribe(subjects.solutionsTo('c1'), ({ reply = '' }) => coordinator.publish(reply, bytes('verdict')));
    coordinator.subscribe(subjects.reports, () => reported.push('c1'));
    boss.subscribe(subjects.reports, () => reported.push('boss'));
    const rig = await memberAt(leaf.url, 'rig 1');
    rig.subscribe(subjects.controlsTo('rig 1'), ({ reply = '' }) => rig.publish(reply, bytes('done')));
    for (const isAgain of [false, true]) {
      if (isAgain) {
        await leaf.kill();
        await disconnected(rig);
        await leaf.restart();
        await connected(rig);
      }
      const ask = async (link: NatsLink, subject: string) => {
        let answer: Uint8Array | undefined;
        // The servers tell each other of subscriptions a moment later.
        while (!answer) answer = await link.request(subject, bytes(''), 60_000, never).catch(() => undefined);
        return new TextDecoder().decode(answer);
      };
      expect(await ask(rig, subjects.solution('c1', 'rig 1'))).toBe('verdict');
      expect(await ask(boss, subjects.control('rig 1', 'boss'))).toBe('done');
      reported.length = 0;
      rig.publish(subjects.report('rig 1'), bytes(''));
      await until(() => expect(reported).toHaveLength(2));
      await settled(rig, subjects.hello('nobody', 'rig 1'));
      expect(reported.sort()).toEqual(['boss', 'c1']);
    }
  });

  it('of a rig receive nothing of other rigs', async () => {
    const server = await TestServer.start(configOf(MEMBERS));
    const [rig, other, coordinator] = await Promise.all(
      ['rig 1', 'rig2', 'c1'].map((name) => memberAt(server.url, name)),
    );
    const received: string[] = [];
    other.subscribe(`${subjects.inbox('rig2')}.a.*`, ({ subject }) => received.push(subject));
    await settled(other, subjects.hello('nobody', 'rig2'));
    coordinator.publish(`${subjects.inbox('rig 1')}.a.b`, bytes(''));
    rig.publish(`${subjects.inbox('rig2')}.a.b`, bytes(''));
    await settled(rig, subjects.hello('nobody', 'rig 1'));
    coordinator.publish(`${subjects.inbox('rig2')}.a.b`, bytes(''));
    await until(() => expect(received).toEqual([`${subjects.inbox('rig2')}.a.b`]));
  });
});

describe('the accounts of rigs', () => {
  const rigs = (count: number) =>
    Array.from({ length: count }, (_, number) => ({
      name: `rig${number}`,
      role: 'rig' as const,
      number,
      publicKey: `U${`${number}`.padStart(55, 'A')}`,
    }));
  const accountsIn = (members: ReturnType<typeof rigs>) => {
    const text = serverConfig({ subject: 'pickaxe', members, listen: '127.0.0.1:4222' });
    const found = text.matchAll(/^ {2}(rigs-\d+) \{\n {4}limits \{ max_connections: (\d+),[\s\S]*?^ {2}\}/gm);
    return new Map(
      [...found].map(([whole, name, limit]) => [name, { limit, keys: [...whole.matchAll(/nkey: (\w+)/g)] }]),
    );
  };

  it('have one rig each, and from two hundred on as few as they can', () => {
    expect([...accountsIn(rigs(200)).values()].map(({ limit, keys }) => [limit, keys.length])).toEqual(
      Array.from({ length: 200 }, () => ['4', 1]),
    );
    const many = [...accountsIn(rigs(1_001)).values()].map(({ limit, keys }) => [limit, keys.length]);
    expect(many).toEqual([['24', 6], ...Array.from({ length: 199 }, () => ['20', 5])]);
  });

  it('keep their rigs when others are revoked', () => {
    const members = rigs(500);
    const of = (some: typeof members) =>
      new Map([...accountsIn(some)].flatMap(([name, { keys }]) => keys.map(([, key]) => [key, name] as const)));
    const before = of(members);
    const left = members.filter(({ number }) => number % 3 > 0);
    expect(of(left)).toEqual(new Map(left.map(({ publicKey }) => [publicKey, before.get(publicKey)])));
  });

  it('add up to no more connections than a server takes', () => {
    const text = serverConfig({ subject: 'pickaxe', members: rigs(20_000), listen: '127.0.0.1:4222' });
    const [server = 0] = [...text.matchAll(/^max_connections: (\d+)/gm)].map(([, number]) => Number(number));
    expect(server).toBeGreaterThan(20_000 * 4);
  });
});
