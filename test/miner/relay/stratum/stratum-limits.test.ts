import { describe, expect, it } from 'vitest';
import { TokenBucket } from '#pickaxe/base/system/bounded.js';
import { rollMs } from '#pickaxe/miner/relay/stratum/jobs.js';
import {
  Bans,
  ConnectionLimiter,
  mostConnections,
  networkOf,
  type SharedLines,
  siteOf,
  stratumLimits,
} from '#pickaxe/miner/relay/stratum/stratum-limits.js';
import { RateChangeDetector, RememberedRates } from '#pickaxe/miner/relay/stratum/vardiff.js';
import { agentName, chosenDifficulty, reversesNonces, workerName } from '#pickaxe/protocol/wire/stratum.js';

describe('a token bucket', () => {
  it('gives so many at once, and then so many a second', () => {
    const bucket = new TokenBucket(3, 2, 0);
    expect([1, 2, 3, 4].map(() => bucket.take(1, 0))).toEqual([true, true, true, false]);
    expect([bucket.take(1, 499), bucket.take(1, 500), bucket.take(1, 501)]).toEqual([false, true, false]);
    expect([1, 2, 3, 4].map(() => bucket.take(1, 100_000))).toEqual([true, true, true, false]);
  });

  it('gives so many a second also to those who ask all the time', () => {
    const bucket = new TokenBucket(3, 0.1, 0);
    const given = Array.from({ length: 1_000 }, (_, tenth) => bucket.take(1, 100 * tenth));
    expect(given.filter(Boolean)).toHaveLength(3 + 9);
  });
});

describe('bans', () => {
  const limits = { banPoints: 10, banPointsPerMinute: 6, banMs: 1_000, remembered: 3 };

  it('begin when the points are used up, and end after their time', () => {
    const bans = new Bans(limits);
    expect([bans.note('192.0.2.1', 6, 0), bans.note('192.0.2.1', 6, 0), bans.note('192.0.2.1', 6, 0)]).toEqual([
      false,
      true,
      false,
    ]);
    expect([0, 999, 1_000].map((nowMs) => bans.isBanned('192.0.2.1', nowMs))).toEqual([true, true, false]);
    expect(bans.isBanned('192.0.2.2', 0)).toBe(false);
  });

  it('are never for one small fault in a while', () => {
    const bans = new Bans(limits);
    for (let minute = 0; minute < 100; minute++) expect(bans.note('::1', 6, 60_000 * minute)).toBe(false);
  });

  it('are for faults that come faster than so many points a minute', () => {
    const bans = new Bans(limits);
    expect([0, 10_000, 20_000].map((nowMs) => bans.note('192.0.2.1', 5, nowMs))).toEqual([false, false, true]);
  });

  it('remember a bounded number of addresses', () => {
    const bans = new Bans(limits);
    bans.note('192.0.2.1', 11, 0);
    for (let last = 2; last < 5; last++) bans.note(`192.0.2.${last}`, 1, 0);
    expect(bans.isBanned('192.0.2.1', 0)).toBe(false);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:205', '192.0.2.5'],
    ['0:0:0:0:0:FFFF:c000:0205', '192.0.2.5'],
    ['::c000:205', '0:0:0:0::/64'],
    ['::ffff:0:c000:205', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::5', '2001:db8:0:0::/64'],
    ['2001:0db8:0:0:0:0:0:5', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
  ])('count %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ])('count connections, lines and the ledger’s lines of %s as those of %s', (address, network) => {
    expect(siteOf(address)).toBe(network);
  });

  it('are logged at a bounded rate', () => {
    const warnings: string[] = [];
    const log = { debug() {}, info() {}, warn: (line: string) => void warnings.push(line) };
    const doorkeeper = new ConnectionLimiter(stratumLimits, log, 0);
    for (let last = 0; last < 100; last++) doorkeeper.note(`192.0.2.${last}`, 1_000, 'junk', 0);
    expect(warnings).toHaveLength(10);
    doorkeeper.note('198.51.100.1', 1_000, 'junk', 10_000);
    expect(warnings.at(-1)).toBe('198.51.100.1 is banned for 5 minutes: junk; so were 90 others');
  });

  it('are logged also while there is no pause between them', () => {
    const warnings: string[] = [];
    const log = { debug() {}, info() {}, warn: (line: string) => void warnings.push(line) };
    const doorkeeper = new ConnectionLimiter(stratumLimits, log, 0);
    for (let second = 0; second < 60; second++) doorkeeper.note(`192.0.2.${second}`, 1_000, 'junk', 1_000 * second);
    expect(warnings).toHaveLength(10 + 5);
  });
});

describe('connections from one address', () => {
  const SILENT = { debug() {}, info() {}, warn() {} };
  const doorkeeper = (limits: Partial<typeof stratumLimits>) =>
    new ConnectionLimiter({ ...stratumLimits, ...limits }, SILENT, 0);
  /** Takes as many lines as there are. */
  const drain = (lines: unknown) => {
    let count = 0;
    while ((lines as SharedLines).take(false, 0)) count++;
    return count;
  };

  it('are bounded, with IPv6 for each network of 48 bits, and those that have ended do not count', () => {
    const door = doorkeeper({ connectionsPerAddress: 2 });
    const enter = (address: string) => typeof door.enter(address, 0) !== 'string';
    expect([1, 2, 3].map((n) => enter(`2001:db8:0:${n}::1`))).toEqual([true, true, false]);
    expect(enter('2001:db8:1::1')).toBe(true);
    door.leave('2001:db8:0:1::1');
    expect([7, 8].map((n) => enter(`2001:db8:0:${n}::1`))).toEqual([true, false]);
  });

  it('may all come at once, as those of a farm do after a restart', () => {
    const door = doorkeeper({});
    const refused = Array.from({ length: 8_193 }, () => door.enter('192.0.2.1', 0)).filter(
      (got) => typeof got === 'string',
    );
    expect(refused).toEqual(['crowded']);
  });

  it('may all be restarted twice in quick succession, and are banned where that does not end', () => {
    const door = doorkeeper({});
    const restart = () => {
      const got = Array.from({ length: 8_192 }, () => door.enter('192.0.2.1', 0));
      for (const lines of got) if (typeof lines !== 'string') door.leave('192.0.2.1');
      return got.filter((lines) => lines === 'banned').length;
    };
    expect([restart(), restart(), restart()]).toEqual([0, 0, 0]);
    expect(restart()).toBeGreaterThan(7_000);
  });

  it('share their lines, and have no more after they have come again', () => {
    const door = doorkeeper({ addressLineBurst: 50 });
    const [one, other] = [door.enter('192.0.2.1', 0), door.enter('192.0.2.1', 0)];
    expect([drain(one), drain(other), drain(door.enter('192.0.2.2', 0))]).toEqual([50, 0, 50]);
    door.leave('192.0.2.1');
    door.leave('192.0.2.1');
    expect(drain(door.enter('192.0.2.1', 0))).toBe(0);
  });

  it('are remembered for a bounded number of addresses once all have ended', () => {
    const door = doorkeeper({ addressLineBurst: 50, remembered: 3 });
    const visit = (address: string) => {
      const count = drain(door.enter(address, 0));
      door.leave(address);
      return count;
    };
    const visitors = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1', '192.0.2.4', '192.0.2.5'];
    expect(visitors.map(visit)).toEqual([50, 0, 50, 50, 0, 50, 50]);
    expect(['192.0.2.1', '192.0.2.2'].map(visit)).toEqual([0, 50]);
  });
});

it.each([
  ['nothing is short', { files: 524_288, memory: 2 ** 36, threads: 8 }, { count: 66_560 }],
  ['there is no limit', { memory: 2 ** 36, threads: 8 }, { count: 66_560 }],
  ['2,000 files', { files: 2_000, memory: 2 ** 36, threads: 2 }, { count: 1_736, short: 'files' }],
  ['256 files', { files: 256, memory: 2 ** 36, threads: 2 }, { count: 128, short: 'files' }],
  ['4 GiB', { files: 524_288, memory: 2 ** 32, threads: 2 }, { count: 16_384, short: 'memory' }],
] as const)('there are as many connections as files and memory allow: %s', (_, means, most) => {
  expect(mostConnections(means)).toEqual(most);
});

it('a rate is remembered for a bounded number of workers', () => {
  const rates = new RememberedRates(2);
  const known = (shares: number) => ({ shares, exposure: 1 });
  for (const [index, worker] of ['a', 'b', 'a', 'c'].entries()) rates.put('192.0.2.1', worker, known(index));
  expect(['a', 'b', 'c'].map((worker) => rates.get('192.0.2.1', worker)?.shares)).toEqual([2, undefined, 3]);
});

it('a rate counts for clients of the same network only', () => {
  const rates = new RememberedRates(10);
  const known = { shares: 600, exposure: 1 };
  rates.put('2001:db8::1', 'rig', known);
  const addresses = ['2001:db8::2', '2001:db8:0:1::1', '192.0.2.1'];
  expect(addresses.map((address) => rates.get(address, 'rig'))).toEqual([known, undefined, undefined]);
});

it.each([
  [undefined, 500],
  [0, 30_000],
  [1e9, 30_000],
  [10e12, 7_037],
  [140e12, 503],
  [5e15, 100],
])('a miner of %d H/s gets a job after %d ms at the latest', (rate, ms) => {
  expect(Math.round(rollMs(rate))).toBe(ms);
});

describe('a surprise', () => {
  it('is a rate that is far higher or lower, and soon', () => {
    const [low, high] = [new RateChangeDetector(), new RateChangeDetector()];
    let waited = 0;
    while (!low.note(0, 1)) waited++;
    expect(waited).toBe(16);
    let came = 0;
    let since: ReturnType<RateChangeDetector['note']>;
    while (!since) {
      came++;
      since = high.note(1, 0.1);
    }
    expect(came).toBe(14);
    expect(since).toMatchObject({ shares: 14, expected: expect.closeTo(1.4) });
  });

  it('is not a rate that stays', () => {
    const surprise = new RateChangeDetector();
    for (let count = 0; count < 10_000; count++) expect(surprise.note(1, 1)).toBeUndefined();
  });
});

it.each([
  ['rig', 'rig'],
  ['', 'unnamed'],
  ['\u0007', 'unnamed'],
  [undefined, 'unnamed'],
  [7, 'unnamed'],
  ['x'.repeat(128), 'x'.repeat(128)],
  ['x'.repeat(129), `${'x'.repeat(127)}…`],
  // The account of a key and a worker's name stay whole: the page and the tables shorten them, and can tell rigs apart.
  [`k:${'a'.repeat(64)}.rig`, `k:${'a'.repeat(64)}.rig`],
  [`k:${'a'.repeat(130)}.rig`, `k:${'a'.repeat(121)}….rig`],
  [`a.${'b'.repeat(140)}`, `a.${'b'.repeat(125)}…`],
])('the worker %j is called %s', (user, name) => {
  expect(workerName(user)).toBe(name);
});

it('programs are recognized by their names, where they have quirks', () => {
  expect(agentName(null)).toBe('');
  expect(['BlackMiner F1', 'blackminer/2', 'F1-mini', 'Black Miner'].every(reversesNonces)).toBe(true);
  expect(['', 'kdaminer-v1.0.0', 'bmminer/1.0.0', 'cgminer/4.11', 'gf1'].some(reversesNonces)).toBe(false);
  expect([chosenDifficulty('a d=2 b'), chosenDifficulty('rd=2'), chosenDifficulty(7)]).toEqual([
    2 ** 33,
    undefined,
    undefined,
  ]);
});
