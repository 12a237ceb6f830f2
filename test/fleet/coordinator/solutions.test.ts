import { describe, expect, it } from 'vitest';
import { jobOfHeader } from '#pickaxe/fleet/coordinator/solutions.js';
import { messageBytes } from '#pickaxe/fleet/messages.js';
import type { Verdict } from '#pickaxe/miner/source/source.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { verify } from '#pickaxe/protocol/chain/verify.js';
import { creationTimeOf, nonceOf, type Work, withNonce } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { eventually, mine, wrongSolution } from '../../miner/source/follow.ts';
import { Coordinator, solutionRequest, subjects, TestRig } from './coordinator.ts';

/** @returns a verdict that comes when the test says so */
function later() {
  let settle: (verdict: Verdict) => void = () => {};
  const verdict = new Promise<Verdict>((resolve) => {
    settle = resolve;
  });
  return { verdict, settle };
}

/** @returns a solution at this creation time */
function mineAt(work: Work, creationTimeUs: bigint) {
  const job = prepareJob(work, creationTimeUs);
  for (let nonce = 0n; ; nonce++) {
    const { solution } = verify(job, nonce);
    if (solution) return solution;
  }
}

async function withRig(limits = {}) {
  const coordinator = await Coordinator.start({ limits });
  const rig = new TestRig(coordinator.nats, 'rig');
  return { coordinator, source: coordinator.source, rig, ...(await coordinator.work()) };
}

describe('a solution', () => {
  it('is submitted as the source’s own, and answered with the verdict', async () => {
    const { coordinator, source, rig, work, name } = await withRig();
    source.verdict = () => ({ outcome: 'rejected', reason: 'no\nwith two lines', by: 'node2' });
    const solution = mine(work);
    const answer = await rig.solve('c1', name, solution);
    expect(answer).toEqual({ state: 'verdict', outcome: 'rejected', reason: 'no with two lines', by: 'node2' });
    expect(source.submitted).toEqual([solution]);
    expect(source.submitted[0].work).toBe(work);
    expect(coordinator.events.all.map(({ type }) => type)).toEqual([
      'solution',
      'sent-block',
      'verdict',
      'refused-block',
    ]);
    expect(coordinator.events.of('sent-block')[0]).toMatchObject({
      device: 'fleet',
      isRelay: true,
      source: 'fake source',
    });
  });

  it('can have any creation time from the work’s to the latest valid one', async () => {
    const { coordinator, source, rig } = await withRig();
    const { work, name } = await coordinator.work(makeWork(4, { until: 'replaced' }));
    const startUs = creationTimeOf(work.header);
    source.latestUs = () => startUs + 5_000n;
    for (const [offset, state] of [
      [0n, 'verdict'],
      [5_000n, 'verdict'],
      [5_001n, 'refused'],
      [-1n, 'refused'],
    ] as const) {
      expect(await rig.solve('c1', name, mineAt(work, startUs + offset))).toMatchObject({ state });
    }
    expect(source.submitted).toHaveLength(2);
  });

  it('keeps the creation time where the work does not let it move', () => {
    const work = makeWork(4, { rollTime: false });
    const startUs = creationTimeOf(work.header);
    expect(jobOfHeader(work, mineAt(work, startUs).header, startUs + 5n)).toBeDefined();
    expect(jobOfHeader(work, mineAt(work, startUs + 1n).header, startUs + 5n)).toBeUndefined();
  });

  it('is refused if any other byte of its header is forged, even if its hash is low enough', async () => {
    const { source, rig, work, name } = await withRig({ wrongBurst: 10_000, refusalBurst: 10_000 });
    const forged = { ...work, header: Uint8Array.from(work.header) };
    for (const at of [0, 7, 16, 100, 160, 222, 266, 277]) {
      const header = Uint8Array.from(work.header);
      header[at] ^= 1;
      const answer = await rig.solve('c1', name, mine({ ...forged, header }));
      expect(answer, `byte ${at}`).toMatchObject({ state: 'refused', code: 'not-a-solution' });
    }
    expect(source.submitted).toEqual([]);
  });

  it('is refused if its hash misses the target, or its nonce is outside the part that the source has assigned', async () => {
    const { coordinator, source, rig, work, name } = await withRig();
    expect(await rig.solve('c1', name, wrongSolution(work))).toMatchObject({ code: 'not-a-solution' });
    const share = await coordinator.work(makeWork(4, { nonce1: { value: 9, bytes: 2 }, until: 'replaced' }));
    const elsewhere = mine({ ...share.work, nonce1: { value: 8, bytes: 2 } });
    expect(await rig.solve('c1', share.name, elsewhere)).toMatchObject({ code: 'not-a-solution' });
    expect(source.submitted).toEqual([]);
    expect(await rig.solve('c1', share.name, mine(share.work))).toMatchObject({ outcome: 'accepted' });
  });

  it('is refused if the message is junk', async () => {
    const { source, rig, work, name } = await withRig({ wrongBurst: 10_000, refusalBurst: 10_000 });
    const right = solutionRequest('c1', name, mine(work));
    const subject = subjects.solution('c1', 'rig');
    for (const junk of [
      {},
      [],
      'x',
      null,
      { ...right, more: 1 },
      { ...right, header: 'ab' },
      { ...right, work: '../../miner/relay/' },
    ]) {
      expect(await rig.request(subject, junk)).toMatchObject({ state: 'refused', code: 'wrong-message' });
    }
    const bytes = async (data: Uint8Array) =>
      new TextDecoder().decode(await rig.link.request(subject, data, 60_000, new AbortController().signal));
    for (const data of [new Uint8Array(0), new Uint8Array([0xff, 0xfe]), new Uint8Array(200_000).fill(0x20)]) {
      expect(await bytes(data)).toContain('wrong-message');
    }
    expect(source.submitted).toEqual([]);
  });

  it('is refused if its work is not known, without a count of wrong ones', async () => {
    const { rig, work, name } = await withRig({ wrongBurst: 1, wrongPerMinute: 0 });
    const [instance] = name.split('-');
    for (let time = 0; time < 5; time++) {
      const answer = await rig.solve('c1', `${instance}-99`, mine(work));
      expect(answer).toMatchObject({ state: 'refused', code: 'unknown-work' });
    }
    expect(await rig.solve('c1', name, mine(work))).toMatchObject({ outcome: 'accepted' });
  });

  it('is refused, too, if a rig has many of them, because the coordinator was started again', async () => {
    const { rig, work } = await withRig();
    const unknown = `${'f'.repeat(16)}-1`;
    const answers = await Promise.all(Array.from({ length: 256 }, () => rig.solve('c1', unknown, mine(work))));
    expect(new Set(answers.map((answer) => answer.state === 'refused' && answer.code))).toEqual(
      new Set(['unknown-work']),
    );
  });

  it('of a replaced work counts, and of an old work that is forgotten does not', async () => {
    const { coordinator, rig, work, name } = await withRig({ works: 2 });
    await coordinator.work();
    expect(await rig.solve('c1', name, mine(work))).toMatchObject({ outcome: 'accepted' });
    await coordinator.work();
    expect(await rig.solve('c1', name, mine(work, 1))).toMatchObject({ code: 'unknown-work' });
  });

  it('of a stale work, or of one that has a solution, is not sent, and answered with the reason', async () => {
    const { coordinator, source, rig, work, name } = await withRig();
    await rig.solve('c1', name, mine(work));
    expect(await rig.solve('c1', name, mine(work, 1))).toEqual({
      state: 'verdict',
      outcome: 'stale',
      reason: 'its work has a solution already',
    });
    const cut = await coordinator.work();
    source.stale('new-cut', cut.work);
    await eventually(() => expect(coordinator.states.at(-1)!.work).toBeNull());
    expect(await rig.solve('c1', cut.name, mine(cut.work))).toMatchObject({
      outcome: 'stale',
      reason: 'found after its work went stale; not sent',
    });
    expect(source.submitted).toHaveLength(1);
  });

  it('that is repeated is submitted once and gets the same verdict', async () => {
    const { coordinator, source, rig, work, name } = await withRig({ answerMs: 1 });
    const { verdict, settle } = later();
    source.verdict = () => verdict;
    const solution = mine(work);
    expect(await rig.solve('c1', name, solution)).toEqual({ state: 'pending', coordinator: 'c1' });
    expect(await rig.solve('c1', name, solution)).toEqual({ state: 'pending', coordinator: 'c1' });
    expect(await rig.fallback('c1', name, solution).catch(({ fault }) => fault)).toBe('no-responders');
    settle({ outcome: 'accepted', reason: '', by: 'node1' });
    await eventually(async () =>
      expect(await rig.solve('c1', name, solution)).toEqual({
        state: 'verdict',
        outcome: 'accepted',
        reason: '',
        by: 'node1',
      }),
    );
    expect(source.submitted).toHaveLength(1);
    // Even after a New Cut, and when the source would answer otherwise.
    source.stale('new-cut', work);
    await coordinator.work();
    expect(await rig.solve('c1', name, solution)).toMatchObject({ outcome: 'accepted' });
    expect(coordinator.events.of('verdict')).toHaveLength(1);
  });

  it.each([
    ['', 3],
    [', also of rigs that share their bounds', 1],
  ])('that another rig has sent before is stale, so that no share counts twice%s', async (_, rigs) => {
    const { coordinator, source, rig: first } = await withRig({ reportMs: 5, rigs });
    const { work, name } = await coordinator.work(makeWork(4, { until: 'replaced' }));
    expect(await first.solve('c1', name, mine(work, 1))).toMatchObject({ outcome: 'accepted' });
    const [rig, other] = ['rig1', 'other'].map((each) => new TestRig(coordinator.nats, each));
    const stale = { outcome: 'stale', reason: 'another rig has sent the same solution before' };
    expect(await rig.solve('c1', name, mine(work))).toMatchObject({ outcome: 'accepted' });
    expect(await other.solve('c1', name, mine(work))).toMatchObject(stale);
    expect(await rig.solve('c1', name, mine(work))).toMatchObject({ outcome: 'accepted' });
    expect(source.submitted).toHaveLength(2);
  });

  it('that is repeated after thousands of others is not submitted again', async () => {
    const { coordinator, source, rig } = await withRig({ solutionBurst: 1e9 });
    const { work, name } = await coordinator.work(makeWork(1, { until: 'replaced' }));
    // Each hash meets the target.
    const share = (nonce: number) => solutionRequest('c1', name, { header: withNonce(work.header, BigInt(nonce)) });
    const subject = subjects.solution('c1', 'rig');
    const reply = 'pickaxe.inbox.rig.others';
    const count = 4_200;
    for (let nonce = 0; nonce < count; nonce++) {
      coordinator.nats.send(rig.link, { subject, data: messageBytes(share(nonce)), reply });
    }
    await eventually(() => expect(source.submitted.length).toBe(count));
    expect(await rig.request(subject, share(0))).toMatchObject({ outcome: 'accepted' });
    expect(source.submitted.length).toBe(count);
  });

  it('of a pool’s work is a share, and a repeated one gets its verdict, too', async () => {
    const { coordinator, source, rig } = await withRig({ verdicts: 2 });
    const terms = { nonce1: { value: 3, bytes: 1 as const }, until: 'replaced' as const };
    const { work, name } = await coordinator.work(makeWork(4, terms));
    const shares = [mineAt(work, creationTimeOf(work.header))];
    while (shares.length < 3) {
      const after = nonceOf(shares.at(-1)!.header) + 1n;
      for (let nonce = after; ; nonce++) {
        const { solution } = verify(prepareJob(work), nonce);
        if (!solution) continue;
        shares.push(solution);
        break;
      }
    }
    for (const share of [...shares, shares[2]]) {
      expect(await rig.solve('c1', name, share)).toMatchObject({ state: 'verdict', outcome: 'accepted' });
    }
    expect(source.submitted).toEqual(shares);
    // The verdict of the first is forgotten. It is not submitted again all the same.
    expect(await rig.solve('c1', name, shares[0])).toMatchObject({ outcome: 'unknown' });
    expect(source.submitted).toHaveLength(3);
  });
});

describe('a sender', () => {
  it('gets answers at its own inbox only', async () => {
    const { coordinator, source, rig, work, name } = await withRig({ helloBurst: 100 });
    const request = messageBytes(solutionRequest('c1', name, mine(work)));
    const victims: string[] = [];
    const replies = [
      'pickaxe.inbox.other.requests.1',
      'pickaxe.inbox.rig',
      'pickaxe.inbox.rig2.x',
      'pickaxe.work.c1',
      'pickaxe.inbox.rig.>',
      'pickaxe.inbox.rig.*',
    ];
    coordinator.nats.link('victim').subscribe('pickaxe.inbox.>', ({ subject }) => void victims.push(subject));
    const states = coordinator.states.length;
    for (const reply of [...replies, undefined]) {
      for (const subject of [subjects.solution('c1', 'rig'), subjects.hello('c1', 'rig')]) {
        coordinator.nats.send(rig.link, { subject, data: request, reply });
      }
    }
    expect(await rig.hello('c1')).toMatchObject({ work: name });
    expect(victims.filter((subject) => !subject.startsWith('pickaxe.inbox.rig.requests.'))).toEqual([]);
    expect(coordinator.states).toHaveLength(states);
    expect(source.submitted).toEqual([]);
  });

  it('without a name is ignored', async () => {
    const { coordinator, rig, work, name } = await withRig({ reportMs: 5 });
    const data = messageBytes(solutionRequest('c1', name, mine(work)));
    for (const sender of ['a%', 'a%2', '%41', 'a~', 'x'.repeat(65)]) {
      const reply = `pickaxe.inbox.${sender}.1`;
      coordinator.nats.send(rig.link, { subject: `pickaxe.solution.c1.${sender}`, data, reply });
    }
    await eventually(() => expect(coordinator.events.of('relay').at(-1)?.refused).toMatchObject({ 'wrong-name': 5 }));
    expect(coordinator.source.submitted).toEqual([]);
  });

  it('can have any name, which is printed on one line', async () => {
    const { coordinator, work, name } = await withRig();
    const strange = new TestRig(coordinator.nats, 'a.b*\n\u001b[31m>%');
    // The fake's links do not encode names.
    const link = coordinator.nats.link(strange.name, subjects.inbox(strange.name));
    const data = messageBytes(solutionRequest('c1', name, mine(work)));
    await link.request(subjects.solution('c1', strange.name), data, 60_000, new AbortController().signal);
    expect(coordinator.lines.slice(-2)).toEqual([
      `a.b* [31m>% has found the block of chain ${work.chain} at height ${work.height}: accepted`,
      'first accepted solution of a.b* [31m>%',
    ]);
  });

  it('of too many wrong solutions is refused for a minute, and others are not', async () => {
    const { coordinator, rig, work, name } = await withRig({ wrongBurst: 5, wrongPerMinute: 0, refusalBurst: 1_000 });
    const other = new TestRig(coordinator.nats, 'other');
    for (let time = 0; time < 6; time++) {
      expect(await rig.solve('c1', name, wrongSolution(work))).toMatchObject({ code: 'not-a-solution' });
    }
    expect(await rig.solve('c1', name, mine(work))).toMatchObject({ code: 'too-many' });
    expect(coordinator.lines.at(-1)).toBe('rig is refused for 60 s: it has sent too many wrong solutions');
    expect(await other.solve('c1', name, mine(work))).toMatchObject({ outcome: 'accepted' });
    coordinator.nowMs += 59_999;
    expect(await rig.solve('c1', name, mine(work))).toMatchObject({ code: 'too-many' });
    coordinator.nowMs += 1;
    expect(await rig.solve('c1', name, mine(work))).toMatchObject({ state: 'verdict' });
  });
});
