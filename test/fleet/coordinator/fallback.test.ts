import { describe, expect, it } from 'vitest';
import type { CoordinatorLimits } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import type { Verdict } from '#pickaxe/miner/source/source.js';
import { HEADER_OFFSET, toHex, viewOf } from '#pickaxe/protocol/chain/bytes.js';
import type { Solution } from '#pickaxe/protocol/chain/verify.js';
import { creationTimeOf, type Work, withCreationTime } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { eventually, mine, wrongSolution } from '../../miner/source/follow.ts';
import { FakeNats } from '../nats/fake-nats.ts';
import { Coordinator, solutionRequest, subjects, TestRig } from './coordinator.ts';

/** A coordinator that gives work, one that takes solutions of it, and a rig. */
async function withTwo(limits: Partial<CoordinatorLimits> = {}) {
  const nats = new FakeNats();
  const sent: Solution[] = [];
  const nodes: { verdict: () => Verdict | Promise<Verdict> } = {
    verdict: () => ({ outcome: 'accepted', reason: '', by: 'node1' }),
  };
  const submitElsewhere = async (solution: Solution) => {
    sent.push(solution);
    return await nodes.verdict();
  };
  const other = await Coordinator.start({ nats, name: 'c2', submitElsewhere, limits });
  const issuer = await Coordinator.start({ nats });
  return { nats, sent, nodes, issuer, other, rig: new TestRig(nats, 'rig') };
}

describe('a solution of another coordinator’s work', () => {
  it('is verified and submitted to this one’s nodes, once, with the events of a block', async () => {
    const { sent, issuer, other, rig } = await withTwo({ answerMs: 60_000 });
    const { work, name } = await issuer.work();
    const solution = mine(work);
    const accepted = { state: 'verdict', outcome: 'accepted', reason: '', by: 'node1' };
    expect(await rig.fallback('c1', name, solution)).toEqual(accepted);
    expect(await rig.fallback('c1', name, solution)).toEqual(accepted);
    // The coordinator that has submitted it can be asked by its name, too.
    expect(await rig.request(subjects.solution('c2', 'rig'), solutionRequest('c1', name, solution))).toEqual(accepted);
    expect(sent.map(({ header }) => toHex(header))).toEqual([toHex(solution.header)]);
    expect(sent[0].work).toEqual(work);
    expect(other.events.all.map(({ type }) => type)).toEqual(['solution', 'sent-block', 'verdict', 'accepted-block']);
    expect(other.events.of('accepted-block')[0]).toMatchObject({ device: 'fleet', isRelay: true, source: 'node1' });
    expect([issuer.source.submitted, other.source.submitted]).toEqual([[], []]);
    expect(await rig.fallback('c1', name, mine(work, 1))).toMatchObject({ outcome: 'stale' });
    expect(sent).toHaveLength(1);
  });

  it('is pending at the coordinator that submits it, which then knows the verdict', async () => {
    const { sent, nodes, issuer, rig } = await withTwo({ answerMs: 1 });
    const { work, name } = await issuer.work();
    let settle: (verdict: Verdict) => void = () => {};
    nodes.verdict = () =>
      new Promise((resolve) => {
        settle = resolve;
      });
    const solution = mine(work);
    expect(await rig.fallback('c1', name, solution)).toEqual({ state: 'pending', coordinator: 'c2' });
    settle({ outcome: 'stale', reason: 'No associated Payload' });
    const ask = () => rig.request(subjects.solution('c2', 'rig'), solutionRequest('c1', name, solution));
    const reason = 'no node of this coordinator takes it: No associated Payload';
    await eventually(async () => expect(await ask()).toEqual({ state: 'refused', code: 'not-mine', reason }));
    expect(sent).toHaveLength(1);
  });

  it('is refused if it is forged or wrong, and counts as wrong', async () => {
    const { sent, issuer, other, rig } = await withTwo({ wrongBurst: 2, wrongPerMinute: 0 });
    const { work, name } = await issuer.work();
    const header = withCreationTime(mine(work).header, creationTimeOf(work.header) - 1n);
    expect(await rig.fallback('c1', name, { header })).toMatchObject({ code: 'not-a-solution' });
    expect(await rig.fallback('c1', name, wrongSolution(work))).toMatchObject({ code: 'not-a-solution' });
    expect(await rig.fallback('c1', name, wrongSolution(work))).toMatchObject({ code: 'not-a-solution' });
    expect(await rig.fallback('c1', name, mine(work))).toMatchObject({ code: 'too-many' });
    expect(await new TestRig(other.nats, 'rig2').fallback('c1', name, mine(work))).toMatchObject({
      outcome: 'accepted',
    });
    expect(sent).toHaveLength(1);
  });

  it('is refused if its coordinator claims an easier target than the header has: nodes would drop the work', async () => {
    const { sent, issuer, rig } = await withTwo();
    const hard = makeWork(2 ** 40);
    const { name } = await issuer.work({ ...hard, target: makeWork(4).target, blockTarget: makeWork(4).target });
    const solution = mine({ ...hard, target: makeWork(4).target });
    expect(await rig.fallback('c1', name, solution)).toMatchObject({ code: 'not-a-solution' });
    expect(sent).toEqual([]);
  });

  it('is refused where only the issuer can submit it, or nobody knows the work', async () => {
    const { sent, issuer, rig } = await withTwo();
    const shares = { nonce1: { value: 1, bytes: 1 as const } };
    for (const terms of [{ until: 'replaced' as const }, shares]) {
      const { work, name } = await issuer.work(makeWork(4, terms));
      expect(await rig.fallback('c1', name, mine(work))).toMatchObject({ code: 'not-mine' });
    }
    const { work, name } = await issuer.work();
    expect(await rig.fallback('c3', name, mine(work))).toMatchObject({ code: 'unknown-work' });
    expect(await rig.fallback('c1', `${'f'.repeat(16)}-1`, mine(work))).toMatchObject({ code: 'unknown-work' });
    expect(sent).toEqual([]);
  });

  it('is stale after a New Cut, but is sent if its work ended with a solution: that may have been this one', async () => {
    const { sent, issuer, rig } = await withTwo();
    const cut = await issuer.work();
    issuer.source.stale();
    const solved = await issuer.work();
    issuer.source.stale('solved', solved.work);
    await eventually(() => expect(issuer.states.at(-1)!.ended).toHaveLength(2));
    const answer = await rig.fallback('c1', cut.name, mine(cut.work));
    expect(answer).toEqual({ state: 'verdict', outcome: 'stale', reason: 'a New Cut has made its work stale' });
    expect(await rig.fallback('c1', solved.name, mine(solved.work))).toMatchObject({ outcome: 'accepted' });
    expect(sent).toHaveLength(1);
  });

  it('can have a rolled creation time, even when its coordinator is gone or was started again', async () => {
    const { nats, issuer, other, rig } = await withTwo();
    const latestUs = BigInt(Date.now()) * 1000n;
    issuer.source.latestUs = () => latestUs + BigInt(other.nowMs) * 1000n;
    const { work, name } = await issuer.work();
    const at = (timeUs: bigint) => mine({ ...work, header: withCreationTime(work.header, timeUs) } as Work);
    expect(await rig.fallback('c1', name, at(latestUs + 10_000n))).toMatchObject({ code: 'too-early' });
    other.nowMs += 10;
    expect(await rig.fallback('c1', name, at(latestUs + 10_001n))).toMatchObject({ code: 'too-early' });
    await issuer.end();
    await Coordinator.start({ nats, instance: 'a'.repeat(16) });
    expect(await rig.fallback('c1', name, at(latestUs + 10_000n))).toMatchObject({ outcome: 'accepted' });
  });

  it('can have no time later than its own work’s, whatever the clock of an earlier work’s node', async () => {
    const { issuer, rig } = await withTwo();
    await issuer.work();
    issuer.source.latestUs = () => BigInt(Date.now()) * 1000n - 20_000_000n;
    const { work, name } = await issuer.work();
    const latestUs = BigInt(issuer.states.at(-1)!.latestTimeMicros);
    const at = (timeUs: bigint) => mine({ ...work, header: withCreationTime(work.header, timeUs) } as Work);
    expect(await rig.fallback('c1', name, at(latestUs + 10_000_000n))).toMatchObject({ code: 'too-early' });
    expect(await rig.fallback('c1', name, at(latestUs))).toMatchObject({ outcome: 'accepted' });
  });

  it('is known to a coordinator that was started after the work was given', async () => {
    const nats = new FakeNats();
    const issuer = await Coordinator.start({ nats, limits: { beatMs: 5 } });
    const { work, name } = await issuer.work();
    const submitElsewhere = async (): Promise<Verdict> => ({ outcome: 'accepted', reason: '' });
    await Coordinator.start({ nats, name: 'c2', submitElsewhere });
    const asked = () => nats.sent.filter(({ subject }) => subject === subjects.hello('c1', 'c2')).length;
    const beats = issuer.states.length;
    await eventually(() => expect(issuer.states.length).toBeGreaterThan(beats + 3));
    expect(asked()).toBe(1);
    await issuer.end();
    expect(await new TestRig(nats, 'rig').fallback('c1', name, mine(work))).toMatchObject({ outcome: 'accepted' });
  });

  it('is bounded in number for each issuer: a work may be as easy as its coordinator likes', async () => {
    const { sent, nodes, issuer, rig, other } = await withTwo({ elsewhereBurst: 2, elsewherePerSecond: 1 });
    nodes.verdict = () => ({ outcome: 'stale', reason: 'No associated Payload' });
    const { work, name } = await issuer.work();
    const lanes = [0, 1, 2, 3].map((lane) => mine(work, lane));
    const answers = [];
    for (const solution of lanes.slice(0, 3)) answers.push(await rig.fallback('c1', name, solution));
    expect(answers).toMatchObject([{ code: 'not-mine' }, { code: 'not-mine' }, { code: 'too-many' }]);
    other.nowMs += 1_000;
    expect(await rig.fallback('c1', name, lanes[2])).toMatchObject({ code: 'not-mine' });
    expect(sent).toHaveLength(3);
  });
});

describe('a solution of a work that the coordinator does not know', () => {
  const UNKNOWN = `${'e'.repeat(16)}-7`;

  /** A coordinator with nodes and work of its own, and one of an earlier work. */
  async function restarted(limits: Partial<CoordinatorLimits> = {}) {
    const { other, sent, nodes, nats, rig } = await withTwo(limits);
    const latestUs = BigInt(Date.now()) * 1000n;
    other.source.latestUs = () => latestUs;
    await other.work();
    return { other, sent, nodes, nats, rig, latestUs, earlier: makeWork(4) };
  }

  it('is taken from its header and submitted to the own nodes, whoever gave the work', async () => {
    for (const issuer of ['c2', 'c9']) {
      const { sent, rig, earlier } = await restarted();
      const solution = mine(earlier);
      const request = solutionRequest(issuer, UNKNOWN, solution);
      const ask = () => rig.request(subjects.solution('c2', 'rig'), request);
      expect(await ask(), issuer).toMatchObject({ outcome: 'accepted', by: 'node1' });
      expect(await ask(), issuer).toMatchObject({ outcome: 'accepted' });
      expect(sent.map(({ header }) => toHex(header))).toEqual([toHex(solution.header)]);
      // Fake works have another chain in their headers.
      const chain = viewOf(solution.header).getUint32(HEADER_OFFSET.chain, true);
      expect(sent[0].work).toEqual({ ...earlier, header: sent[0].work.header, chain });
      expect(toHex(sent[0].work.header)).toEqual(toHex(solution.header));
    }
  });

  it('is left to its issuer if no own node takes it, and the nodes are asked once', async () => {
    const { sent, nodes, rig, earlier } = await restarted();
    for (const outcome of ['rejected', 'stale'] as const) {
      nodes.verdict = () => ({ outcome, reason: 'No associated Payload' });
      const solution = mine(earlier, sent.length);
      const before = sent.length;
      for (const _ of [1, 2]) {
        expect(await rig.fallback('c9', UNKNOWN, solution)).toMatchObject({ code: 'not-mine' });
      }
      expect(sent).toHaveLength(before + 1);
    }
    nodes.verdict = () => ({ outcome: 'unknown', reason: 'the answer was lost' });
    const solution = mine(earlier, 5);
    // The rig learns that a node may have taken it.
    expect(await rig.fallback('c9', UNKNOWN, solution)).toMatchObject({ state: 'pending' });
    expect(await rig.fallback('c9', UNKNOWN, solution)).toMatchObject({ code: 'not-mine' });
  });

  it('is refused before a node gets it if its hash or its time is wrong, or the own time is not known', async () => {
    const { sent, rig, earlier, latestUs } = await restarted({ wrongBurst: 1, wrongPerMinute: 0 });
    const early = mine({ ...earlier, header: withCreationTime(earlier.header, latestUs + 1n) });
    // Too early is not wrong: it does not count against the rig.
    for (const _ of [1, 2, 3]) {
      expect(await rig.fallback('c9', UNKNOWN, early)).toMatchObject({ code: 'too-early' });
    }
    expect(await rig.fallback('c9', UNKNOWN, wrongSolution(earlier))).toMatchObject({ code: 'not-a-solution' });
    const fresh = await withTwo();
    expect(await fresh.rig.fallback('c9', UNKNOWN, mine(earlier))).toMatchObject({ code: 'unknown-work' });
    expect([...sent, ...fresh.sent]).toEqual([]);
  });

  it('is bounded in number for each rig and for all', async () => {
    const { sent, nats, rig, earlier, other } = await restarted({
      unknownBurst: 2,
      unknownPerSecond: 1,
      allUnknownBurst: 3,
      allUnknownPerSecond: 1,
    });
    const send = (by: TestRig, lane: number) => by.fallback('c9', UNKNOWN, mine(earlier, lane));
    expect(await send(rig, 0)).toMatchObject({ outcome: 'accepted' });
    expect(await send(rig, 1)).toMatchObject({ outcome: 'accepted' });
    expect(await send(rig, 2)).toMatchObject({ code: 'too-many' });
    const second = new TestRig(nats, 'rig2');
    expect(await send(second, 2)).toMatchObject({ outcome: 'accepted' });
    expect(await send(second, 3)).toMatchObject({ code: 'too-many' });
    expect(sent).toHaveLength(3);
    other.nowMs += 1_000;
    expect(await send(rig, 4)).toMatchObject({ outcome: 'accepted' });
  });
});

it('a solution whose issuer’s last state was read late can have any time that the own nodes take', async () => {
  const { issuer, other, rig } = await withTwo();
  const latestUs = BigInt(Date.now()) * 1000n;
  issuer.source.latestUs = () => latestUs - 5_000_000n;
  other.source.latestUs = () => latestUs;
  await other.work();
  const { work, name } = await issuer.work();
  const solution = mine({ ...work, header: withCreationTime(work.header, latestUs) });
  expect(await rig.fallback('c1', name, solution)).toMatchObject({ outcome: 'accepted' });
});

describe('a fallback request', () => {
  it('about an own work is an ordinary solution', async () => {
    const { sent, other, rig } = await withTwo();
    const { work, name } = await other.work();
    expect(await rig.fallback('c2', name, mine(work))).toMatchObject({ outcome: 'accepted' });
    expect(other.source.submitted).toHaveLength(1);
    expect(sent).toEqual([]);
  });

  it('goes to no coordinator without nodes', async () => {
    const issuer = await Coordinator.start();
    const { work, name } = await issuer.work();
    const rig = new TestRig(issuer.nats, 'rig');
    await expect(rig.fallback('c1', name, mine(work))).rejects.toMatchObject({ fault: 'no-responders' });
  });
});
