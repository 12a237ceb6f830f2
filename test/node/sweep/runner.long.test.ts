import { expect, it } from 'vitest';
import { expectAllDone, surviveEachKill } from './survive.ts';
import { World } from './world.ts';

it('a sweep brings the coins of 20 chains to one', async () => {
  const world = await World.make({ chains: 20 });
  const total = world.total();
  const sweep = await world.finish(world.runner(await world.begin()));
  expect(sweep.transfers).toHaveLength(19);
  expectAllDone(world, sweep, total);
});

for (const order of ['ascending', 'descending'] as const) {
  it.each(['before', 'after'] as const)(
    `a sweep that is killed at any step goes on from there: chains in ${order} order, %s the step`,
    (when) => surviveEachKill(order, when),
    120_000,
  );
}
