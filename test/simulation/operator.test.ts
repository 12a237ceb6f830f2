/** Tests the operator of simulated fleets: which tables it takes for wrong. */

import { describe, expect, it } from 'vitest';
import { sendReport } from '../fleet/operator/messages.ts';
import { SimulatedNats } from './nats.ts';
import { SimulatedOperator } from './operator.ts';
import type { SimulatedRig } from './rigs.ts';
import { Simulation } from './simulation.ts';

/**
 * Lets a rig report for a minute.
 *
 * @param reported how many solutions it reports
 * @param disconnectedMs when its connection was last interrupted
 * @returns what the operator takes for wrong
 */
async function wrongAfter(found: number, reported: number | 'nothing', disconnectedMs = 0): Promise<string[]> {
  const simulation = new Simulation({ seed: 1, minutes: 1 });
  const { time } = simulation;
  const nats = new SimulatedNats(simulation.random('nats'));
  const process = time.start('rig0');
  const link = nats.connect(process, 'inbox');
  const counts = { found, accepted: 0, delivered: 0, rejected: 0, stale: 0, unknown: 0 };
  const rig = { name: 'rig0', process, counts, isRunning: true, isConnected: true, disconnectedMs };
  const operator = new SimulatedOperator(simulation, nats, [rig as unknown as SimulatedRig]);
  for (let ms = 1_000; ms <= 60_000; ms += 1_000) {
    if (ms % 10_000 === 0 && reported !== 'nothing') {
      sendReport(link, 'rig0', { found: reported, accepted: 0, rejected: 0, stale: 0, unknown: 0 });
    }
    await time.runUntil(ms);
    operator.check();
  }
  return simulation.violations.map(({ what }) => what);
}

describe('an operator', () => {
  it('takes a table with what a rig has found for right', async () => {
    expect(await wrongAfter(5, 5)).toEqual([]);
  });

  it.each([4, 6])('takes %i solutions of five for wrong', async (reported) => {
    expect(await wrongAfter(5, reported)).toEqual([`the operator's table shows ${reported} found for rig0`]);
  });

  it('misses a rig that reports nothing, unless something keeps it from that', async () => {
    expect(await wrongAfter(5, 'nothing')).toEqual(["the operator's table does not show rig0"]);
    expect(await wrongAfter(5, 'nothing', 59_000)).toEqual([]);
  });
});
