/** What shares of a session are worth, and which of them become blocks. */

import { afterEach, describe, expect, it } from 'vitest';
import { JobTable, SharedJobs } from '#pickaxe/miner/relay/stratum/jobs.js';
import { judgeShare } from '#pickaxe/miner/relay/stratum/shares.js';
import type { StratumLimits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';
import { type Job, prepareJob } from '#pickaxe/protocol/chain/job.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../../fakes.ts';
import { eventually } from '../../source/follow.ts';
import { difficultyOfHashes, jobOf, mineShare, parse, SessionBench, type TestClient } from './session-bench.ts';

/** So hard that no test meets it. */
const HARD = 2 ** 60;
/** In hashes. */
const EASY = 100;
const HARDER = 1_000;
const NONCE1 = 0x0102;

const benches: SessionBench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.end();
});

async function serving(work: Work, limits: Partial<StratumLimits> = {}) {
  const bench = new SessionBench(limits);
  benches.push(bench);
  await bench.give(work);
  return { bench, work, client: bench.client() };
}

const suggest = (hashes: number) =>
  JSON.stringify({ id: 3, method: 'mining.suggest_difficulty', params: [difficultyOfHashes(hashes)] });

/** @returns the newest job and target that the server has told */
function newest(work: Work, lines: readonly string[]) {
  const messages = lines.map(parse);
  const notify = messages.findLast(({ method }) => method === 'mining.notify');
  const target = messages.findLast(({ method }) => method === 'mining.set_target');
  return { ...jobOf(work, notify, target.params[0]), target: target.params[0] as string };
}

/** @returns nonce2 of a share that meets the first target and misses the second one, both in hashes */
function between(job: Job, meets: number, misses: number, from = 1): string {
  for (let next = from; ; next++) {
    const nonce2 = mineShare(at(job, meets), NONCE1, next);
    next = Number.parseInt(nonce2, 16);
    if (mineShare(at(job, misses), NONCE1, next) !== nonce2) return nonce2;
  }
}

function at(job: Job, difficulty: number): Job {
  const { header } = job;
  return { ...prepareJob({ ...job.work, header, target: targetForDifficulty(difficulty), rollTime: false }), header };
}

const shares = ({ ledger }: SessionBench) => ledger.filter((entry) => entry.type === 'share');
const worths = (bench: SessionBench) => shares(bench).map(({ difficulty }) => difficulty && Math.round(difficulty));

/** A session whose target has changed. */
async function changed(from: number, to: number) {
  const world = await serving(makeWork(HARD));
  const { bench, client, work } = world;
  client.say(suggest(from));
  const first = newest(
    work,
    client.login().map((message) => JSON.stringify(message)),
  );
  bench.nowMs += 200;
  return { ...world, first, second: newest(work, client.say(suggest(to))) };
}

describe('a share counts for the target of its own job only', () => {
  it('where the former, easier target is accepted for some seconds', async () => {
    const { bench, client, second } = await changed(EASY, HARDER);
    const own = mineShare(at(second.job, HARDER), NONCE1);
    const other = mineShare(at(second.job, HARDER), NONCE1, Number.parseInt(own, 16) + 1);
    const counted = [own, between(second.job, EASY, HARDER), other].map((nonce2) => {
      bench.nowMs += 100;
      expect(client.submit(second.id, nonce2).result).toBe(true);
      return client.session.jobs?.known.shares;
    });
    expect(worths(bench)).toEqual([HARDER, 0, HARDER]);
    // The first one begins the measurement, and the second one tells nothing of the miner's rate.
    expect(counted).toEqual([0, 0, 1]);
    expect(bench.world.accounts.list(bench.nowMs)).toMatchObject([{ accepted: 3, rejected: 0 }]);
  });

  it('where the newest target is easier, which is accepted for all earlier jobs', async () => {
    const { bench, client, first } = await changed(HARDER, EASY);
    expect(client.submit(first.id, between(first.job, EASY, HARDER)).result).toBe(true);
    expect(client.submit(first.id, mineShare(at(first.job, HARDER), NONCE1)).result).toBe(true);
    expect(worths(bench)).toEqual([0, HARDER]);
  });

  it('and where jobs have the same header, for that of the first, so that nobody chooses the job that pays more', async () => {
    const { bench, client, work } = await serving(makeWork(HARD, { rollTime: false }));
    client.say(suggest(EASY));
    const first = newest(
      work,
      client.login().map((message) => JSON.stringify(message)),
    );
    const second = newest(work, client.say(suggest(HARDER)));
    expect([second.id === first.id, second.job.header]).toEqual([false, first.job.header]);
    expect(client.submit(second.id, mineShare(at(second.job, HARDER), NONCE1)).result).toBe(true);
    expect(worths(bench)).toEqual([EASY]);
  });
});

describe('the former target', () => {
  /** A session whose target has become harder with new work, and does not change again. Its jobs stay for 30 s. */
  async function held() {
    const world = await serving(makeWork(EASY));
    const { bench, client } = world;
    bench.world.rates.put('192.0.2.1', 'slow', { shares: 600, exposure: 600 / 1e9 });
    const [target] = client.login('slow', 'd=1');
    const work = await bench.give(makeWork(HARD));
    const [, notify] = client.read().map(parse);
    return { ...world, work, ...jobOf(work, notify, target.params[0]), target: target.params[0] };
  }

  it('is accepted for ten seconds after a change, also for a job that lasts longer', async () => {
    const { bench, client, job, id } = await held();
    const one = mineShare(job, NONCE1);
    const other = mineShare(job, NONCE1, Number.parseInt(one, 16) + 1);
    bench.nowMs += 9_999;
    expect(client.submit(id, one, 'slow').result).toBe(true);
    bench.nowMs += 1;
    expect(client.submit(id, other, 'slow').error).toEqual([23, 'low difficulty share', null]);
  });

  it('is not accepted for later jobs', async () => {
    const { bench, client, target, work } = await held();
    bench.pass(31);
    const messages = client.read().map(parse);
    expect(messages.map(({ method }) => method)).toEqual(['mining.notify']);
    const { id, job } = jobOf(work, messages[0], target);
    expect(client.submit(id, mineShare(job, NONCE1), 'slow').error[0]).toBe(23);
  });
});

describe('a nonce counts once', () => {
  it('also where the source gives the same bytes as new work', async () => {
    const { bench, client, work } = await serving(makeWork(HARD));
    // A node whose clock is far ahead: the creation time cannot be moved for a while.
    bench.source.latestUs = () => 0n;
    const [target, notify] = client.login('w', 'd=0.00000005');
    const first = jobOf(work, notify, target.params[0]);
    const nonce2 = mineShare(first.job, NONCE1);
    expect(client.submit(first.id, nonce2).result).toBe(true);
    await bench.condemn(work);
    await bench.give({ ...work });
    const [again] = client.read().map(parse);
    expect(again.params).toEqual(['00000002', notify.params[1], true]);
    expect(client.submit(again.params[0], nonce2).error[0]).toBe(22);
  });

  it('also after many others: a header has a bounded number, and further shares of it are too late', () => {
    const table = new JobTable();
    const work = makeWork(HARD);
    const shared = new SharedJobs({ jobOf: () => prepareJob(work) }, 100).later(work, undefined, 0)!;
    const terms = { target: targetForDifficulty(EASY), difficulty: EASY };
    table.add(shared, terms);
    const powHash = new Uint8Array(32);
    const judge = () => ({ powHash, proves: true, solution: undefined, verdict: undefined });
    const works = { judge, isStale: () => false };
    const given = table.get(shared.number)!;
    const resultOf = (nonce: number) => judgeShare(works, given, undefined, BigInt(nonce), 0).result;
    for (let nonce = 0; nonce < 4_096; nonce++) expect(resultOf(nonce)).toBe('accepted');
    expect([4_096, 0, 4_095].map(resultOf)).toEqual(['stale', 'duplicate', 'duplicate']);
    // A block is none too many.
    const solution = { isBlock: true };
    const block = { powHash, proves: true, solution, verdict: Promise.resolve({ outcome: 'accepted', reason: '' }) };
    const found = judgeShare({ ...works, judge: () => block as never }, given, undefined, 4_097n, 0);
    expect(found).toMatchObject({ result: 'accepted', isBlock: true });
  });

  it('and a block counts though its target were harder than a share’s by a rounding error', () => {
    const table = new JobTable();
    const work = makeWork(EASY);
    const shared = new SharedJobs({ jobOf: () => prepareJob(work) }, 100).later(work, undefined, 0)!;
    table.add(shared, { target: work.target, difficulty: EASY });
    const judge = () => ({
      powHash: work.target,
      proves: false,
      solution: { isBlock: true },
      verdict: Promise.resolve({ outcome: 'accepted', reason: '' }),
    });
    const given = table.get(shared.number)!;
    const judged = judgeShare({ judge: judge as never, isStale: () => false }, given, undefined, 1n, 0);
    expect(judged).toMatchObject({ result: 'accepted', isBlock: true, difficulty: EASY });
  });
});

describe('a share of a pool’s work', () => {
  it('is submitted, and is no block unless it meets the block’s target', async () => {
    const { bench, client, work } = await serving(
      makeWork(EASY, { until: 'replaced', blockTarget: targetForDifficulty(HARD) }),
    );
    const [target, notify] = client.login();
    const { id, job } = jobOf(work, notify, target.params[0]);
    expect(client.submit(id, mineShare(job, NONCE1)).result).toBe(true);
    await eventually(() => expect(bench.recorded.of('verdict')).toHaveLength(1));
    expect(bench.world.accounts.list(bench.nowMs)).toMatchObject([{ blocks: 0, accepted: 1 }]);
    expect(shares(bench)).toMatchObject([{ result: 'accepted', isBlock: false }]);
  });

  it('has the pool’s own target to the last digit, where that is easier than a share', async () => {
    const target = targetForDifficulty(EASY);
    target[0] = 0xab;
    const { client } = await serving({ ...makeWork(EASY, { until: 'replaced' }), target });
    const [told] = client.login();
    expect(told.params[0]).toMatch(/ab$/);
  });
});

it('only shares that were mined are lines that cost a client nothing', async () => {
  const { bench, client, work } = await serving(makeWork(HARD));
  client.say(suggest(EASY));
  const { id, job } = newest(
    work,
    client.login().map((message) => JSON.stringify(message)),
  );
  const jobNumber = Number.parseInt(id, 16);
  const good = [1, 2].reduce<string[]>((all) => {
    const from = all.length === 0 ? 1 : Number.parseInt(all[0], 16) + 1;
    return [...all, mineShare(at(job, EASY), NONCE1, from)];
  }, []);
  const take = (nonce2: string | undefined, number = jobNumber) => {
    const nonce = nonce2 === undefined ? undefined : (BigInt(`0x${nonce2}`) << 16n) | BigInt(NONCE1);
    return client.session.receive({ kind: 'share', id: 1, worker: 'w', job: id, jobNumber: number, nonce });
  };
  expect([take(good[0]), take(good[0]), take(mineShare(at(job, EASY), NONCE1, 1, false))]).toEqual([
    true,
    false,
    false,
  ]);
  expect([take(undefined), take(good[1], 0xffff)]).toEqual([false, false]);
  await bench.condemn(work);
  expect(take(good[1])).toBe(true);
  const results = ['accepted', 'duplicate', 'low-difficulty', 'invalid', 'unknown-job', 'stale'];
  expect(shares(bench).map(({ result }) => result)).toEqual(results);
});

it('the ledger has sixteen characters of what a client calls its job', async () => {
  const { bench, client } = await serving(makeWork(HARD));
  client.login();
  for (const job of ['x'.repeat(16), 'y'.repeat(17)]) client.submit(job, '01');
  expect(shares(bench).map(({ job }) => job)).toEqual(['x'.repeat(16), 'y'.repeat(16)]);
});

describe('a work has one block', () => {
  /** A client with so many solutions of the work. */
  async function solving(count: number) {
    const world = await serving(makeWork(EASY));
    const [target, notify] = world.client.login();
    const { id, job } = jobOf(world.work, notify, target.params[0]);
    const nonces: string[] = [];
    for (let from = 1; nonces.length < count; from = Number.parseInt(nonces.at(-1)!, 16) + 1) {
      nonces.push(mineShare(job, NONCE1, from));
    }
    return { ...world, id, submit: (client: TestClient) => nonces.map((nonce2) => client.submit(id, nonce2).result) };
  }

  it('and its further solutions are shares', async () => {
    const { bench, client, submit } = await solving(3);
    expect(submit(client)).toEqual([true, true, true]);
    await eventually(() => expect(bench.world.accounts.list(bench.nowMs)).toMatchObject([{ blocks: 1, accepted: 3 }]));
    expect(bench.source.submitted).toHaveLength(1);
    expect(shares(bench).map(({ isBlock }) => isBlock)).toEqual([true, false, false]);
    expect(worths(bench)).toEqual([EASY, EASY, EASY]);
    expect(bench.recorded.of('accepted-block')).toHaveLength(1);
  });

  it('also when the source has not accepted it', async () => {
    const { bench, client, submit } = await solving(3);
    bench.source.verdict = () => ({ outcome: 'rejected', reason: 'Invalid POW hash' });
    expect(submit(client)).toEqual([true, true, true]);
    await eventually(() => expect(bench.recorded.of('verdict')).toHaveLength(1));
    expect(bench.source.submitted).toHaveLength(1);
    expect(bench.world.accounts.list(bench.nowMs)).toMatchObject([{ blocks: 0, accepted: 3 }]);
  });

  it('and sessions get no more jobs of it, but a clean one of the next work', async () => {
    const { bench, client, submit } = await solving(1);
    submit(client);
    client.read();
    bench.pass(60);
    const late = bench.client();
    expect([client.read(), late.login('late')]).toEqual([[], []]);
    await bench.give(makeWork(HARD));
    for (const each of [client, late]) {
      const notify = each
        .read()
        .map(parse)
        .find(({ method }) => method === 'mining.notify');
      expect(notify.params[2]).toBe(true);
    }
  });
});
