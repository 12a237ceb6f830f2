/** When a link tries its servers again, by a clock that the test moves. */

import type { Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { LinkState } from '#pickaxe/fleet/nats/link.js';
import { NatsLink } from '#pickaxe/fleet/nats/nats-link.js';
import { turnsUntil } from '../../turns.ts';
import { info, pretend } from './pretended-server.ts';

/** A server that ends each connection at once. @returns its URL, and how many connections have begun and ended */
async function closing() {
  let ended = 0;
  const { url, connections } = await pretend((socket) => {
    socket.on('close', () => ended++);
    socket.end();
  });
  return { url, connections, ended: () => ended };
}

/** Opens a link whose random numbers are all one half. @returns it, and its states */
function open(servers: readonly string[]) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const settings = { servers, name: 'member', inbox: 'pickaxe.inbox.member' };
  const link = new NatsLink(settings, { clock: systemClock, random: () => 0.5 });
  const states: LinkState[] = [];
  link.onState((state) => states.push(state));
  link.open();
  onTestFinished(async () => {
    await link.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
  return { link, states };
}

it('a link waits a moment between two servers, and tells of a server that stays away once', async () => {
  const [one, other] = [await closing(), await closing()];
  const { states } = open([one.url, other.url]);
  const reason = (url: string) => ({
    isConnected: false,
    reason: `${url} cannot be used: the server has closed the connection.`,
  });
  await turnsUntil(() => states.length === 1 && vi.getTimerCount() === 1);
  expect([one.connections(), other.connections()]).toEqual([1, 0]);
  vi.advanceTimersByTime(124);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1);
  await turnsUntil(() => states.length === 2 && vi.getTimerCount() === 1);
  expect([one.connections(), other.connections()]).toEqual([1, 1]);
  expect(states).toEqual([reason(one.url), reason(other.url)]);
});

it('a link tells once why its only server is away, and again only when the reason changes', async () => {
  const server = await closing();
  const { link, states } = open([server.url]);
  for (let attempt = 1; attempt <= 4; attempt++) {
    await turnsUntil(() => server.ended() === attempt && vi.getTimerCount() === 1);
    // The pause after the attempt, and the one before the next round.
    vi.advanceTimersByTime(125);
    await turnsUntil(() => vi.getTimerCount() === 1);
    expect(server.connections()).toBe(attempt);
    vi.advanceTimersByTime(10_000);
  }
  await turnsUntil(() => server.connections() === 5);
  expect(states).toHaveLength(1);
  await link.close();
  await link.close();
  expect(states.slice(1)).toEqual([{ isConnected: false, reason: 'The connection was closed.' }]);
});

it('a link waits ever longer while it is refused, and begins anew after a good connection', async () => {
  const pauses: number[] = [];
  let nowMs = 0;
  const clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    setTimeout: (act: () => void, ms: number) => {
      pauses.push(ms);
      return systemClock.setImmediate(act);
    },
  };
  const refuse = (socket: Socket) => socket.end("-ERR 'Authorization Violation'\r\n");
  const beGood = (socket: Socket) => {
    nowMs += 10_000;
    socket.end('PONG\r\n');
  };
  const acts = [...Array(5).fill(refuse), beGood, refuse, () => {}];
  const { url } = await pretend((socket) => {
    socket.write(info());
    const act = acts.shift();
    socket.once('data', () => act?.(socket));
  });
  const settings = { servers: [url], name: 'member', inbox: 'pickaxe.inbox.member' };
  const link = new NatsLink(settings, { clock, random: () => 0.5 });
  onTestFinished(() => link.close());
  link.open();
  await turnsUntil(() => acts.length === 0);
  const refused = [3_750, 7_500, 15_000, 30_000, 45_000];
  expect(pauses).toEqual([...refused.flatMap((ms) => [125, ms]), 125, 375, 125, 3_750]);
});

it('a link begins its subscriptions anew on each connection, except for those that have ended', async () => {
  const sockets: Socket[] = [];
  const { url, received } = await pretend((socket) => {
    sockets.push(socket);
    socket.write(info());
    socket.on('data', (data) => {
      if (data.includes('PING')) socket.write('PONG\r\n');
    });
  });
  const { link, states } = open([url]);
  const times = (subject: string) => received().toString().split(`SUB ${subject} `).length - 1;
  const end = link.subscribe('ended', () => {});
  link.subscribe('kept', () => {});
  await turnsUntil(() => states.at(-1)?.isConnected === true && times('kept') === 1);
  end();
  sockets[0].destroy();
  await turnsUntil(() => {
    vi.advanceTimersByTime(100);
    return times('kept') === 2;
  });
  expect([times('kept'), times('ended')]).toEqual([2, 1]);
});
