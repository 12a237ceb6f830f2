/** What clients can make the share ledger write. */

import { describe, expect, it } from 'vitest';
import { OTHER_WORKERS } from '#pickaxe/events/vocabulary.js';
import { type StratumLimits, stratumLimits } from '#pickaxe/relay/stratum/limits.js';
import { type LedgerEntry, type ShareEntry, ShareLogQuota } from '#pickaxe/relay/stratum/share-log.js';
import { type SessionEntry, SessionShareLog } from '#pickaxe/relay/stratum/shares.js';

const share = (worker: string, more: Partial<ShareEntry> = {}): ShareEntry => {
  return { worker, result: 'accepted', difficulty: 7, isBlock: false, ...more };
};

class LedgerBench {
  readonly told: LedgerEntry[] = [];
  readonly places: ShareLogQuota;
  nowMs = 0;
  #sessions = 0;

  constructor(limits: Partial<StratumLimits>) {
    this.places = new ShareLogQuota({
      record: (entry) => void this.told.push(entry),
      clock: { monotonicMs: () => this.nowMs },
      limits: { ...stratumLimits, ...limits },
      aimSeconds: 10,
    });
  }

  session(address = '192.0.2.1'): SessionShareLog {
    const session = ++this.#sessions;
    const begin: SessionEntry = { type: 'session', session, nonce1: '0000', worker: 'w', agent: '', address };
    return new SessionShareLog(this.places, begin);
  }

  get sums() {
    return this.told.flatMap((entry) => (entry.type === 'left-out' ? [entry] : []));
  }

  /** What all lines together say was hashed. */
  hashes(): number {
    const shares = this.told.flatMap((entry) => (entry.type === 'share' ? [entry.difficulty ?? 0] : []));
    return [...shares, ...this.sums.map(({ acceptedHashes }) => acceptedHashes)].reduce((a, b) => a + b, 0);
  }
}

describe('shares without a line', () => {
  it('are summed up by worker, for so many workers of a session, and for the others together', () => {
    const bench = new LedgerBench({ ledgerBurst: 0, workersPerSession: 3 });
    const book = bench.session();
    for (const worker of ['a', 'b', 'c', 'd', 'e', 'a']) book.write(share(worker));
    book.end();
    bench.places.close();
    expect(bench.sums.map(({ worker, lines }) => [worker, lines])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 1],
      [OTHER_WORKERS, 2],
    ]);
  });

  it('are summed up with all blocks among them', () => {
    const bench = new LedgerBench({ ledgerBurst: 0 });
    const book = bench.session();
    for (const isBlock of [true, false, true]) book.write(share('w', { isBlock }));
    book.write(share('w', { isBlock: true, result: 'stale' }));
    book.end();
    bench.places.close();
    expect(bench.sums).toMatchObject([{ lines: 4, accepted: 3, blocks: 2, acceptedHashes: 21 }]);
  });

  it('are all those that stand for nothing, after some', () => {
    const bench = new LedgerBench({ worthlessBurst: 2 });
    const book = bench.session();
    for (let count = 0; count < 10; count++) book.write(share('w', { difficulty: 0 }));
    book.write(share('w'));
    book.end();
    bench.places.close();
    expect(bench.told.filter(({ type }) => type === 'share')).toHaveLength(3);
    expect(bench.sums).toMatchObject([{ lines: 8, accepted: 8, acceptedHashes: 0 }]);
  });
});

describe('all sessions of one address together', () => {
  const limits = { ledgerBurst: 10, ledgerBurstPerAddress: 40, ledgerLinesPerSecondPerAddress: 1 };

  it('have a bounded number of lines, no credit is lost, and other addresses have their own', () => {
    const bench = new LedgerBench(limits);
    const books = Array.from({ length: 100 }, () => bench.session());
    for (let count = 0; count < 20; count++) for (const book of books) book.write(share('w'));
    expect(bench.told).toHaveLength(40);
    const other = bench.session('192.0.2.2');
    for (let count = 0; count < 20; count++) other.write(share('other'));
    expect(bench.told).toHaveLength(50);
    for (const book of [...books, other]) book.end();
    bench.places.close();
    expect(bench.hashes()).toBe(7 * 20 * 101);
  });

  it('are with IPv6 those of a network of 48 bits, as its connections are', () => {
    const bench = new LedgerBench(limits);
    const books = Array.from({ length: 100 }, (_, last) => bench.session(`2001:db8:0:${last}::1`));
    for (const book of books) for (let count = 0; count < 20; count++) book.write(share('w'));
    expect(bench.told).toHaveLength(40);
    bench.session('2001:db8:1::1').write(share('w'));
    expect(bench.told.length).toBeGreaterThan(40);
  });

  it('have so many lines a second from then on, and so many sums', () => {
    const bench = new LedgerBench(limits);
    const books = Array.from({ length: 100 }, () => bench.session());
    for (; bench.nowMs < 600_000; bench.nowMs += 1_000) for (const book of books) book.write(share('w'));
    // A line each second, and a sum each ten; a hundred sums each minute would be a thousand.
    expect(bench.told.length - bench.sums.length).toBeLessThanOrEqual(40 + 600);
    expect(bench.sums.length).toBeGreaterThan(30);
    expect(bench.sums.length).toBeLessThanOrEqual(4 + 60);
    for (const book of books) book.end();
    bench.places.close();
    expect(bench.hashes()).toBe(7 * 600 * 100);
  });

  it('have no more when they leave and come again', () => {
    const bench = new LedgerBench(limits);
    for (let count = 0; count < 100; count++) {
      const books = Array.from({ length: 10 }, () => bench.session());
      for (const book of books) book.write(share('w'));
      for (const book of books) book.end();
    }
    expect(bench.told).toHaveLength(40);
  });

  it('have by default what a hundred miners need at once, and a thousand from then on', () => {
    expect(stratumLimits).toMatchObject({ ledgerBurstPerAddress: 100_000, ledgerLinesPerSecondPerAddress: 200 });
  });
});
