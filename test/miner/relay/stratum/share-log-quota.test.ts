/** What clients can make the share ledger write. */

import { describe, expect, it } from 'vitest';
import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import { type LedgerEntry, type ShareEntry, ShareLogQuota } from '#pickaxe/miner/relay/stratum/share-log.js';
import { type StratumLimits, stratumLimits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';

const share = (worker: string, more: Partial<ShareEntry> = {}): ShareEntry => {
  return { worker, result: 'accepted', difficulty: 7, isBlock: false, ...more };
};

class QuotaBench {
  readonly sums: Extract<LedgerEntry, { type: 'left-out' }>[] = [];
  readonly quota: ShareLogQuota;
  nowMs = 0;
  /** What the shares with a line stand for, and how many those are. */
  hashes = 0;
  lines = 0;

  constructor(limits: Partial<StratumLimits>) {
    this.quota = new ShareLogQuota({
      record: (entry) => void (entry.type === 'left-out' && this.sums.push(entry)),
      clock: { monotonicMs: () => this.nowMs },
      limits: { ...stratumLimits, ...limits },
    });
  }

  bring(entry: ShareEntry, address = '192.0.2.1'): boolean {
    const isAdmitted = this.quota.admit(address, entry, 1);
    if (isAdmitted) this.lines++;
    if (isAdmitted) this.hashes += entry.difficulty ?? 0;
    return isAdmitted;
  }

  /** What all lines together say was hashed. */
  end(): number {
    this.quota.close();
    return this.sums.reduce((sum, { acceptedHashes }) => sum + acceptedHashes, this.hashes);
  }
}

describe('shares without a line', () => {
  it('are summed up by worker, for so many workers of an address, and for the others together', () => {
    const bench = new QuotaBench({ ledgerBurst: 0, ledgerWorkers: 3 });
    for (const worker of ['a', 'b', 'c', 'd', 'e', 'a']) bench.bring(share(worker));
    bench.quota.close();
    expect(bench.sums.map(({ worker, lines }) => [worker, lines])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 1],
      [OTHER_WORKERS, 2],
    ]);
  });

  it('are summed up with all blocks among them', () => {
    const bench = new QuotaBench({ ledgerBurst: 0 });
    for (const isBlock of [true, false, true]) bench.bring(share('w', { isBlock }));
    bench.bring(share('w', { isBlock: true, result: 'stale' }));
    bench.quota.close();
    const sum = { type: 'left-out', worker: 'w', lines: 4, accepted: 3, blocks: 2, acceptedHashes: 21 };
    expect(bench.sums).toEqual([sum]);
  });

  it('are those that cost nothing, once they have used up half of what the address has', () => {
    const bench = new QuotaBench({ ledgerBurst: 20, ledgerLinesPerSecond: 1 });
    for (let count = 0; count < 50; count++) {
      bench.bring(share('w', { difficulty: 0 }));
      bench.bring(share('w', { result: 'duplicate' }));
    }
    expect(bench.lines).toBe(10);
    for (let count = 0; count < 15; count++) bench.bring(share('honest'));
    expect(bench.lines).toBe(20);
    expect(bench.end()).toBe(7 * (15 + 5));
  });

  it('are not forgotten with an address that was away for so long that others have come', () => {
    const bench = new QuotaBench({ connections: 2, ledgerBurst: 0 });
    for (let last = 1; last <= 5; last++) bench.bring(share(`w${last}`), `192.0.2.${last}`);
    expect(bench.sums.map(({ worker }) => worker)).toEqual(['w1', 'w2', 'w3']);
    expect(bench.end()).toBe(7 * 5);
  });
});

it('an address that has brought a share of late is not the one that is forgotten', () => {
  const bench = new QuotaBench({ connections: 2, ledgerBurst: 0 });
  for (const last of [1, 2, 1, 3]) bench.bring(share(`w${last}`), `192.0.2.${last}`);
  expect(bench.sums.map(({ worker }) => worker)).toEqual(['w2']);
});

describe('all sessions of one address together', () => {
  const limits = { ledgerBurst: 40, ledgerLinesPerSecond: 1 };

  it('have a bounded number of lines, no credit is lost, and other addresses have their own', () => {
    const bench = new QuotaBench(limits);
    for (let count = 0; count < 2_000; count++) bench.bring(share('w'));
    expect(bench.lines).toBe(40);
    for (let count = 0; count < 20; count++) bench.bring(share('other'), '192.0.2.2');
    expect(bench.lines).toBe(60);
    expect(bench.end()).toBe(7 * 2_020);
  });

  it('are with IPv6 those of a network of 48 bits, as its connections are', () => {
    const bench = new QuotaBench(limits);
    for (let last = 0; last < 100; last++) bench.bring(share('w'), `2001:db8:0:${last}::1`);
    expect(bench.lines).toBe(40);
    expect(bench.bring(share('w'), '2001:db8:1::1')).toBe(true);
  });

  it('have so many lines a second from then on, and a sum of each worker each minute', () => {
    const bench = new QuotaBench(limits);
    for (; bench.nowMs < 600_000; bench.nowMs += 1_000) {
      for (let worker = 0; worker < 100; worker++) bench.bring(share(`w${worker % 3}`));
    }
    expect(bench.lines).toBeLessThanOrEqual(40 + 600);
    expect(bench.sums).toHaveLength(3 * 9);
    expect(bench.end()).toBe(7 * 600 * 100);
  });

  it('have by default what a hundred miners need at once, and a thousand from then on', () => {
    expect(stratumLimits).toMatchObject({ ledgerBurst: 100_000, ledgerLinesPerSecond: 200 });
  });
});
