import { describe, expect, it } from 'vitest';
import { makeChallenge } from '#pickaxe/bench/challenge.js';
import { answer, Claims, doubtsOf, errorsOf } from '#pickaxe/bench/claims.js';
import { solves } from '#pickaxe/chain/job.js';
import { joinNonce } from '#pickaxe/chain/nonce.js';
import { CpuEngine } from '#pickaxe/engine/cpu/cpu-engine.js';
import { DeviceError, type Engine, type SearchReport } from '#pickaxe/engine/engine.js';
import { FakeEngine } from '../fakes.ts';
import { ourNiceness } from '../priority.ts';
import { honest, never, Tampered, withoutOne } from './engines.ts';
import { GOLDEN } from './golden.ts';

const [golden] = GOLDEN;
const challenge = makeChallenge('pickaxe', golden.count);

async function claimsOf(engine: Engine): Promise<Claims> {
  await engine.open();
  const claims = new Claims(challenge);
  await answer(engine, claims, never);
  await engine.close();
  return claims;
}

describe('the hash sum', () => {
  it.each([
    ['strips', new FakeEngine('cpu', { counters: 4_096, pages: 1 })],
    ['odd strips', new FakeEngine('cpu', { counters: 333, pages: 1 })],
    ['columns', new CpuEngine({ kernel: 'js', threads: 2, affinity: 'none', niceness: ourNiceness })],
  ])('is the same in whatever shape the nonces are searched: %s', async (_, engine) => {
    const claims = await claimsOf(engine);
    expect(claims.sum).toBe(golden.sum);
    expect(claims).toMatchObject({ hashes: golden.count, complete: true, wrong: 0 });
    expect(claims.found.size).toBe(golden.candidates);
    expect([...errorsOf(claims.wrong, 0), ...doubtsOf(claims)]).toEqual([]);
  });

  it('is another one when a single candidate is missing', async () => {
    const claims = await claimsOf(withoutOne(honest()));
    expect(claims.found.size).toBe(golden.candidates - 1);
    expect(claims.sum).not.toBe(golden.sum);
  });

  it('does not heed claims that do not solve, that are made twice or of other nonces; they are counted', async () => {
    const { lane, page, counter } = challenge.ranges[0];
    const firstOn = (ofLane: number, wanted: boolean) => {
      for (let c = counter; ; c++) {
        const nonce = { lane: ofLane, page, counter: c };
        if (solves(challenge.job, nonce) === wanted) return joinNonce(nonce);
      }
    };
    const unsolved = firstOn(lane, false);
    const foreign = firstOn(lane ^ 1, true);

    let first = true;
    const claims = await claimsOf(
      new Tampered(honest(), (report) => {
        if (!first || report.candidates.length === 0) return report;
        first = false;
        return { ...report, candidates: [...report.candidates, report.candidates[0], unsolved, foreign] };
      }),
    );
    expect(claims.wrong).toBe(3);
    expect(claims.sum).toBe(golden.sum);
  });

  it('is not had by a device that says itself that it left something out', async () => {
    const lazy = new Tampered(honest(), (report) => ({ ...report, hashes: report.hashes - 1 }));
    await expect(claimsOf(lazy)).rejects.toThrow(DeviceError);
  });

  it('is not complete when stopped', async () => {
    const stop = new AbortController();
    const claims = new Claims(challenge);
    await answer(honest(), claims, stop.signal, () => stop.abort());
    expect(claims.complete).toBe(false);
    expect(claims.hashes).toBeGreaterThan(0);
  });
});

describe('doubts', () => {
  const report = (candidates: bigint[]): SearchReport => ({
    searched: challenge.ranges[0],
    hashes: challenge.count,
    beganMs: 0,
    candidates,
  });

  it('are raised by far too few candidates', async () => {
    const nonces = [...(await claimsOf(honest())).found.keys()];
    const doubtsOfFirst = (count: number) => {
      const claims = new Claims(challenge);
      claims.take(report(nonces.slice(0, count)));
      return doubtsOf(claims);
    };
    expect(doubtsOfFirst(4_096 - 5 * 64)).toEqual([]);
    expect(doubtsOfFirst(4_096 - 5 * 64 - 1)).toEqual([expect.stringContaining('3775 candidates')]);
  });

  it('are raised by a sum that is not the known one', () => {
    const claims = new Claims(makeChallenge('pickaxe', 2 ** 27));
    claims.take({ ...report([]), hashes: 2 ** 27 });
    expect(doubtsOf(claims)).toHaveLength(2);
    expect(doubtsOf(claims)[1]).toContain('known to be right');
  });
});
