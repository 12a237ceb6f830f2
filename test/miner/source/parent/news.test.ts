/** What all parents are told at once. */

import { expect, it } from 'vitest';
import type { Answer } from '#pickaxe/protocol/wire/worker.js';
import { eventually, Follower } from '../follow.ts';
import { ParentWorld, ScriptedParent } from './parent.ts';

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
