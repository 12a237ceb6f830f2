/** What a stratum server takes of its clients, with the limits that it really has. */

import { afterEach, describe, expect, it } from 'vitest';
import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import { Bans } from '#pickaxe/miner/relay/stratum/bans.js';
import { SharedLines } from '#pickaxe/miner/relay/stratum/connection-limiter.js';
import { type LedgerEntry, type ShareEntry, ShareLogQuota } from '#pickaxe/miner/relay/stratum/share-log.js';
import { stratumLimits as limits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';
import { drained } from '../../../drained.ts';
import { makeWork } from '../../../fakes.ts';
import { parse, SessionBench } from './session-bench.ts';

const benches: SessionBench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.end();
});

function serving() {
  const bench = new SessionBench();
  benches.push(bench);
  return bench;
}

describe('the clients of one address', () => {
  it('may send 4,000 lines at once and 2,000 a second, all together', () => {
    const lines = new SharedLines(limits, 0);
    expect([drained(() => lines.take(false, 0)), drained(() => lines.take(false, 1_000))]).toEqual([4_000, 2_000]);
  });

  it('may have 100 penalty points at once and one a second, and are banned for five minutes with more', () => {
    const bans = new Bans(limits);
    const note = (points: number, nowMs: number) => bans.note('192.0.2.1', points, nowMs);
    expect([note(100, 0), note(0.5, 0)]).toEqual([false, true]);
    expect([0, 299_999, 300_000].map((nowMs) => bans.isBanned('192.0.2.1', nowMs))).toEqual([true, true, false]);
    const patient = new Bans(limits);
    const each = (nowMs: number, points: number) => patient.note('192.0.2.1', points, nowMs);
    expect([each(0, 100), each(1_000, 1), each(3_000, 2), each(3_000, 0.01)]).toEqual([false, false, false, true]);
  });

  it('are remembered for the last 10,000 addresses with penalties', () => {
    const bans = new Bans(limits);
    const others = (count: number, from: string) => {
      for (let i = 0; i < count; i++) bans.note(`${from}.${i >> 8}.${i & 255}`, 1, 0);
      return bans.isBanned('192.0.2.1', 0);
    };
    bans.note('192.0.2.1', 101, 0);
    expect([others(9_999, '198.18'), others(1, '198.19')]).toEqual([true, false]);
  });
});

describe('the share ledger', () => {
  const share = (more: Partial<ShareEntry> = {}): ShareEntry => {
    return { worker: 'w', result: 'accepted', difficulty: 7, isBlock: false, ...more };
  };

  function quota() {
    const sums: LedgerEntry[] = [];
    const time = { ms: 0 };
    const clock = { monotonicMs: () => time.ms };
    return { time, sums, quota: new ShareLogQuota({ record: (entry) => sums.push(entry), clock, limits }) };
  }

  it('names 1,000 workers of an address whose shares it leaves out, and sums them up each minute', () => {
    const { time, sums, quota: ledger } = quota();
    while (ledger.admit('192.0.2.1', share(), 1_000));
    sums.length = 0;
    for (let number = 1; number <= 1_001; number++) ledger.admit('192.0.2.1', share({ worker: `w${number}` }), 1);
    time.ms = 59_999;
    ledger.admit('192.0.2.1', share(), 100_000);
    expect(sums).toEqual([]);
    time.ms = 60_000;
    ledger.admit('192.0.2.1', share(), 100_000);
    expect(sums).toHaveLength(1_001);
    expect(sums.at(-1)).toMatchObject({ worker: OTHER_WORKERS, lines: 2 });
    expect(sums.at(-2)).toMatchObject({ worker: 'w999', lines: 1 });
  });
});

describe('a session', () => {
  it('has 30 s to log in', () => {
    const bench = serving();
    const client = bench.client();
    bench.pass(29.9);
    expect(client.closed).toBeUndefined();
    bench.pass(0.1);
    expect(client.closed).toBe('no login');
  });

  it('may say ten lines of junk at once, and one a minute', () => {
    const bench = serving();
    const [client, other] = [bench.client(), bench.client()];
    const junk = (count: number) => {
      for (let i = 0; i < count; i++) client.say('junk');
      return client.closed;
    };
    expect(junk(10)).toBeUndefined();
    bench.nowMs += 60_000;
    expect([junk(1), junk(1)]).toEqual([undefined, 'junk']);
    for (let i = 0; i < 11; i++) other.say('junk');
    expect(other.closed).toBe('junk');
  });

  it('may authorize 16 workers', async () => {
    const bench = serving();
    await bench.give(makeWork(2 ** 60));
    const client = bench.client();
    const authorize = (id: number, worker: string) =>
      parse(client.say(`{"id":${id},"method":"mining.authorize","params":["${worker}","x"]}`)[0]);
    for (let id = 1; id <= 16; id++) expect(authorize(id, `w${id}`).result).toBe(true);
    expect(authorize(17, 'w17').error).toEqual([24, 'a connection has 16 workers at most', null]);
    // One that it has authorized already is no further one.
    expect(authorize(18, 'w16').result).toBe(true);
  });
});

it('a server says how it does every five seconds', () => {
  const bench = serving();
  const refused = {} as Parameters<typeof bench.sessions.report>[3];
  const report = (ms: number) => {
    bench.sessions.report('stratum', bench.recorded.listen, bench.world, refused, ms);
    return bench.recorded.of('relay').length;
  };
  expect([4_999, 5_000, 9_999, 10_000].map(report)).toEqual([0, 1, 1, 2]);
});
