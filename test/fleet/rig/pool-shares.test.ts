/** Rigs of a fleet whose coordinator mines on a pool, over a real server: what becomes of each share. */

import { randomInt } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { FleetRelay } from '#pickaxe/fleet/coordinator/fleet-relay.js';
import { FleetSource } from '#pickaxe/fleet/rig/fleet-source.js';
import { OUTCOMES, type Outcome } from '#pickaxe/miner/events/vocabulary.js';
import { Submitter } from '#pickaxe/miner/source/submitter.js';
import { prepareJob, solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce, laneWithin } from '#pickaxe/protocol/chain/nonce.js';
import { type Solution, verify } from '#pickaxe/protocol/chain/verify.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { MockPool } from '../../../bench/lib/mock-pool.mjs';
import { Recorder } from '../../fakes.ts';
import { eventually, Follower } from '../../miner/source/follow.ts';
import { poolSource } from '../../miner/source/pool/pool.ts';
import { connect } from '../nats/links.ts';
import { noServer, TestServer, whyNoServer } from '../nats/server.ts';
import { SUBJECTS } from './world.ts';

const RIGS = 10;
const FIRST = { difficulty: 1e9, shareDifficulty: 50 };

class Rig {
  readonly events = new Recorder();
  readonly source: FleetSource;
  readonly follower: Follower;
  readonly #submitter: Submitter;
  readonly #page = randomInt(2 ** 16);
  /** Far from the last counter, which is 2^24 − 1 with three fixed bytes. */
  #counter = randomInt(2 ** 23);

  constructor(options: ConstructorParameters<typeof FleetSource>[0]) {
    this.source = new FleetSource(options, { limits: { gatherMs: 50 } });
    this.follower = new Follower(this.source);
    const isStale = ({ work }: Solution) => this.follower.of('stale').some(({ works }) => works.includes(work));
    this.#submitter = new Submitter({ source: this.source, emit: this.events.listen, clock: systemClock, isStale });
  }

  get work(): Work | undefined {
    return this.follower.received.at(-1);
  }

  find(work: Work): Solution {
    const job = prepareJob(work);
    for (;;) {
      const nonce = { ...laneWithin(work.nonce1, 0), counter: this.#counter++, page: this.#page };
      if (solves(job, nonce)) return verify(job, joinNonce(nonce)).solution as Solution;
    }
  }

  /** @returns the outcome */
  async submit(share: Solution): Promise<Outcome> {
    const verdict = await this.#submitter.submit(share, { name: 'cpu', isRelay: false }, this.follower.stop);
    return verdict!.outcome;
  }
}

/** Of these events. */
function countsOf(...recorders: readonly Recorder[]): Record<Outcome | 'found', number> {
  const verdicts = recorders.flatMap((recorder) => recorder.of('verdict'));
  const counts = OUTCOMES.map((outcome) => [outcome, verdicts.filter((each) => each.outcome === outcome).length]);
  return { found: recorders.flatMap((recorder) => recorder.of('solution')).length, ...Object.fromEntries(counts) };
}

async function start() {
  const server = await TestServer.start();
  const pool = new MockPool(FIRST);
  const source = poolSource(await pool.start());
  const events = new Recorder();
  const quiet = { debug: () => {}, info: () => {}, warn: () => {} };
  const member = async (name: string) => {
    const { link } = await connect([server.url], name, { inbox: SUBJECTS.inbox(name) });
    return { link, subjects: SUBJECTS, name };
  };
  const parts = { emit: events.listen, clock: systemClock, log: quiet, instance: 'a'.repeat(16) };
  const relay = new FleetRelay({ source, ...parts, ...(await member('north')) });
  await relay.open();
  const stop = new AbortController();
  const running = relay.run(stop.signal);
  const rigs = await Promise.all(
    Array.from({ length: RIGS }, async (_, i) => new Rig({ ...(await member(`rig${i}`)), rig: `rig${i}` })),
  );
  onTestFinished(async () => {
    await Promise.all(rigs.map(({ follower }) => follower.end()));
    stop.abort();
    await running;
    await pool.close();
  });
  /** Waits until all rigs have work of this kind. */
  const all = async (isSo: (work: Work) => boolean): Promise<Work[]> =>
    await eventually(() => rigs.map(({ work }) => (work && isSo(work) ? work : expect.fail('there is other work'))));
  const findAll = (works: readonly Work[]) => rigs.map((rig, i) => rig.find(works[i]));
  const submitAll = (shares: readonly Solution[]) => Promise.all(rigs.map((rig, i) => rig.submit(shares[i])));
  return { pool, events, rigs, all, findAll, submitAll };
}

it.skipIf(noServer)(`each share is counted once by its rig, its coordinator and the pool${whyNoServer}`, async () => {
  const warnings: string[] = [];
  const warned = ({ message }: Error) => warnings.push(message);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const { pool, events, rigs, all, findAll, submitAll } = await start();
  const each = (outcome: Outcome) => rigs.map(() => outcome);
  const nonce1 = (value: number) => (work: Work) => work.nonce1.value === value;

  const first = await all(nonce1(0x100));
  expect(await submitAll(findAll(first))).toEqual(each('accepted'));
  const early = findAll(first);

  // The pool asks for more hashes, and still takes what was found before.
  pool.setShareDifficulty(100);
  const harder = await all((work) => Buffer.compare(work.target, first[0].target) !== 0);
  expect(await submitAll(early)).toEqual(each('accepted'));
  expect(await submitAll(findAll(harder))).toEqual(each('accepted'));
  const old = findAll(harder);

  // Another nonce1 holds for later jobs, and may be longer.
  pool.changeNonce1(3);
  const changed = await all(nonce1(0xdc_0101));
  expect(await submitAll(old)).toEqual(each('accepted'));
  expect(await submitAll(findAll(changed))).toEqual(each('accepted'));
  const lost = findAll(changed);
  const kept = findAll(changed);

  // The connection ends before the pool has answered, and another one has a nonce1 of its own.
  pool.answers = false;
  const unanswered = submitAll(lost);
  await eventually(() => expect(pool.stats.accepted).toBe(6 * RIGS));
  await pool.goAway();
  expect(await unanswered).toEqual(each('unknown'));
  expect(await submitAll(kept)).toEqual(each('stale'));
  pool.answers = true;
  await pool.start();
  const renewed = await all(nonce1(0xdc_0102));
  expect(await submitAll(findAll(renewed))).toEqual(each('accepted'));
  // What it has not answered is not sent again.
  expect(await submitAll(findAll(changed))).toEqual(each('stale'));

  const counts = countsOf(...rigs.map((rig) => rig.events));
  expect(counts).toMatchObject({
    found: 9 * RIGS,
    accepted: 6 * RIGS,
    stale: 2 * RIGS,
    unknown: RIGS,
    rejected: 0,
  });
  // A rig sends no share whose work is known to be stale, so the coordinator does not know some of them.
  const { found, stale, ...answered } = countsOf(events);
  expect(counts).toMatchObject(answered);
  expect(found).toBe(answered.accepted + answered.rejected + answered.unknown + stale);
  // Such as one of Node.js about many listeners, which a coordinator would print.
  expect(warnings).toEqual([]);
  expect(pool.stats).toMatchObject({ accepted: 7 * RIGS, stale: 0, duplicate: 0, low: 0, wrong: 0, connections: 2 });
});
