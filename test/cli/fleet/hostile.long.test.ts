/** A rig between an honest coordinator and one that sends whatever could harm it, over a real server. */

import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { givenWorkOf, messageBytes } from '#pickaxe/fleet/messages.js';
import type { NatsLink } from '#pickaxe/fleet/nats/nats-link.js';
import { fleetLimits } from '#pickaxe/fleet/rig/rig-limits.js';
import { NO_NONCE1 } from '#pickaxe/protocol/chain/nonce.js';
import { parseWork, type Work, type WorkTerms } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { connect } from '../../fleet/nats/links.ts';
import { noServer, TestServer, whyNoServer } from '../../fleet/nats/server.ts';
import { FakeCoordinator, SUBJECTS } from '../../fleet/rig/world.ts';
import { PATIENCE } from '../../patience.ts';
import { start } from '../pickaxe.ts';

type Coordinator = FakeCoordinator<NatsLink>;

/** A CPU thread finds a solution of such a work in a fraction of a second. */
const EASY = 100_000;
const NEVER_SOLVED = 1e60;
const EVERY_HASH = new Uint8Array(32).fill(0xff);
const NO_HASH = new Uint8Array(32);
/** Bounds of what a rig may write and how far it may grow, several times what it needs for the messages here. */
const MOST_LINES = 200;
const MOST_GROWTH_KB = 100_000;

async function coordinator(url: string, name: string): Promise<Coordinator> {
  const { link } = await connect([url], name, { inbox: SUBJECTS.inbox(name) });
  const made = new FakeCoordinator<NatsLink>({ link: () => link }, name);
  onTestFinished(() => made.freeze());
  return made;
}

/** @param time the creation time of its header, in µs */
function hostileWork(target: Uint8Array, terms: Partial<WorkTerms> = {}, chain = 7, time?: bigint): Work {
  const { header } = makeWork(1);
  const record = new Uint8Array(322);
  const view = new DataView(record.buffer);
  view.setUint32(0, chain, true);
  record.set(target, 4);
  record.set(header, 36);
  record.set(target, 36 + 158);
  if (time !== undefined) view.setBigUint64(36 + 8, time, true);
  return parseWork(record, terms);
}

function sendWrongLength(evil: Coordinator, bytes: number): void {
  const given = { ...givenWorkOf(makeWork(EASY), `${evil.instance}-999`), record: 'ab'.repeat(bytes) };
  const state = { ...evil.state(false), work: given.name, given };
  evil.link.publish(SUBJECTS.work(evil.name), messageBytes(state));
}

/** Gives a work that can be solved, as often as it takes, until the rig has sent a solution of it. */
async function solved(by: Coordinator, work = makeWork(EASY)): Promise<void> {
  by.give(work);
  const name = by.names.get(work);
  await vi.waitFor(() => {
    by.publish(true);
    expect(by.requests.map(({ request }) => request.work)).toContain(name);
  }, PATIENCE);
}

const residentKb = (id: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]);

it.skipIf(noServer)(
  `a hostile coordinator neither ends nor floods a rig, which then mines for an honest one${whyNoServer}`,
  async () => {
    const { url } = await TestServer.start();
    // Of these names, this rig prefers the first.
    const evil = await coordinator(url, 'a');
    const honest = await coordinator(url, 'c');
    honest.answer = () => ({ state: 'verdict', outcome: 'accepted', reason: 'by an honest node' });
    const rig = start(['mine', '--nats', url, '--rig-name', 'rig1', '--devices', 'cpu', '--threads', '1', '--json']);
    onTestFinished(async () => {
      rig.child.kill('SIGKILL');
      await rig.code;
    });
    const isLinux = process.platform === 'linux';
    await solved(evil);
    const beforeKb = isLinux ? residentKb(rig.child.pid!) : 0;

    for (let i = 0; i < 60; i++) {
      evil.give(hostileWork(NO_HASH, {}, i * 7_919));
      evil.give(hostileWork(EVERY_HASH, { nonce1: { value: i, bytes: 2 }, rollTime: i % 2 === 0 }));
      evil.give(hostileWork(EVERY_HASH, { until: 'solved' }, 7, i % 2 === 0 ? 2n ** 64n - 1n : 2n ** 63n - 1n));
      evil.give(makeWork(i % 2 === 0 ? 1 : NEVER_SOLVED, { nonce1: i % 2 === 0 ? NO_NONCE1 : { value: i, bytes: 1 } }));
      sendWrongLength(evil, 5 * i);
    }
    evil.aheadMicros = Number.MAX_SAFE_INTEGER - 2 * Date.now() * 1000;
    await solved(evil);

    // Every hash is a solution, and none gets a verdict.
    evil.answer = () => undefined;
    const easiest = evil.give(hostileWork(EVERY_HASH, { until: 'replaced' }));
    const unsent = () => rig.events('verdict').filter(({ reason }) => String(reason).endsWith('not sent'));
    await vi.waitFor(() => expect(unsent()).not.toEqual([]), PATIENCE);
    const unanswered = evil.requests.filter(({ request }) => request.work === evil.names.get(easiest));
    expect(new Set(unanswered.map(({ request }) => request.header)).size).toBeLessThanOrEqual(fleetLimits.mostWaiting);

    evil.end(easiest, 'new-cut');
    for (let i = 0; i < 50; i++) evil.end(evil.give(makeWork(1)), 'new-cut');
    // States still come from the hostile one and from the rig's preferred one, which has no work now.
    await solved(honest);
    const honestAnswer = expect.objectContaining({ outcome: 'accepted', reason: 'by an honest node' });
    await vi.waitFor(() => expect(rig.events('verdict')).toContainEqual(honestAnswer), PATIENCE);

    expect(rig.child.exitCode).toBeNull();
    expect(rig.stderr).not.toContain('Warning');
    expect(rig.stderr.split('\n').length).toBeLessThan(MOST_LINES);
    if (isLinux) expect(residentKb(rig.child.pid!) - beforeKb).toBeLessThan(MOST_GROWTH_KB);
  },
);
