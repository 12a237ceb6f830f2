/** What a parent gets for its requests, and what several parents get at once. */

import { expect, it } from 'vitest';
import type { Answer } from '#pickaxe/protocol/wire/worker.js';
import { eventually, Follower } from '../follow.ts';
import { ParentWorld, ScriptedParent } from './parent.ts';

it('a ping is answered, with what is to be repeated if there is anything', async () => {
  const world = new ParentWorld();
  const follower = new Follower(world.source);
  const parent = world.connect();
  parent.say({ type: 'ping' }, { type: 'ping', echo: 'x' }, { type: 'ping', echo: '' });
  await eventually(() => expect(parent.of('pong')).toHaveLength(3));
  expect(parent.of('pong')).toStrictEqual([{ type: 'pong' }, { type: 'pong', echo: 'x' }, { type: 'pong', echo: '' }]);
  await follower.end();
});

it('a request to drain is passed on, and so is a second one', async () => {
  const world = new ParentWorld();
  const follower = new Follower(world.source);
  const parent = world.connect();
  parent.say({ type: 'drain' });
  await eventually(() => expect(world.drained).toEqual(['drained']));
  parent.say({ type: 'drain' });
  await eventually(() => expect(world.drained).toEqual(['drained', 'drained']));
  await follower.end();
});

const paused = (reason: string): Answer => ({ type: 'paused', reason });

it('each parent gets news of the rig, except for one that is far behind, which gets the next', async () => {
  const world = new ParentWorld();
  const follower = new Follower(world.source);
  const [one, two, slow] = [world.connect(), world.connect(), world.connect(new ScriptedParent(false))];
  // Its answers are longer than what may wait for it.
  for (let i = 0; i < 8_000; i++) slow.say({ type: 'ping', echo: 'e'.repeat(200) });
  await eventually(() => expect(slow.input.isPaused()).toBe(true));
  world.source.answer(paused('heat'));
  for (const parent of [one, two]) await eventually(() => expect(parent.of('paused')).toEqual([paused('heat')]));
  slow.read();
  await eventually(() => expect(slow.of('pong')).toHaveLength(8_000));
  world.source.answer(paused('power'));
  await eventually(() => expect(slow.of('paused')).toEqual([paused('power')]));
  await eventually(() => expect(one.of('paused')).toEqual([paused('heat'), paused('power')]));
  await follower.end();
});

it('the first of several parents is told, and so is the first after all have gone', async () => {
  const world = new ParentWorld();
  const follower = new Follower(world.source);
  const told = () => world.events.flatMap((event) => (event.type === 'source' ? [event.state] : []));
  const connected = () => told().filter((state) => state === 'connected').length;
  const parents = [world.connect(), world.connect()];
  expect(connected()).toBe(1);
  for (const parent of parents) parent.die();
  await eventually(() => expect(world.source.sessions).toBe(0));
  world.connect();
  expect(connected()).toBe(2);
  await follower.end();
});
