/** What a link warns of, and how often, at a machine that pretends to be a server. */

import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { NatsLink } from '#pickaxe/fleet/nats/nats-link.js';
import { connected } from './links.ts';
import { info, pretend } from './pretended-server.ts';

const LONG = new Uint8Array(11);

/** A link to a server that takes ten bytes at most, on a clock that the test moves. */
async function linked(warn?: (message: string) => void) {
  const { url } = await pretend((socket) => {
    socket.write(info({ max_payload: 10 }));
    socket.on('data', (chunk) => void (chunk.includes('PING') && socket.write('PONG\r\n')));
  });
  const time = { ms: 0 };
  const clock = { ...systemClock, monotonicMs: () => time.ms };
  const settings = { servers: [url], name: 'member', inbox: 'pickaxe.inbox.member' };
  const link = new NatsLink(settings, { clock, random: Math.random, ...(warn && { warn }) });
  onTestFinished(() => link.close());
  link.open();
  await connected(link);
  return { link, time };
}

it('a message that is too long is not sent, which a link says ten times and then once in ten seconds', async () => {
  const warnings: string[] = [];
  const { link, time } = await linked((message) => warnings.push(message));
  const publish = (count: number) => {
    for (let i = 0; i < count; i++) expect(link.publish('a.b', LONG)).toBe(false);
    return warnings.length;
  };
  expect(link.publish('a.b', LONG.subarray(1))).toBe(true);
  expect([publish(1), publish(20)]).toEqual([1, 10]);
  expect(warnings[0]).toMatch(/^A message to a\.b was not sent: .+\.$/);
  time.ms += 9_000;
  expect(publish(5)).toBe(10);
  time.ms += 1_000;
  expect(publish(5)).toBe(11);
  time.ms += 30_000;
  expect(publish(5)).toBe(14);
});

it('a link without anybody to warn goes on after a message that is too long', async () => {
  const { link } = await linked();
  for (const _ of [1, 2]) expect(link.publish('a.b', LONG)).toBe(false);
  expect(link.publish('a.b', LONG.subarray(1))).toBe(true);
});
