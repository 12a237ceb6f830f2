import { expect, it } from 'vitest';
import { eventually, Follower } from '../follow.ts';
import { ParentWorld } from './parent.ts';

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
