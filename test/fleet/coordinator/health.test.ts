import { describe, expect, it } from 'vitest';
import type { ParentOf } from '#pickaxe/fleet/coordinator/fleet-relay.js';
import { CoordinatorState, messageBytes, readMessage } from '#pickaxe/fleet/messages.js';
import { HEADER_OFFSET, WORK_BYTES, WORK_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { parseWork, type Work, withCreationTime } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { eventually, mine, wrongSolution } from '../../miner/source/follow.ts';
import { FakeNats } from '../nats/fake-nats.ts';
import { Coordinator, subjects, TestRig } from './coordinator.ts';

const never = new AbortController().signal;

/** Two coordinators: what the first one says of its health. */
async function withTwo(faultOfSource?: () => string | undefined, parentOf?: ParentOf) {
  const nats = new FakeNats();
  const judged = await Coordinator.start({ nats, ...(faultOfSource && { faultOfSource }) });
  const other = await Coordinator.start({ nats, name: 'c2', ...(parentOf && { parentOf }) });
  const rig = new TestRig(nats, 'rig');
  const fault = async () => ((await rig.hello('c1')) as CoordinatorState).fault;
  return { judged, other, fault };
}

/** A work of one network whose header has this height. */
function workAt(height: bigint, difficulty = 4, network = 5) {
  const work = makeWork(difficulty);
  const header = Uint8Array.from(work.header);
  const view = new DataView(header.buffer);
  view.setBigUint64(HEADER_OFFSET.height, height, true);
  view.setUint32(HEADER_OFFSET.version, network, true);
  return { ...work, header, height };
}

/** The header of a found block. @param ageUs the age of its creation time */
function blockAt(height: bigint, { difficulty = 64, network = 5, ageUs = 30_000_000n, isFound = true } = {}) {
  const work = workAt(height, difficulty, network);
  const header = withCreationTime(work.header, BigInt(Date.now()) * 1000n - ageUs);
  const { target } = work;
  return (isFound ? mine : wrongSolution)(parseWork(recordOf({ ...work, header, target }))).header;
}

function recordOf({ chain, target, header }: Pick<Work, 'chain' | 'target' | 'header'>) {
  const record = new Uint8Array(WORK_BYTES);
  new DataView(record.buffer).setUint32(0, chain, true);
  record.set(target, WORK_OFFSET.target);
  record.set(header, WORK_OFFSET.header);
  return record;
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

  it('is that it lags, once another coordinator has shown a newer block, until it has caught up', async () => {
    const asked: Work[] = [];
    const { judged, other, fault } = await withTwo(undefined, async (work) => {
      asked.push(work);
      return blockAt(work.height - 1n);
    });
    await judged.work(workAt(100n, 64));
    await other.work(workAt(102n, 64));
    expect(await fault()).toBeUndefined();
    expect(asked).toEqual([]);
    const { work } = await other.work(workAt(104n, 64));
    await eventually(async () => {
      expect(await fault()).toBe('its source is 4 blocks behind another coordinator’s, which has shown one');
    });
    expect(asked).toEqual([work]);
    await judged.work(workAt(102n, 64));
    expect(await fault()).toBeUndefined();
  });

  it('is that it lags only as long as newer blocks are shown', async () => {
    let isShown = true;
    const parentOf = async (work: Work) => (isShown ? blockAt(work.height - 1n) : undefined);
    const { judged, other, fault } = await withTwo(undefined, parentOf);
    let height = 100n;
    const go = async (seconds: number) => {
      for (let i = 0; i < seconds; i += 5) {
        for (const each of [judged, other]) each.nowMs += 5_000;
        height++;
        await judged.work(workAt(height, 64));
        await other.work(workAt(height + 4n, 64));
      }
    };
    await judged.work(workAt(100n, 64));
    await other.work(workAt(104n, 64));
    await eventually(async () => expect(await fault()).toContain('blocks behind'));
    await go(300);
    expect(await fault()).toContain('blocks behind');
    isShown = false;
    await go(115);
    expect(await fault()).toBeUndefined();
  });

  it.each([
    ['of another network', { network: 6 }],
    ['that took less work than its own', { difficulty: 30 }],
    ['that nobody has found', { isFound: false }],
    ['that was found long ago', { ageUs: 601_000_000n }],
    ['from the future', { ageUs: -20_000_000n }],
  ])('is not concerned by a block %s', async (_, block) => {
    let shown = 0;
    const { judged, other, fault } = await withTwo(undefined, async ({ height }) => {
      shown++;
      return blockAt(height - 1n, block);
    });
    await judged.work(workAt(100n, 64));
    // The last question is asked after the answers to the others.
    for (let i = 1; i <= 3; i++) {
      await judged.work(workAt(100n + BigInt(i), 64));
      await other.work(workAt(10n ** 9n, 64));
      await eventually(() => expect(shown).toBe(i));
      judged.nowMs += 10_000;
    }
    expect(await fault()).toBeUndefined();
  });

  it('is that it lags for two minutes after each block that is shown, however often', async () => {
    const block = blockAt(10n ** 9n);
    let shown = 0;
    const { judged, other, fault } = await withTwo(undefined, async () => {
      shown++;
      return block;
    });
    await judged.work(workAt(100n, 64));
    await other.work(workAt(10n ** 9n, 64));
    await eventually(async () => expect(await fault()).toContain('blocks behind'));
    for (let seconds = 0; seconds < 125; seconds += 5) {
      for (const each of [judged, other]) each.nowMs += 5_000;
      await judged.work(workAt(100n + BigInt(seconds), 64));
      await other.work(workAt(10n ** 9n, 64));
    }
    await eventually(() => expect(shown).toBeGreaterThan(1));
    expect(await fault()).toBeUndefined();
  });

  it('is not prolonged by ordinary blocks of the network, which anybody can show', async () => {
    let height = 10n ** 9n;
    const { judged, other, fault } = await withTwo(undefined, async () => blockAt(height));
    await judged.work(workAt(100n, 64));
    await other.work(workAt(10n ** 9n, 64));
    await eventually(async () => expect(await fault()).toContain('blocks behind'));
    height = 100n;
    for (let seconds = 0; seconds < 125; seconds += 5) {
      for (const each of [judged, other]) each.nowMs += 5_000;
      height++;
      await judged.work(workAt(height, 64));
      await other.work(workAt(10n ** 9n, 64));
    }
    expect(await fault()).toBeUndefined();
  });

  it('is told also if its nodes cannot be asked for the block, which they are once in ten seconds', async () => {
    let asked = 0;
    const { other } = await withTwo(undefined, async () => {
      asked++;
      throw new Error('the module is gone');
    });
    await other.work(workAt(1n));
    const link = other.nats.link('rig', subjects.inbox('rig'));
    const ask = async () => {
      const data = await link.request(subjects.hello('c2', 'rig'), messageBytes({ parent: true }), 60_000, never);
      return readMessage(CoordinatorState, data)!;
    };
    for (const times of [1, 1, 2]) {
      expect(await ask()).not.toHaveProperty('parent');
      expect(asked).toBe(times);
      other.nowMs += 5_000;
    }
  });

  it('is found by an honest coordinator, whatever others claim', async () => {
    const { judged, other, fault } = await withTwo(undefined, async () => undefined);
    const honest = await Coordinator.start({ nats: judged.nats, name: 'c3', parentOf: async () => blockAt(103n) });
    await judged.work(workAt(100n, 64));
    await other.work(workAt(10n ** 9n, 64));
    judged.nowMs += 10_000;
    await honest.work(workAt(104n, 64));
    await eventually(async () => expect(await fault()).toContain('is 4 blocks behind'));
  });
});
