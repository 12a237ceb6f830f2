import { expect, it } from 'vitest';
import type { Outcome } from '#pickaxe/miner/events/vocabulary.js';
import { makeWork } from '../../fakes.ts';
import { eventually, mine } from '../../miner/source/follow.ts';
import { Coordinator, TestRig } from './coordinator.ts';

it.each<{ outcome: Outcome; counted: object }>([
  { outcome: 'accepted', counted: { accepted: 1, rejected: 0, stale: 0, blocks: 1 } },
  { outcome: 'stale', counted: { accepted: 0, rejected: 0, stale: 1, blocks: 0 } },
  { outcome: 'rejected', counted: { accepted: 0, rejected: 1, stale: 0, blocks: 0 } },
  { outcome: 'unknown', counted: { accepted: 0, rejected: 1, stale: 0, blocks: 0 } },
])('a block of a rig that is $outcome counts as that, once, and only an accepted one is its block', async (each) => {
  const { outcome, counted } = each;
  const coordinator = await Coordinator.start({ limits: { reportMs: 5 } });
  coordinator.source.verdict = () => ({ outcome, reason: 'the test says so' });
  const { work, name } = await coordinator.work(makeWork(4, { until: 'replaced' }));
  const rig = new TestRig(coordinator.nats, 'rig');
  const before = coordinator.lines.length;
  const found = `rig has found the block of chain ${work.chain} at height ${work.height}: ${outcome}`;
  for (let time = 0; time < 2; time++) {
    expect(await rig.solve('c1', name, mine(work))).toMatchObject({ state: 'verdict', outcome });
  }
  const seen = coordinator.events.of('relay').length;
  await eventually(() => expect(coordinator.events.of('relay').length).toBeGreaterThan(seen));
  expect(coordinator.events.of('relay').at(-1)?.workers).toEqual([
    expect.objectContaining({ name: 'rig', duplicate: 0, ...counted }),
  ]);
  const first = outcome === 'accepted' ? ['first accepted solution of rig'] : [];
  expect(coordinator.lines.slice(before)).toEqual([found, ...first]);
});
