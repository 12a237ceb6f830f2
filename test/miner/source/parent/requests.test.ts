/** What a parent gets for a ping, and what follows its wish to drain. */

import { expect, it } from 'vitest';
import { eventually, Follower } from '../follow.ts';
import { ParentWorld } from './parent.ts';

it('a ping is answered, with what is to be repeated if there is anything', async () => {
  const world = new ParentWorld();
  const follower = new Follower(world.source);
  const parent = world.connect();
  parent.say({ type: 'ping' }, { type: 'ping', echo: 'x' }, { type: 'ping', echo: '' });
  await eventually(() => expect(parent.of('pong')).toHaveLength(3));
  expect(parent.of('pong')).toStrictEqual([{ type: 'pong' }, { type: 'pong', echo: 'x' }, { type: 'pong', echo: '' }]);
  await follower.end();
});

it('a parent that wants to drain is drained, and again if it says so again', async () => {
  const world = new ParentWorld();
  const follower = new Follower(world.source);
  const parent = world.connect();
  parent.say({ type: 'drain' });
  await eventually(() => expect(world.drained).toEqual(['drained']));
  parent.say({ type: 'drain' });
  await eventually(() => expect(world.drained).toEqual(['drained', 'drained']));
  await follower.end();
});
