/** How a rig delivers solutions: to whom, how often, and what it makes of the answers. */

import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { messageBytes, type SolutionRefusal } from '#pickaxe/fleet/messages.js';
import type { Verdict } from '#pickaxe/miner/source/source.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import type { Work, WorkTerms } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { mine } from '../../miner/source/follow.ts';
import { type FakeCoordinator, pass, SUBJECTS, world } from './world.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** How many solutions may wait, where a test brings about that many. */
const MOST_WAITING = 24;

/** A rig that mines the work of the first coordinator. */
async function mining(...names: string[]) {
  return await miningOn({}, ...names);
}

/** The same, on a work with such terms. */
async function miningOn(terms: Partial<WorkTerms>, ...names: string[]) {
  const made = world(names);
  for (const each of made.coordinators) each.give(makeWork(100, terms));
  await pass(1_000);
  const [work] = made.follower.received;
  const verdicts: Verdict[] = [];
  const send = (lane = 0) => {
    void made.source.submit(mine(work, lane), made.follower.stop).then((verdict) => verdicts.push(verdict));
  };
  return { ...made, work, verdicts, send };
}

/** How the requests came to each of the coordinators. */
function ways(coordinators: readonly FakeCoordinator[]): string[] {
  return coordinators.flatMap(({ name, requests }) =>
    requests.map(({ isFallback }) => `${name}${isFallback ? ' fallback' : ''}`),
  );
}

/** Lets time pass until there is a verdict, but no longer than so many seconds. */
async function answered(verdicts: readonly Verdict[], seconds = 20): Promise<void> {
  for (let i = 0; i < seconds && verdicts.length === 0; i++) await pass(1_000);
}

const verdict = (outcome: Verdict['outcome'], reason = '') => ({ state: 'verdict', outcome, reason }) as const;
const refused = (code: SolutionRefusal) => ({ state: 'refused', code, reason: `it is ${code}` }) as const;

it('sends the whole header to the coordinator that gave the work, and tells who answered', async () => {
  const { coordinators, verdicts, send, work, follower } = await mining('a', 'c');
  send();
  await pass(10);
  expect(verdicts).toEqual([{ outcome: 'accepted', reason: '', by: 'a’s node' }]);
  expect(ways(coordinators)).toEqual(['a']);
  const [{ request }] = coordinators[0].requests;
  expect(request).toMatchObject({ coordinator: 'a', header: Buffer.from(mine(work).header).toString('hex') });
  // The miner gets other work once the first attempt has ended.
  expect(follower.of('stale')).toMatchObject([{ reason: 'solved', works: [work] }]);
});

it('lets only so many solutions wait for a coordinator that does not answer, and further ones once it does', async () => {
  const { coordinators, source, follower } = world(['a'], { mostWaiting: MOST_WAITING });
  const [a] = coordinators;
  a.answer = () => ({ state: 'pending' });
  a.give(makeWork(2, { until: 'replaced' }));
  await pass(1_000);
  const [work] = follower.received;
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const send = (lane: number) => source.submit(mine(work, lane), signal);
  const waiting = Array.from({ length: MOST_WAITING }, (_, lane) => send(lane));
  expect(await send(MOST_WAITING)).toMatchObject({ outcome: 'stale', reason: expect.stringContaining('not sent') });
  await pass(1_000);
  expect(new Set(a.requests.map(({ request }) => request.header)).size).toBe(MOST_WAITING);
  a.answer = () => verdict('accepted');
  await pass(1_000);
  expect(new Set((await Promise.all(waiting)).map(({ outcome }) => outcome))).toEqual(new Set(['accepted']));
  expect(await send(MOST_WAITING)).toMatchObject({ outcome: 'accepted' });
});

it('ends a work with a solution that is not sent, because too many wait', async () => {
  const { coordinators, source, follower } = world(['a'], { mostWaiting: MOST_WAITING });
  const [a] = coordinators;
  a.answer = () => ({ state: 'pending' });
  a.give(makeWork(2, { until: 'replaced' }));
  await pass(1_000);
  const [share] = follower.received;
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  for (let lane = 0; lane < MOST_WAITING; lane++) void source.submit(mine(share, lane), signal);
  a.give(makeWork(100));
  await pass(1_000);
  const work = follower.received.at(-1) as Work;
  expect(await source.submit(mine(work), signal)).toMatchObject({ outcome: 'stale' });
  await pass(0);
  expect(follower.of('stale')).toMatchObject([{ reason: 'solved', works: [work] }]);
});

it('keeps a work that takes many solutions', async () => {
  const { coordinators, source, follower, kinds } = world(['a']);
  coordinators[0].give(makeWork(100, { until: 'replaced' }));
  await pass(1_000);
  const [work] = follower.received;
  const answers = Promise.all([0, 1, 2].map((lane) => source.submit(mine(work, lane), follower.stop)));
  await pass(2_000);
  expect((await answers).map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted', 'accepted']);
  expect(kinds()).toEqual(['work']);
});

it('asks again as long as the solution is pending', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c');
  const [a] = coordinators;
  a.answer = () => (a.requests.length < 4 ? { state: 'pending' } : verdict('stale', 'a New Cut'));
  send();
  await pass(5_000);
  expect(ways(coordinators)).toEqual(['a', 'a', 'a', 'a']);
  // The coordinator that has submitted it knows the outcome.
  expect(verdicts).toEqual([{ outcome: 'stale', reason: 'a New Cut', by: 'a' }]);
});

it('delivers to another coordinator at once when that of the work is dead', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c');
  const [a] = coordinators;
  a.die();
  send();
  await pass(500);
  expect(ways(coordinators)).toEqual(['c']);
  expect(verdicts).toMatchObject([{ outcome: 'accepted', by: 'c’s node' }]);
});

it('asks no frozen coordinator in place of another one, though servers take it for present', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c', 'b');
  const [a, c] = coordinators;
  a.freeze();
  c.freeze();
  await pass(3_000);
  for (let lane = 0; lane < 10; lane++) send(lane);
  await pass(100);
  expect(new Set(ways(coordinators))).toEqual(new Set(['b']));
  expect(verdicts).toHaveLength(10);
});

it('asks a coordinator again that has not answered: only it knows the verdict', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c', 'b');
  const [a, c] = coordinators;
  a.die();
  c.answer = () => (c.requests.length === 1 ? undefined : verdict('accepted'));
  send();
  await answered(verdicts);
  expect(ways(coordinators)).toEqual(['c', 'c']);
  expect(verdicts).toMatchObject([{ outcome: 'accepted' }]);
});

it('asks first another coordinator whose own source is in reach', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c', 'b');
  const [a, c] = coordinators;
  a.die();
  c.lost = 'its node is away';
  c.publish();
  await pass(100);
  send();
  await pass(500);
  expect(ways(coordinators)).toEqual(['b']);
  expect(verdicts).toMatchObject([{ outcome: 'accepted' }]);
});

it('asks any coordinator where none of those in reach can submit the solution', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c', 'b');
  const [a, c, b] = coordinators;
  a.die();
  for (const each of [c, b]) {
    each.answer = (_, isFallback) => (isFallback ? verdict('accepted') : refused('unknown-work'));
  }
  send();
  await pass(10_000);
  expect(ways(coordinators).filter((way) => !way.endsWith('fallback'))).toEqual(['c', 'b']);
  expect(verdicts).toMatchObject([{ outcome: 'accepted' }]);
});

it('delivers to another coordinator within 5 s when that of the work is frozen', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c');
  const [a] = coordinators;
  a.freeze();
  a.leaveQueue();
  send();
  await pass(5_000);
  expect(ways(coordinators)).toEqual(['a', 'c']);
  expect(verdicts).toMatchObject([{ outcome: 'accepted', by: 'c’s node' }]);
});

it('asks the coordinator of the work again after a lost answer: only that one knows the verdict', async () => {
  const { link, coordinators, verdicts, send } = await mining('a', 'c');
  const [a] = coordinators;
  a.answer = () => (a.requests.length === 1 ? undefined : verdict('accepted'));
  send();
  await pass(100);
  link.disconnect();
  // So long that the rig takes the coordinator for silent.
  await pass(4_000);
  link.reconnect();
  await pass(3_000);
  expect(ways(coordinators)).toEqual(['a', 'a']);
  expect(verdicts).toMatchObject([{ outcome: 'accepted', by: 'a' }]);
});

it('does not wait for a coordinator that has died while the connection was interrupted', async () => {
  const { link, coordinators, verdicts, send } = await mining('a', 'c');
  const [a] = coordinators;
  a.answer = () => undefined;
  send();
  await pass(100);
  link.disconnect();
  a.freeze();
  a.leaveQueue();
  await pass(4_000);
  link.reconnect();
  await pass(3_000);
  expect(ways(coordinators)).toEqual(['a', 'a', 'c']);
  expect(verdicts).toMatchObject([{ outcome: 'accepted', by: 'c’s node' }]);
});

it('does not know the outcome when a coordinator calls a pending solution wrong', async () => {
  const { coordinators, verdicts, send } = await mining('a');
  const [a] = coordinators;
  a.answer = () => (a.requests.length < 2 ? { state: 'pending' } : refused('not-a-solution'));
  send();
  await pass(2_000);
  expect(verdicts).toMatchObject([{ outcome: 'unknown', reason: 'it is not-a-solution' }]);
});

it('goes on with another coordinator when the first does not know the work any more', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c');
  const [a] = coordinators;
  a.answer = () => refused('unknown-work');
  a.leaveQueue();
  send();
  await pass(2_000);
  expect(ways(coordinators)).toEqual(['a', 'c']);
  expect(verdicts).toMatchObject([{ outcome: 'accepted', by: 'c’s node' }]);
});

/** Whatever other coordinators may say of a solution that they have not delivered. */
const UNDELIVERED = [
  refused('not-mine'),
  refused('unknown-work'),
  refused('too-early'),
  refused('not-a-solution'),
  refused('wrong-message'),
  verdict('stale', 'a New Cut'),
  verdict('rejected', 'the node knows no such work'),
  verdict('unknown', 'no answer came'),
];

it.each(UNDELIVERED)(
  'keeps a solution that another coordinator answers with %j until its issuer takes it',
  async (answer) => {
    const { coordinators, verdicts, send } = await mining('a', 'c');
    const [a, c] = coordinators;
    a.leaveQueue();
    let isAway = true;
    a.answer = () => (isAway ? refused('unknown-work') : verdict('accepted'));
    c.answer = () => answer;
    send();
    await pass(60_000);
    expect(verdicts).toEqual([]);
    isAway = false;
    await pass(6_000);
    expect(verdicts).toMatchObject([{ outcome: 'accepted' }]);
  },
);

it.each([...UNDELIVERED, refused('too-many'), undefined])(
  'delivers a solution that another coordinator answers with %j to the next one',
  async (answer) => {
    const { coordinators, verdicts, send } = await mining('a', 'c', 'b');
    const [a, c] = coordinators;
    a.die();
    c.answer = () => answer;
    send();
    await answered(verdicts);
    expect(ways(coordinators)).toContain('c');
    expect(verdicts).toMatchObject([{ outcome: 'accepted', by: 'b’s node' }]);
  },
);

it.each([
  ['says that it is submitting it', { state: 'pending' }],
  ['is asked too often', refused('too-many')],
] as const)('delivers to the issuer that is back, while the only other coordinator %s', async (_, answer) => {
  const { coordinators, verdicts, send } = await mining('a', 'c');
  const [a, c] = coordinators;
  a.die();
  c.answer = () => answer;
  send();
  await pass(3_000);
  expect(ways([c])).not.toEqual([]);
  a.answer = () => verdict('accepted', 'by a');
  a.revive();
  await answered(verdicts);
  expect(verdicts).toMatchObject([{ outcome: 'accepted', reason: 'by a' }]);
});

it.each([
  ['that are there', false],
  ['that have died since', true],
])('says at the end what the other coordinators have answered: %s', async (_, dies) => {
  const { coordinators, verdicts, send } = await mining('a', 'c');
  const [a, c] = coordinators;
  a.die();
  c.leaveQueue();
  c.answer = () => verdict('rejected', 'the node knows no such work');
  send();
  await pass(10_000);
  if (dies) c.die();
  await pass(300_000);
  expect(verdicts).toMatchObject([
    { outcome: 'stale', reason: expect.stringMatching(/^gave up after \d+ attempts: the node knows no such work$/) },
  ]);
});

it('delivers to the coordinator that can submit it, though many that cannot are asked before', async () => {
  const names = Array.from({ length: 16 }, (_, i) => `c${i}`);
  const { coordinators, verdicts, send, mined } = await mining(...names);
  const able = coordinators.findLast(({ name }) => name !== mined()) as FakeCoordinator;
  for (const each of coordinators) {
    each.leaveQueue();
    if (each.name === mined()) each.die();
    else if (each !== able) each.answer = () => refused('unknown-work');
  }
  await pass(3_000);
  send();
  await pass(1_000);
  expect(verdicts).toMatchObject([{ outcome: 'accepted', by: `${able.name}’s node` }]);
});

it('waits for the first of many coordinators that is submitting it, and asks no other one', async () => {
  const names = Array.from({ length: 16 }, (_, i) => `c${i}`);
  const { coordinators, verdicts, send, mined } = await mining(...names);
  let isDone = false;
  for (const each of coordinators) {
    each.leaveQueue();
    if (each.name === mined()) each.die();
    else each.answer = () => (isDone ? verdict('accepted', `by ${each.name}`) : { state: 'pending' });
  }
  await pass(3_000);
  send();
  await pass(3_000);
  const asked = coordinators.filter(({ requests }) => requests.length > 0);
  expect(asked).toHaveLength(1);
  expect(verdicts).toEqual([]);
  isDone = true;
  await pass(1_000);
  expect(verdicts).toMatchObject([{ outcome: 'accepted', reason: `by ${asked[0].name}` }]);
});

it('asks a coordinator that could not submit it again later: it may have got another node since', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c');
  const [a, c] = coordinators;
  a.die();
  c.leaveQueue();
  c.answer = () => (c.requests.length < 3 ? refused('not-mine') : verdict('accepted'));
  send();
  await answered(verdicts, 60);
  expect(verdicts).toMatchObject([{ outcome: 'accepted' }]);
  expect(c.requests).toHaveLength(3);
});

it('warns of a block that is lost while its work lives', async () => {
  const { coordinators, verdicts, send, told } = await mining('a', 'c');
  for (const each of coordinators) each.answer = () => refused('unknown-work');
  send();
  await answered(verdicts, 400);
  expect(verdicts).toMatchObject([{ outcome: 'stale' }]);
  expect(told().join()).toMatch(/a warning: the block of chain .* is lost, because no coordinator has taken it/);
});

it('warns of no lost block where a coordinator has given a verdict', async () => {
  const { coordinators, verdicts, send, told } = await mining('a', 'c');
  for (const each of coordinators) each.answer = () => verdict('stale');
  send();
  await answered(verdicts, 60);
  expect(verdicts).toMatchObject([{ outcome: 'stale' }]);
  expect(told().join()).not.toContain('is lost');
});

it.each([
  ['share', { blockTarget: targetForDifficulty(1e15), until: 'replaced' }, false],
  ['block whose work has ended', {}, true],
] as const)('warns of no lost block where a %s is lost', async (_, terms, isEnded) => {
  const { coordinators, verdicts, send, told } = await miningOn(terms, 'a');
  const [a] = coordinators;
  a.answer = () => refused('too-early');
  send();
  await pass(1_000);
  expect(verdicts).toEqual([]);
  if (isEnded) a.end([...a.names.keys()][0], 'new-cut');
  await answered(verdicts, 400);
  expect(verdicts).toMatchObject([{ outcome: 'stale' }]);
  expect(told().join()).not.toContain('is lost');
});

const POOL: Partial<WorkTerms> = { nonce1: { value: 3, bytes: 2 }, until: 'replaced', rollTime: false };

it('sends a pool’s share to its issuer only, and says so while that is silent', async () => {
  const { coordinators, verdicts, send, follower } = await miningOn(POOL, 'a', 'c');
  const [a, c] = coordinators;
  a.die();
  await pass(3_000);
  send();
  await pass(1_000);
  const ended = follower.end();
  await pass(6_000);
  await ended;
  expect(ways([c])).toEqual([]);
  const only = 'coordinator a is silent, and only it can submit this share of its pool';
  expect(verdicts).toMatchObject([{ outcome: 'stale', reason: expect.stringContaining(only) }]);
});

it('keeps a pool’s share for a issuer that is silent for a while', async () => {
  const { coordinators, verdicts, send } = await miningOn(POOL, 'a', 'c');
  const [a] = coordinators;
  a.die();
  send();
  await pass(10_000);
  expect(verdicts).toEqual([]);
  a.answer = () => verdict('accepted');
  a.revive();
  await pass(3_000);
  expect(verdicts).toMatchObject([{ outcome: 'accepted', by: 'a' }]);
});

it('gives up a pool’s share that its issuer no longer knows: its connection to the pool has ended', async () => {
  const { coordinators, verdicts, send } = await miningOn(POOL, 'a', 'c');
  const [a] = coordinators;
  a.answer = () => refused('unknown-work');
  send();
  await pass(100);
  expect(ways(coordinators)).toEqual(['a']);
  expect(verdicts).toMatchObject([{ outcome: 'stale', reason: 'it is unknown-work', by: 'a' }]);
});

it('does not know the outcome of such a share if an answer about it was lost before', async () => {
  const { coordinators, verdicts, send } = await miningOn(POOL, 'a', 'c');
  const [a] = coordinators;
  a.answer = () => (a.requests.length === 1 ? undefined : refused('unknown-work'));
  send();
  await pass(10_000);
  expect(verdicts).toMatchObject([{ outcome: 'unknown' }]);
});

it('takes the word of a coordinator that it is no solution, and slows down where it has sent too many', async () => {
  const { coordinators, verdicts, send } = await mining('a');
  const [a] = coordinators;
  a.answer = () => (a.requests.length < 3 ? refused('too-many') : refused('not-a-solution'));
  send();
  await pass(5_000);
  expect(a.requests).toHaveLength(2);
  await pass(5_000);
  expect(verdicts).toEqual([{ outcome: 'rejected', reason: 'it is not-a-solution', by: 'a' }]);
});

it('asks the coordinator that submits it for the verdict', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c', 'b');
  const [a, c, b] = coordinators;
  a.die();
  b.leaveQueue();
  // It sends nothing, so any coordinator is asked.
  c.stopBeats();
  b.stopBeats();
  await pass(3_000);
  c.answer = (_, isFallback) => (isFallback ? { state: 'pending', coordinator: 'c' } : verdict('accepted', 'in time'));
  send();
  await pass(3_000);
  expect(ways(coordinators)).toEqual(['c fallback', 'c']);
  expect(verdicts).toMatchObject([{ outcome: 'accepted', reason: 'in time' }]);
});

it('does not believe a refusal while another coordinator may be submitting the solution', async () => {
  const { coordinators, verdicts, send } = await mining('a', 'c', 'b');
  const [a, c, b] = coordinators;
  a.die();
  b.leaveQueue();
  c.answer = () => {
    c.die();
    b.revive();
    return { state: 'pending' };
  };
  b.answer = () => verdict('rejected', 'the node knows no such work');
  send();
  await pass(310_000);
  expect(b.requests).not.toEqual([]);
  expect(verdicts).toMatchObject([{ outcome: 'unknown' }]);
});

it('keeps a solution without a connection, and delivers it after the next', async () => {
  const { link, coordinators, verdicts, send } = await mining('a', 'c');
  link.disconnect();
  send();
  await pass(200_000);
  expect(verdicts).toEqual([]);
  link.reconnect();
  await pass(1_000);
  expect(verdicts).toMatchObject([{ outcome: 'accepted' }]);
  expect(ways(coordinators)).toHaveLength(1);
});

it('gives up when nodes have forgotten the work', async () => {
  const { link, coordinators, verdicts, send } = await mining('a');
  link.disconnect();
  send();
  await pass(310_000);
  expect(verdicts).toMatchObject([{ outcome: 'stale' }]);
  expect(verdicts[0].reason).toMatch(/^gave up after \d+ attempts: .*there is no connection$/);
  expect(ways(coordinators)).toEqual([]);
});

it('gives up so long after its work was last confirmed, not after it was given', async () => {
  const { link, verdicts, send } = await mining('a');
  await pass(400_000);
  link.disconnect();
  await pass(100_000);
  send();
  await pass(190_000);
  expect(verdicts).toEqual([]);
  await pass(20_000);
  expect(verdicts).toMatchObject([{ outcome: 'stale' }]);
});

it('tries for ten seconds at least, though its work is about to be too old', async () => {
  const { link, coordinators, verdicts, send } = await mining('a');
  link.disconnect();
  await pass(299_000);
  send();
  await pass(9_000);
  expect(verdicts).toEqual([]);
  await pass(2_000);
  expect(verdicts).toMatchObject([{ outcome: 'stale', reason: expect.stringContaining('gave up after') }]);
  expect(ways(coordinators)).toEqual([]);
});

it('does not know the outcome when no answer comes', async () => {
  const { coordinators, verdicts, send } = await mining('a');
  coordinators[0].answer = () => undefined;
  send();
  await pass(310_000);
  expect(verdicts).toMatchObject([{ outcome: 'unknown' }]);
});

it('gives up a solution whose work has ended before anybody could get it', async () => {
  const { nats, coordinators, verdicts, send, work } = await mining('a');
  const [a] = coordinators;
  nats.permits = (by, _, subject) => by.name !== 'rig1' || !/solution|fallback/.test(subject);
  send();
  await pass(3_000);
  expect(verdicts).toEqual([]);
  const given = [...a.names.keys()].find((each) => Buffer.from(each.header).equals(Buffer.from(work.header)));
  a.end(given!, 'new-cut');
  await pass(3_000);
  expect(verdicts).toMatchObject([{ outcome: 'stale' }]);
  expect(verdicts[0].reason).toMatch(/^its work ended before a coordinator could be reached: /);
});

it('settles soon after the miner was stopped', async () => {
  const { coordinators, verdicts, send, follower } = await mining('a');
  coordinators[0].answer = () => undefined;
  send();
  await pass(100);
  const ended = follower.end();
  await pass(5_000);
  await ended;
  expect(verdicts).toMatchObject([{ outcome: 'unknown', reason: expect.stringContaining('gave up after') }]);
});

it('makes the answers of coordinators safe to show', async () => {
  const { coordinators, verdicts, send } = await mining('a');
  const [a] = coordinators;
  a.answer = () => verdict('rejected', `no\u001b[31m\n${'x'.repeat(900)}`);
  send();
  await pass(100);
  expect(verdicts[0].reason).toHaveLength(300);
  expect(verdicts[0].reason.startsWith('no [31m x')).toBe(true);
});

it('does not know the outcome when something answers that is no answer', async () => {
  const { nats, coordinators, verdicts, send } = await mining('a');
  const [a] = coordinators;
  a.answer = () => undefined;
  a.link.subscribe(SUBJECTS.solutionsTo('a'), ({ reply }) => a.link.publish(reply!, messageBytes({ state: 'done' })));
  nats.delivers = ({ subject }) => !subject.includes('fallback');
  send();
  await pass(310_000);
  expect(verdicts).toMatchObject([{ outcome: 'unknown' }]);
});

it('survives a coordinator that names another one with half a character', async () => {
  const { nats, coordinators, verdicts, send } = await mining('a');
  const [a] = coordinators;
  a.answer = () => undefined;
  // Half of a surrogate pair: JSON can say it, UTF-8 and subjects cannot.
  const answer = new TextEncoder().encode('{"state":"pending","coordinator":"\\ud800"}');
  a.link.subscribe(SUBJECTS.solutionsTo('a'), ({ reply }) => a.link.publish(reply!, answer));
  nats.delivers = ({ subject }) => !subject.includes('fallback');
  send();
  await pass(310_000);
  expect(verdicts).toMatchObject([{ outcome: 'unknown' }]);
});
