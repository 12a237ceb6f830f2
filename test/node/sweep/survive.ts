/** Sweeps that are killed at each of their steps, and what must be true afterwards. */

import { expect } from 'vitest';
import type { Sweep } from '#pickaxe/node/sweep/sweep-state.js';
import { Killed, Killer, TARGET, World } from './world.ts';

/** The balance of the account on each chain at the beginning. */
export const STARTED = 91_500_000_000_000n;

/** Checks that no coin is lost or doubled: the transfers have arrived, and the miners have the coins for gas. */
export function expectAllDone(world: World, sweep: Sweep, total: bigint): void {
  expect(sweep.transfers.map(({ chain, outcome }) => [chain, outcome?.state])).toEqual([
    ...sweep.transfers.map(({ chain }) => [chain, 'done']),
  ]);
  expect(world.total()).toBe(total);
  let arrived = 0n;
  for (const { chain, amount, step0 } of sweep.transfers) {
    expect(world.events(chain, 'TRANSFER_XCHAIN')).toBe(1);
    expect(world.node.ledger.chains.tip(chain).payload.state.heightOf(step0!.hash)).toBeDefined();
    const left = world.balance(chain);
    expect(left).toBeGreaterThanOrEqual(1_000_000_000n); // what is kept
    expect(left).toBeLessThan(1_002_000_000n);
    arrived += amount;
  }
  expect(world.events(TARGET, 'X_RESUME')).toBe(sweep.transfers.length);
  // What arrived, less a little gas.
  expect(world.balance(TARGET)).toBeLessThanOrEqual(STARTED + arrived);
  expect(world.balance(TARGET)).toBeGreaterThan(STARTED + arrived - BigInt(sweep.transfers.length) * 30_000_000n);
}

/** Kills one sweep at its first step, the next one at its second, and so on; each is then resumed. */
export async function surviveEachKill(order: 'ascending' | 'descending', when: 'before' | 'after'): Promise<void> {
  for (let at = 0; ; at++) {
    const world = await World.make();
    const total = world.total();
    const killer = new Killer(at, when);
    const planned = await world.begin();
    const begun = order === 'ascending' ? planned : { ...planned, transfers: [...planned.transfers].reverse() };
    world.store.save(begun);
    try {
      await world.finish(world.runner(begun, { save: killer.save(world), ledger: killer.ledger(world) }));
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    if (!killer.hasKilled) {
      // Each of two transfers writes its two commands, the height, the proof and its outcome, and sends twice.
      expect(at).toBeGreaterThanOrEqual(14);
      return;
    }
    expectAllDone(world, await world.finish(world.runner(world.store.load()!)), total);
    // There is one command of each kind. Several would only cost more gas.
    expect([1, 2, TARGET].map((chain) => world.commands(chain))).toEqual([1, 1, 2]);
  }
}
