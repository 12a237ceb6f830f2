/** Payments that are killed at each of their steps. */

import { describe, expect, it } from 'vitest';
import { AMOUNT, begun, RECEIVER } from './payments.ts';
import { Killed, Killer, World } from './world.ts';

describe.each([
  ['within one chain', 1, 4],
  ['to another chain', 2, 7],
] as const)('a payment %s', (_, targetChain, leastSteps) => {
  it.each(['before', 'after'] as const)('that is killed at any step goes on from there: %s the step', async (when) => {
    for (let at = 0; ; at++) {
      const world = await World.make();
      const payment = await begun(world, { targetChain });
      const killer = new Killer(at, when);
      const options = { save: killer.save(world), ledger: killer.ledger(world) };
      await world.finish(world.runner(payment, options)).catch((error) => {
        if (!(error instanceof Killed)) throw error;
      });
      if (!killer.hasKilled) {
        // Writes: each command, the height, the outcome and, to another chain, the proof. Sends: each command.
        expect(at).toBeGreaterThanOrEqual(leastSteps);
        return;
      }
      const { transfers } = await world.finish(world.runner(world.store.load()!));
      expect(transfers[0].outcome).toMatchObject({ state: 'done', by: 'us' });
      expect(world.balance(targetChain, RECEIVER)).toBe(AMOUNT);
      expect([1, 2].map((chain) => world.commands(chain))).toEqual([1, targetChain === 2 ? 1 : 0]);
    }
  });
});
