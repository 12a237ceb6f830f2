/** What each request of a parent changes about its jobs, and what is mined then. */

import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { sharedController } from '#pickaxe/base/system/abort.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { SourceUpdate } from '#pickaxe/miner/source/source.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { difficultyOf } from '#pickaxe/protocol/chain/target.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../../fakes.ts';
import { turns } from '../../../turns.ts';
import { mine } from '../follow.ts';
import { job, makeHeader, ParentWorld, ScriptedParent, targetHex } from './parent.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
});

const GONE = 'lost: the last one has disconnected';

/** A source of parents, of which each update is told in words with the names of the jobs. */
class World extends ParentWorld {
  readonly told: string[] = [];
  readonly works: Work[] = [];
  readonly names = new Map<string, string>();
  readonly #ending = sharedController();
  readonly #following: Promise<void>;

  constructor() {
    super(systemClock);
    this.#following = this.source.follow((update) => void this.told.push(this.#tell(update)), this.#ending.signal);
    onTestFinished(() => this.end());
  }

  async end(): Promise<void> {
    this.#ending.abort();
    const ended = this.#following.then(() => true);
    await turns();
    await vi.advanceTimersByTimeAsync(10_000);
    await ended;
  }

  /** A job message with a header of its own. */
  job(id: string, more: object = {}, name = id) {
    const header = makeHeader(1_000);
    this.names.set(toHex(header), name);
    return job(id, header, { target: targetHex(100), ...more });
  }

  /** @returns what has been told since the last call */
  async news(): Promise<string[]> {
    await turns();
    return this.told.splice(0);
  }

  #tell(update: SourceUpdate): string {
    if (update.kind === 'work') {
      this.works.push(update.work);
      return `mine ${this.#nameOf(update.work)}`;
    }
    if (update.kind === 'stale') return `${update.reason} ${update.works.map((work) => this.#nameOf(work)).join()}`;
    return update.kind === 'lost' ? `lost: ${update.reason}` : update.kind;
  }

  #nameOf({ header, target }: Work): string {
    return `${this.names.get(toHex(header))}/${Math.round(difficultyOf(target))}`;
  }
}

describe('with the jobs a and b, of which b is mined,', () => {
  const REQUESTS: [string, (world: World) => object, string[], number, string[]][] = [
    ['a cancel of a', () => ({ type: 'cancel', id: 'a' }), ['cancelled a/100'], 1, []],
    ['a cancel of b', () => ({ type: 'cancel', id: 'b' }), ['cancelled b/100', 'mine a/100'], 1, []],
    ['a cancel of another', () => ({ type: 'cancel', id: 'q' }), [], 2, ['unknown-job q']],
    ['a cancel of all', () => ({ type: 'cancel' }), ['cancelled a/100,b/100'], 0, []],
    ['another target of a', () => ({ type: 'target', id: 'a', target: targetHex(50) }), [], 2, []],
    ['another target of b', () => ({ type: 'target', id: 'b', target: targetHex(50) }), ['mine b/50'], 2, []],
    ['the same target of b', () => ({ type: 'target', id: 'b', target: targetHex(100) }), [], 2, []],
    ['a target of another', () => ({ type: 'target', id: 'q', target: targetHex(50) }), [], 2, ['unknown-job q']],
    ['a job a', (world) => world.job('a', {}, 'A'), [], 2, ['id-in-use a']],
    ['a clean job a', (world) => world.job('a', { clean: true }, 'A'), ['cancelled a/100,b/100', 'mine A/100'], 1, []],
    ['a job c', (world) => world.job('c'), ['mine c/100'], 3, []],
    ['a job c that is not clean', (world) => world.job('c', { clean: false }), ['mine c/100'], 3, []],
    ['a clean job c', (world) => world.job('c', { clean: true }), ['cancelled a/100,b/100', 'mine c/100'], 1, []],
    ['a share rate', () => ({ type: 'rate', sharesPerSecond: 1 }), [], 2, []],
    ['no share rate', () => ({ type: 'rate', sharesPerSecond: null }), [], 2, []],
    ['a ping', () => ({ type: 'ping' }), [], 2, []],
  ];

  it.each(REQUESTS)('%s is followed by what it says', async (_, request, news, jobs, errors) => {
    const world = new World();
    const parent = world.connect();
    parent.say(world.job('a'), world.job('b'));
    expect(await world.news()).toEqual(['mine a/100', 'mine b/100']);
    parent.say(request(world));
    expect(await world.news()).toEqual(news);
    parent.say({ type: 'stats' });
    await turns();
    expect(parent.of('stats').map((stats) => stats.jobs)).toEqual([jobs]);
    expect(parent.of('error').map(({ code, id, line }) => [`${code} ${id}`, line])).toEqual(
      errors.map((error) => [error, 3]),
    );
    expect(parent.wrong).toEqual([]);
  });

  it.each(REQUESTS)('%s while the parent drains gives it no further work', async (_, request) => {
    const world = new World();
    const parent = world.connect();
    parent.say(world.job('a'), world.job('b'));
    await world.news();
    const left = parent.session!.drain('drained');
    expect(await world.news()).toEqual(['rest']);
    parent.say(request(world));
    expect((await world.news()).filter((news) => !news.startsWith('cancelled'))).toEqual([]);
    parent.say({ type: 'stats' });
    await turns();
    expect(parent.of('stats')[0].jobs).toBeLessThanOrEqual(2);
    await vi.advanceTimersByTimeAsync(1_000);
    await left;
    expect((await world.news()).filter((news) => !news.startsWith('cancelled'))).toEqual([GONE]);
    expect(parent.of('bye')).toEqual([{ type: 'bye', reason: 'drained', shares: 0 }]);
  });
});

it('what devices find while a parent drains has its verdict, and further jobs are not held', async () => {
  const world = new World();
  const parent = world.connect();
  parent.say(world.job('a', { verdicts: true }));
  await world.news();
  const left = parent.session!.drain('drained');
  const verdict = world.source.submit(mine(world.works[0]), new AbortController().signal);
  await turns();
  parent.say({ type: 'verdict', share: 1, outcome: 'accepted' }, world.job('b'), { type: 'stats' }, { type: 'ping' });
  expect(await verdict).toEqual({ outcome: 'accepted', reason: '' });
  await turns();
  expect(parent.of('stats')).toMatchObject([{ jobs: 1, shares: 1 }]);
  expect(parent.of('pong')).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_000);
  await left;
  expect(parent.of('bye')).toEqual([{ type: 'bye', reason: 'drained', shares: 1 }]);
});

it('the jobs of a parent that drains end after a second, even if it does not read its goodbye', async () => {
  const world = new World();
  const parent = world.connect(new ScriptedParent(false));
  // Its answers fill what its side holds.
  for (let i = 0; i < 100; i++) parent.say({ type: 'ping', echo: 'e'.repeat(200) });
  parent.say(world.job('a'));
  await world.news();
  const left = parent.session!.drain('drained');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await world.news()).toEqual(['rest', 'cancelled a/100']);
  await vi.advanceTimersByTimeAsync(10_000);
  await left;
});

it('a job that was cancelled can come again, and its works of before stay stale', async () => {
  const world = new World();
  const parent = world.connect();
  parent.say(world.job('a'), { type: 'target', id: 'a', target: targetHex(50) }, { type: 'cancel', id: 'a' });
  expect(await world.news()).toEqual(['mine a/100', 'mine a/50', 'cancelled a/50,a/100']);
  parent.say(world.job('a', {}, 'A'));
  expect(await world.news()).toEqual(['mine A/100']);
  const { signal } = new AbortController();
  const outcomes = await Promise.all(world.works.map((work) => world.source.submit(mine(work), signal)));
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['stale', 'stale', 'delivered']);
  expect(await world.source.submit(mine(makeWork(100)), signal)).toEqual({
    outcome: 'unknown',
    reason: 'no parent gave this work',
  });
});

it('a job that wants one solution is over with the first, and another job is not', async () => {
  const world = new World();
  const parent = world.connect();
  parent.say(world.job('a'), world.job('b', { solutions: 'one' }));
  await world.news();
  const [a, b] = world.works;
  const { signal } = new AbortController();
  void world.source.submit(mine(a), signal);
  expect(await world.news()).toEqual([]);
  void world.source.submit(mine(b), signal);
  expect(await world.news()).toEqual(['solved b/100', 'mine a/100']);
  expect(await world.source.submit(mine(b, 1), signal)).toEqual({ outcome: 'stale', reason: 'its job has ended' });
});

it.each([64, 65, 66])('of %d jobs the newest 64 are held, and the newest is mined', async (count) => {
  const world = new World();
  const parent = world.connect();
  for (let i = 0; i < count; i++) parent.say(world.job(`${i}`));
  const cancelled = (await world.news()).filter((news) => news.startsWith('cancelled'));
  expect(cancelled).toEqual(['cancelled 0/100', 'cancelled 1/100'].slice(0, count - 64));
  parent.say({ type: 'stats' });
  await turns();
  expect(parent.of('stats')).toMatchObject([{ jobs: 64 }]);
});

describe('of several parents', () => {
  it('the newest job of all is mined, whoever has connected first', async () => {
    const world = new World();
    const [one, two, three] = [world.connect(), world.connect(), world.connect()];
    two.say(world.job('x', {}, 'x of two'));
    three.say(world.job('x', {}, 'x of three'));
    await turns();
    one.say(world.job('x', {}, 'x of one'));
    expect(await world.news()).toEqual(['mine x of two/100', 'mine x of three/100', 'mine x of one/100']);
    one.die();
    expect(await world.news()).toEqual(['cancelled x of one/100', 'mine x of three/100']);
    three.say({ type: 'cancel' });
    expect(await world.news()).toEqual(['cancelled x of three/100', 'mine x of two/100']);
    three.die();
    expect((await world.news()).filter((news) => news !== 'cancelled ')).toEqual([]);
  });

  it('only the last one that goes is missed', async () => {
    const world = new World();
    const parents = [world.connect(), world.connect()];
    parents[0].say(world.job('a'));
    await world.news();
    const states = () =>
      world.events.flatMap((event) => (event.type === 'source' ? [`${event.source} ${event.state}`] : []));
    parents[1].die();
    expect([await world.news(), states(), world.deserted]).toEqual([[], ['the parent connected'], 0]);
    parents[0].die();
    expect(await world.news()).toEqual(['cancelled a/100', GONE]);
    expect([states(), world.deserted]).toEqual([['the parent connected', 'the parent lost'], 1]);
  });

  it('jobs of one that does not read wait, except if no other has a job', async () => {
    const world = new World();
    const [reading, deaf] = [world.connect(), world.connect(new ScriptedParent(false))];
    deaf.say(world.job('d'));
    await world.news();
    const { signal } = sharedController();
    for (let lane = 0; lane < 100; lane++) void world.source.submit(mine(world.works[0], lane), signal);
    expect(await world.news()).toEqual([]);
    expect(deaf.session!.isResting).toBe(true);
    reading.say(world.job('r'));
    expect(await world.news()).toEqual(['mine r/100']);
    deaf.say(world.job('e'));
    expect(await world.news()).toEqual([]);
    reading.say({ type: 'cancel' });
    expect(await world.news()).toEqual(['cancelled r/100', 'mine e/100']);
    reading.say(world.job('s'));
    expect(await world.news()).toEqual(['mine s/100']);
    reading.say({ type: 'cancel' });
    expect(await world.news()).toEqual(['cancelled s/100', 'mine e/100']);
    deaf.read();
    expect(await world.news()).toEqual([]);
    expect(deaf.session!.isResting).toBe(false);
    reading.say(world.job('t'));
    deaf.say(world.job('f'));
    expect(await world.news()).toEqual(['mine t/100', 'mine f/100']);
  });
});

it('a job that came before anybody wanted work is mined, and the goodbye has the reason of the worker', async () => {
  const world = new ParentWorld();
  const parent = world.connect();
  parent.say(job('a'));
  await turns();
  const updates: SourceUpdate[] = [];
  const ending = new AbortController();
  const following = world.source.follow((update) => updates.push(update), ending.signal);
  expect(updates.map(({ kind }) => kind)).toEqual(['work']);
  expect(await world.source.answers(ending.signal)).toBe(true);
  world.source.byeReason = 'no-device';
  ending.abort();
  await following;
  expect(parent.of('bye')).toEqual([{ type: 'bye', reason: 'no-device', shares: 0 }]);
  // No target is adjusted any more.
  expect(vi.getTimerCount()).toBe(0);
  parent.say(job('b'));
  await turns();
  expect(updates).toHaveLength(1);
});

it('lines of spaces are no requests, but they count', async () => {
  const world = new World();
  const parent = world.connect();
  parent.say('', '  ', '\t', 'junk', ' {"type":"ping"} ');
  await turns();
  expect(parent.of('error').map(({ code, line }) => [code, line])).toEqual([['not-json', 4]]);
  expect(parent.of('pong')).toHaveLength(1);
});
