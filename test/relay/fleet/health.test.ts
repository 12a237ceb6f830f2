import { describe, expect, it } from 'vitest';
import { HEADER_OFFSET } from '#pickaxe/chain/bytes.js';
import type { CoordinatorState } from '#pickaxe/wire/fleet.js';
import { makeWork } from '../../fakes.ts';
import { FakeNats } from '../../nats/fake-nats.ts';
import { eventually } from '../../source/follow.ts';
import { Coordinator, TestRig } from './coordinator.ts';

/** Two coordinators: what the first one says of its health. */
async function withTwo(faultOfSource?: () => string | undefined) {
  const nats = new FakeNats();
  const judged = await Coordinator.start({ nats, ...(faultOfSource && { faultOfSource }) });
  const other = await Coordinator.start({ nats, name: 'c2' });
  const rig = new TestRig(nats, 'rig');
  const fault = async () => ((await rig.hello('c1')) as CoordinatorState).fault;
  return { judged, other, fault };
}

/** A work whose header has this height. */
function workAt(height: bigint) {
  const work = makeWork(4);
  const header = Uint8Array.from(work.header);
  new DataView(header.buffer).setBigUint64(HEADER_OFFSET.height, height, true);
  return { ...work, header, height };
}

describe('a coordinator’s health', () => {
  it.each([
    { own: 100n, others: 103n, sinceMs: 90_000, isFaulty: true, what: 'stands still while another one goes on' },
    { own: 100n, others: 102n, sinceMs: 90_000, isFaulty: false, what: 'stands still as all others do' },
    { own: 100n, others: 10n ** 9n, sinceMs: 89_000, isFaulty: false, what: 'grows, whatever another one claims' },
  ])('$what', async ({ own, others, sinceMs, isFaulty }) => {
    const { judged, other, fault } = await withTwo();
    await judged.work(workAt(own));
    judged.nowMs += sinceMs;
    await other.work(workAt(others));
    const expected = isFaulty ? expect.stringContaining('stands still') : undefined;
    await eventually(async () => expect(await fault()).toEqual(expected));
    judged.nowMs += 2_000;
    await judged.work(workAt(own + 1n));
    judged.nowMs += 2_000;
    expect(await fault()).toBeUndefined();
  });

  it('is its source’s, while another coordinator could take over', async () => {
    const { judged, other, fault } = await withTwo(() => 'node1 follows another branch');
    await judged.work(workAt(1n));
    expect(await fault()).toBeUndefined();
    await other.work(workAt(1n));
    await eventually(async () => expect(await fault()).toBe('node1 follows another branch'));
    other.source.lost();
    await eventually(async () => expect(await fault()).toBeUndefined());
  });
});
