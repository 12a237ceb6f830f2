/** When a session gets a job, and with which target. */

import { afterEach, describe, expect, it } from 'vitest';
import type { Work } from '#pickaxe/protocol/chain/work.js';
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
