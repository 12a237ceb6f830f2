import { describe, expect, it } from 'vitest';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { DeviceError, type Engine, type SearchReport } from '#pickaxe/miner/engine/engine.js';
import { solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce } from '#pickaxe/protocol/chain/nonce.js';
import { CheckedCandidates, doubtsOf, errorsOf, makeChallenge, searchChallenge } from '#pickaxe/rig/bench/challenge.js';
import { FakeEngine } from '../../fakes.ts';
import { ourNiceness } from '../../priority.ts';
import { honest, never, Tampered, withoutOne } from './engines.ts';
import { GOLDEN } from './golden.ts';

const [golden] = GOLDEN;
const challenge = makeChallenge('pickaxe', golden.count);

async function candidatesOf(engine: Engine): Promise<CheckedCandidates> {
  await engine.open();
  const candidates = new CheckedCandidates(challenge);
  await searchChallenge(engine, candidates, never);
  await engine.close();
  return candidates;
}

describe('the hash sum', () => {
  it.each([
    ['strips', new FakeEngine('cpu', { counters: 1_024, pages: 1 })],
    ['odd strips', new FakeEngine('cpu', { counters: 333, pages: 1 })],
    ['columns', new CpuEngine({ kernel: 'wasm', threads: 2, affinity: 'none', niceness: ourNiceness })],
  ])('is the same whatever the shape of the ranges is: %s', async (_, engine) => {
    const candidates = await candidatesOf(engine);
    expect(candidates.sum).toBe(golden.sum);
    expect(candidates).toMatchObject({ hashes: golden.count, complete: true, wrong: 0 });
    expect(candidates.found.size).toBe(golden.candidates);
    expect([...errorsOf(candidates.wrong, 0), ...doubtsOf(candidates)]).toEqual([]);
  });

  it('changes when a single candidate is missing', async () => {
    const candidates = await candidatesOf(withoutOne(honest()));
    expect(candidates.found.size).toBe(golden.candidates - 1);
    expect(candidates.sum).not.toBe(golden.sum);
  });

  it('ignores candidates that are wrong, repeated or of other nonces, and counts them', async () => {
    const { lane, page, counter } = challenge.ranges[0];
    const firstOn = (ofLane: number, wanted: boolean) => {
      for (let c = counter; ; c++) {
        const nonce = { lane: ofLane, step: 1, page, counter: c };
        if (solves(challenge.job, nonce) === wanted) return joinNonce(nonce);
      }
    };
    const unsolved = firstOn(lane, false);
    const foreign = firstOn(lane ^ 1, true);

    let first = true;
    const candidates = await candidatesOf(
      new Tampered(honest(), (report) => {
        if (!first || report.candidates.length === 0) return report;
        first = false;
        return { ...report, candidates: [...report.candidates, report.candidates[0], unsolved, foreign] };
      }),
    );
    expect(candidates.wrong).toBe(3);
    expect(candidates.sum).toBe(golden.sum);
  });

  it('is not complete when a device says that it skipped nonces', async () => {
    const lazy = new Tampered(honest(), (report) => ({ ...report, hashes: report.hashes - 1 }));
    await expect(candidatesOf(lazy)).rejects.toThrow(DeviceError);
  });

  it('is not complete when the search was stopped', async () => {
    const stop = new AbortController();
    const candidates = new CheckedCandidates(challenge);
    await searchChallenge(honest(), candidates, stop.signal, () => stop.abort());
    expect(candidates.complete).toBe(false);
    expect(candidates.hashes).toBeGreaterThan(0);
  });
});

describe('doubts about a result', () => {
  const report = (candidates: bigint[]): SearchReport => ({
    searched: challenge.ranges[0],
    hashes: challenge.count,
    beganMs: 0,
    candidates,
  });

  it('are raised by far too few candidates', async () => {
    const nonces = [...(await candidatesOf(honest())).found.keys()];
    const doubtsOfFirst = (count: number) => {
      const candidates = new CheckedCandidates(challenge);
      candidates.take(report(nonces.slice(0, count)));
      return doubtsOf(candidates);
    };
    expect(doubtsOfFirst(4_096 - 5 * 64)).toEqual([]);
    expect(doubtsOfFirst(4_096 - 5 * 64 - 1)).toEqual([expect.stringContaining('3775 candidates')]);
  });

  it('are raised by a sum other than the known one', () => {
    const candidates = new CheckedCandidates(makeChallenge('pickaxe', 2 ** 27));
    candidates.take({ ...report([]), hashes: 2 ** 27 });
    expect(doubtsOf(candidates)).toHaveLength(2);
    expect(doubtsOf(candidates)[1]).toContain('known to be right');
  });
});
