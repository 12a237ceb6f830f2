/** When a session gets a job, and with which target. */

import { afterEach, describe, expect, it } from 'vitest';
import { difficultyOf, integerToTarget, targetForDifficulty, targetToInteger } from '#pickaxe/protocol/chain/target.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { parseTarget } from '#pickaxe/protocol/wire/stratum.js';
import { makeWork } from '../../../fakes.ts';
import {
  difficultyOfHashes,
  jobOf,
  type Message,
  mineShare,
  parse,
  SessionBench,
  type TestClient,
} from './session-bench.ts';

/** So hard that no test meets it. */
const HARD = 2 ** 60;
const NONCE1 = 0x0102;

const benches: SessionBench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.end();
});

async function serving(work: Work) {
  const bench = new SessionBench();
  benches.push(bench);
  await bench.give(work);
  return { bench, work, client: bench.client() };
}

const suggest = (hashes: number) =>
  JSON.stringify({ id: 3, method: 'mining.suggest_difficulty', params: [difficultyOfHashes(hashes)] });
const recorded = (client: TestClient): Message[] => client.read().map(parse);
const kinds = (messages: readonly Message[]) => messages.map(({ method }) => method?.slice('mining.'.length));

describe('a new target', () => {
  it('goes with a clean job, also with new work that leaves the jobs before it good', async () => {
    const { bench, client } = await serving(makeWork(HARD));
    bench.source.latestUs = () => 0n;
    client.login();
    expect(client.say(suggest(2 ** 40))).toHaveLength(1);
    await bench.give(makeWork(HARD));
    const messages = recorded(client);
    expect(kinds(messages)).toEqual(['set_target', 'notify']);
    expect(messages[1].params[2]).toBe(true);
  });

  it('waits three seconds for a later creation time, and no longer', async () => {
    const { bench, client } = await serving(makeWork(HARD));
    bench.source.latestUs = () => 0n;
    const [, first] = client.login('w', 'x');
    client.say(suggest(2 ** 40));
    bench.pass(2.9);
    expect(recorded(client)).toEqual([]);
    bench.pass(0.1);
    const messages = recorded(client);
    expect(kinds(messages)).toEqual(['set_target', 'notify']);
    expect(messages[1].params).toEqual([expect.not.stringMatching(first.params[0]), first.params[1], true]);
  });
});

it('a target as hard as a block is the target of the block, to its last bit', async () => {
  const like = makeWork(10_007);
  const target = integerToTarget(targetToInteger(like.target) + 1n);
  expect(targetForDifficulty(difficultyOf(target))).not.toEqual(target);
  const { client } = await serving({ ...like, target });
  client.say(suggest(difficultyOf(target)));
  const [terms] = client.login('w', 'x');
  expect(parseTarget(terms.params[0])).toEqual(target);
});

describe('a client that sends no share', () => {
  it('is looked at once a second, so its target falls two seconds after that', async () => {
    const { bench, client } = await serving(makeWork(HARD, { rollTime: false }));
    client.login();
    bench.pass(2);
    expect(kinds(recorded(client))).toEqual([]);
    bench.pass(0.1);
    expect(kinds(recorded(client))).toEqual(['set_target', 'notify']);
    bench.pass(1.9);
    expect(kinds(recorded(client))).toEqual([]);
    bench.pass(0.1);
    expect(kinds(recorded(client))).toEqual(['set_target', 'notify']);
  });

  it('is listed with its first difficulty before there is work', async () => {
    const bench = new SessionBench();
    benches.push(bench);
    bench.client().login('w', 'd=1');
    bench.client().login('v');
    const listed = bench.world.accounts.list(bench.nowMs).map(({ name, difficulty }) => [name, difficulty]);
    expect(listed).toEqual([
      ['v', 2 ** 42],
      ['w', 2 ** 32],
    ]);
  });
});

describe('a target that is too easy', () => {
  it.each([
    [2 ** 42, false],
    [2 ** 42 * 1.01, true],
  ])('by a factor above sixteen does not wait for a later creation time: from 2^38 to %d', async (hashes, comes) => {
    const { bench, client } = await serving(makeWork(HARD));
    bench.source.latestUs = () => 0n;
    client.say(suggest(2 ** 38));
    client.login('w', 'x');
    expect(client.say(suggest(hashes)).length > 1).toBe(comes);
  });

  it('is raised with the share that shows it, and further where lines wait', async () => {
    const { bench, client, work } = await serving(makeWork(HARD));
    const [target, notify] = client.login('w', `d=${difficultyOfHashes(50)}`);
    const { id, job } = jobOf(work, notify, target.params[0]);
    let from = 1;
    const share = () => {
      const nonce2 = mineShare(job, NONCE1, from);
      from = Number.parseInt(nonce2, 16) + 1;
      bench.nowMs += 10;
      client.submit(id, nonce2);
    };
    for (let shares = 0; shares < 9; shares++) {
      expect(client.read()).toEqual([]);
      share();
    }
    // A hundred shares a second, instead of ten.
    expect(kinds(recorded(client))).toEqual(['set_target', 'notify']);
    expect(client.session.jobs?.difficulty).toBeCloseTo(500, 0);
    share();
    expect(recorded(client)).toEqual([]);
    client.session.slowDown();
    share();
    expect(client.session.jobs?.difficulty).toBeGreaterThan(750);
  });
});

describe('a job with a later creation time, once there can be one', () => {
  /** A slow miner whose rate is known, so that its jobs last for 30 s. No later creation time is valid yet. */
  async function slow() {
    const { bench, client } = await serving(makeWork(HARD));
    bench.world.rates.put('192.0.2.1', 'slow', { shares: 600, exposure: 600 / 1e9 });
    let latestUs = 0n;
    bench.source.latestUs = () => latestUs;
    const first = client.login('slow', `d=${difficultyOfHashes(2 ** 36)}`).at(-1)?.params[1];
    const move = () => {
      latestUs = BigInt(Date.now()) * 1000n + 100_000_000n;
    };
    /** @returns whether each job that came has the first header */
    const jobs = () => recorded(client).map(({ params }) => params[1] === first);
    return { bench, move, jobs };
  }

  it('comes after 30 s at the earliest where only the job was sent again, which is after 30 s, too', async () => {
    const { bench, move, jobs } = await slow();
    bench.pass(29.9);
    expect(jobs()).toEqual([]);
    bench.pass(0.1);
    expect(jobs()).toEqual([true]);
    move();
    bench.pass(29.9);
    expect(jobs()).toEqual([]);
    bench.pass(0.1);
    expect(jobs()).toEqual([false]);
  });
});

it('a job with a later creation time that is due comes as soon as there can be one', async () => {
  const { bench, client } = await serving(makeWork(HARD));
  let latestUs = 0n;
  bench.source.latestUs = () => latestUs;
  const first = client.login('w', 'd=4096').at(-1)?.params[1];
  bench.pass(0.6);
  expect(recorded(client)).toEqual([]);
  latestUs = BigInt(Date.now()) * 1000n + 100_000_000n;
  bench.pass(0.1);
  const later = recorded(client);
  expect([kinds(later), later[0]?.params[1] === first]).toEqual([['notify'], false]);
});

it('a job with a later creation time comes as soon as there can be one, also when a too easy one was sent again', async () => {
  const { bench, client } = await serving(makeWork(HARD));
  let latestUs = 0n;
  bench.source.latestUs = () => latestUs;
  client.say(suggest(2 ** 32));
  const first = client.login('w', 'x').at(-1)?.params[1];
  // The header goes at once with a much harder target, and three seconds later with one that is easier again.
  expect(
    client
      .say(suggest(2 ** 40))
      .map(parse)
      .at(-1)?.params[1],
  ).toBe(first);
  expect(client.say(suggest(2 ** 39))).toHaveLength(1);
  bench.pass(3);
  expect(recorded(client).at(-1)?.params[1]).toBe(first);
  latestUs = BigInt(Date.now()) * 1000n + 100_000_000n;
  bench.pass(0.1);
  const later = recorded(client);
  expect([kinds(later), later[0].params[1] === first]).toEqual([['notify'], false]);
});

it('where the creation time may not be moved, a job comes every 30 s', async () => {
  const { bench, client } = await serving(makeWork(HARD, { rollTime: false }));
  client.login('w', 'd=1');
  bench.pass(61);
  expect(kinds(recorded(client))).toEqual(['notify', 'notify']);
});

it('the rate is soon known where blocks are easier than shares would be', async () => {
  const work = makeWork(50, { rollTime: false, until: 'replaced' });
  const { bench, client } = await serving(work);
  const [target, notify] = client.login('rig');
  const { id, job } = jobOf(work, notify, target.params[0]);
  // 1,000 H/s, in shares of 50 hashes: one each 50 ms.
  for (let share = 0, from = 1; share < 300; share++) {
    const nonce2 = mineShare(job, NONCE1, from);
    from = Number.parseInt(nonce2, 16) + 1;
    bench.nowMs += 50;
    expect(client.submit(id, nonce2, 'rig').result).toBe(true);
  }
  const { hashesPerSecond, isKnown } = client.session.jobs!;
  expect(isKnown).toBe(true);
  expect(hashesPerSecond / 1_000).toBeGreaterThan(0.9);
  expect(hashesPerSecond / 1_000).toBeLessThan(1.1);
});
