/** What `Link` promises, of real servers and of those in memory. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Link, LinkError, LinkMessage } from '#pickaxe/fleet/nats/link.js';
import { FakeNats } from './fake-nats.ts';
import { connect } from './links.ts';
import { noServer, TestServer, whyNoServer } from './server.ts';

interface World {
  /** @returns a link that is connected */
  link(name: string): Promise<Link>;
  /** Ends all connections, and lets none be made. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

async function realWorld(): Promise<World> {
  const server = await TestServer.start();
  onTestFinished(() => server.stop());
  return {
    link: async (name) => (await connect([server.url], name)).link,
    cut: () => server.kill(),
    mend: () => server.restart(),
  };
}

async function fakeWorld(): Promise<World> {
  const nats = new FakeNats();
  return {
    link: async (name) => nats.link(name),
    cut: async () => {
      for (const link of nats.links) link.disconnect();
    },
    mend: async () => {
      for (const link of nats.links) link.reconnect();
    },
  };
}

const WORLDS = [
  { name: `real servers${whyNoServer}`, make: realWorld, missing: noServer },
  { name: 'servers in memory', make: fakeWorld, missing: false },
];

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);
const never = new AbortController().signal;
const PATIENCE = { timeout: 60_000, interval: 10 };
const until = (check: () => void) => vi.waitFor(check, PATIENCE);
const faultOf = (request: Promise<unknown>) => request.then(String, (fault: LinkError) => fault.fault);

/** @returns the subjects and texts that the link gets from now on, once the subscription is known to be in effect */
async function listen(link: Link, subject: string, queue?: string): Promise<string[]> {
  const recorded: string[] = [];
  link.subscribe(subject, (message) => recorded.push(`${message.subject} ${text(message.data)}`), queue);
  await roundTrip(link);
  return recorded;
}

let trips = 0;
/** The server takes what a link sends in its order: when this message has come back, all before it is in effect. */
async function roundTrip(link: Link): Promise<void> {
  let isBack = false;
  const subject = `trip.${++trips}`;
  const end = link.subscribe(subject, () => {
    isBack = true;
  });
  link.publish(subject, bytes(''));
  await until(() => expect(isBack).toBe(true));
  end();
}

describe.each(WORLDS)('a link to $name', ({ make, missing }) => {
  it.skipIf(missing)('carries messages in their order to everybody who has subscribed', async () => {
    const world = await make();
    const [one, two, three] = [await world.link('one'), await world.link('two'), await world.link('three')];
    const recorded = [await listen(two, 'a.*'), await listen(three, 'a.>'), await listen(three, 'a.*.c')];
    for (const subject of ['a.b', 'a.b.c', 'a', 'b.b', 'a.x']) expect(one.publish(subject, bytes(subject))).toBe(true);
    await until(() => expect(recorded[1]).toHaveLength(3));
    await roundTrip(two);
    expect(recorded).toEqual([['a.b a.b', 'a.x a.x'], ['a.b a.b', 'a.b.c a.b.c', 'a.x a.x'], ['a.b.c a.b.c']]);
  });

  it.skipIf(missing)('gives a message to one member of a queue group, also when their patterns differ', async () => {
    const world = await make();
    const members = [await world.link('one'), await world.link('two')];
    const recorded = [await listen(members[0], 'work.*', 'group'), await listen(members[1], 'work.>', 'group')];
    const all = await listen(members[0], 'work.*');
    const sender = await world.link('sender');
    for (let i = 0; i < 40; i++) sender.publish(`work.${i}`, bytes(''));
    await until(() => expect(all).toHaveLength(40));
    await until(() => expect(recorded.flat()).toHaveLength(40));
    expect(new Set(recorded.flat()).size).toBe(40);
    expect(recorded.map(({ length }) => length > 0)).toEqual([true, true]);
  });

  it.skipIf(missing)('ends a subscription', async () => {
    const world = await make();
    const link = await world.link('one');
    const recorded: string[] = [];
    const end = link.subscribe('a', (message) => recorded.push(text(message.data)));
    link.publish('a', bytes('1'));
    await until(() => expect(recorded).toEqual(['1']));
    end();
    end();
    link.publish('a', bytes('2'));
    await roundTrip(link);
    expect(recorded).toEqual(['1']);
  });

  it.skipIf(missing)('answers requests: the first answer counts', async () => {
    const world = await make();
    const [asker, server] = [await world.link('asker'), await world.link('server')];
    const replies: string[] = [];
    server.subscribe('question.*', ({ reply = '', data }: LinkMessage) => {
      replies.push(reply);
      server.publish(reply, bytes(`${text(data)}!`));
      server.publish(reply, bytes('second'));
    });
    await roundTrip(server);
    const asked = ['a', 'b', 'c'].map((each) => asker.request(`question.${each}`, bytes(each), 60_000, never));
    expect((await Promise.all(asked)).map(text)).toEqual(['a!', 'b!', 'c!']);
    expect(replies.every((each) => each.startsWith('pickaxe.inbox.asker.'))).toBe(true);
    expect(new Set(replies).size).toBe(3);
  });

  it.skipIf(missing)('an empty answer is an answer', async () => {
    const world = await make();
    const link = await world.link('one');
    link.subscribe('q', ({ reply = '' }) => link.publish(reply, bytes('')));
    expect(await link.request('q', bytes(''), 60_000, never)).toHaveLength(0);
  });

  it.skipIf(missing)('says why a request has failed', async () => {
    const world = await make();
    const link = await world.link('one');
    expect(await faultOf(link.request('nobody', bytes(''), 60_000, never))).toBe('no-responders');
    link.subscribe('silent', () => {});
    expect(await faultOf(link.request('silent', bytes(''), 50, never))).toBe('timeout');
    const stop = new AbortController();
    const stopped = link.request('silent', bytes(''), 60_000, stop.signal);
    stop.abort('enough');
    await expect(stopped).rejects.toBe('enough');
    await expect(link.request('silent', bytes(''), 60_000, stop.signal)).rejects.toBe('enough');
  });

  it.skipIf(missing)(
    'a request in flight fails when the connection ends, and none begins before the next one',
    async () => {
      const world = await make();
      const link = await world.link('one');
      let asked = 0;
      link.subscribe('silent', () => asked++);
      const fault = faultOf(link.request('silent', bytes(''), 60_000, never));
      await until(() => expect(asked).toBe(1));
      await world.cut();
      expect(await fault).toBe('timeout');
      expect(await faultOf(link.request('silent', bytes(''), 60_000, never))).toBe('disconnected');
    },
  );

  it.skipIf(missing)('sends nothing later, and has its subscriptions again after each reconnection', async () => {
    const world = await make();
    const [one, two] = [await world.link('one'), await world.link('two')];
    const states: boolean[] = [];
    one.onState(({ isConnected }) => states.push(isConnected));
    const recorded = await listen(two, 'a');
    for (const round of ['1', '2']) {
      await world.cut();
      await until(() => expect([one.state.isConnected, two.state.isConnected]).toEqual([false, false]));
      expect(one.publish('a', bytes(`lost ${round}`))).toBe(false);
      const between = await Promise.resolve(two).then((link) => {
        const found: string[] = [];
        link.subscribe('b', (message) => found.push(text(message.data)));
        return found;
      });
      await world.mend();
      await until(() => expect([one.state.isConnected, two.state.isConnected]).toEqual([true, true]));
      await roundTrip(two);
      expect(one.publish('a', bytes(round))).toBe(true);
      expect(one.publish('b', bytes(round))).toBe(true);
      await until(() => expect(between).toEqual([round]));
    }
    expect(recorded).toEqual(['a 1', 'a 2']);
    expect(states.filter((each, i) => each !== states[i - 1])).toEqual([false, true, false, true]);
  });
});
