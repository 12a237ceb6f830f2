import { expect, it } from 'vitest';
import { coordinatorLimits } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import { OwnWorks } from '#pickaxe/fleet/coordinator/own-works.js';
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

it('a coordinator knows its last 1,024 works, and no creation time before the first', () => {
  const clock = { monotonicMs: () => 0 } as ConstructorParameters<typeof OwnWorks>[0]['clock'];
  const { works: most, endedMs } = coordinatorLimits;
  const own = new OwnWorks({ instance: '0'.repeat(16), source: { latestTimeUs: () => 5n }, clock, most, endedMs });
  expect(own.state(true)).toMatchObject({ number: 0, work: null, latestTimeMicros: 0 });
  const work = makeWork(4);
  for (let number = 0; number < 1_025; number++) own.change({ ...work });
  expect(own.state(true)).toMatchObject({ number: 1, work: `${'0'.repeat(16)}-1024`, latestTimeMicros: 5 });
  expect([0, 1, 1_024].map((number) => own.find(`${'0'.repeat(16)}-${number}`) !== undefined)).toEqual([
    false,
    true,
    true,
  ]);
});
