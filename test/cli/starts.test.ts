/**
 * The program itself starts, mines and ends, as a miner and as a worker. All else that only a started program shows is
 * in long tests, because each start costs a second.
 */

import { afterEach, expect, it } from 'vitest';
import { job, makeHeader, targetHex } from '../miner/source/parent/parent.ts';
import { mine } from './mining/mine-on-mock.ts';
import { killWorkers, startWorker } from './mining/worker-parent.ts';

afterEach(killWorkers);

it('pickaxe mine finds blocks that a node accepts, and ends', async () => {
  const { run, mock } = await mine('document', ['--devices', 'cpu']);
  expect(await run.code, run.stderr).toBe(0);
  expect(mock.ledger.stats).toMatchObject({ rejected: 0, duplicates: 0, timeViolations: 0 });
  expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(3);
  expect(run.events().at(-1)).toMatchObject({ type: 'summary', accepted: mock.ledger.stats.accepted });
});

it('pickaxe worker finds shares for its parent, and ends when it is drained', async () => {
  const { parent, code } = startWorker();
  await parent.next('ready');
  parent.say(job('a', makeHeader(1e12), { target: targetHex(20_000) }));
  await parent.next('share');
  parent.say({ type: 'cancel' }, { type: 'drain' });
  expect(await code).toBe(0);
  expect(parent.answers.at(-1)).toEqual({ type: 'bye', reason: 'drained', shares: parent.of('share').length });
});
