import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { type Report, Reports } from '#pickaxe/miner/engine/gpu/child/searcher.js';
import type { Range } from '#pickaxe/protocol/chain/nonce.js';

/** Every report is sent within this time. */
const SOON_MS = 100;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function reports() {
  const sent: Report[] = [];
  const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => performance.now() };
  return { sent, reports: new Reports((report) => sent.push(report), clock) };
}

/** Reports after the first one of a search, which was sent at once: those that follow wait. */
function afterTheFirst() {
  const started = reports();
  started.reports.add(report(0, 1, { lane: 999 }));
  started.sent.length = 0;
  return started;
}

interface Place {
  search?: number;
  lane?: number;
  page?: number;
}

function report(counter: number, counters: number, place: Place = {}, ...candidates: bigint[]): Report {
  const { search = 0, lane = 7, page = 0 } = place;
  return {
    search,
    searched: { lane, step: 1, page, pages: 1, counter, counters },
    beganMs: performance.now(),
    candidates,
  };
}

describe('a report', () => {
  test('is sent at once when it is the first one', () => {
    const { sent, reports: all } = reports();
    all.add(report(0, 10));
    expect(sent).toEqual([report(0, 10)]);
    vi.advanceTimersByTime(10 * SOON_MS);
    expect(sent).toHaveLength(1);
  });

  test('is sent at once when the last one was sent long enough ago', () => {
    const { sent, reports: all } = afterTheFirst();
    vi.advanceTimersByTime(SOON_MS);
    all.add(report(0, 10));
    expect(sent).toHaveLength(1);
  });

  test('waits until the last one was sent long enough ago, to the millisecond', () => {
    const { sent, reports: all } = afterTheFirst();
    vi.advanceTimersByTime(SOON_MS - 1);
    all.add(report(0, 10));
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(sent).toHaveLength(1);
  });

  test('is not sent early by the timer of one that was flushed', () => {
    const { sent, reports: all } = afterTheFirst();
    all.add(report(0, 10));
    vi.advanceTimersByTime(SOON_MS / 2);
    all.flush();
    all.add(report(10, 10));
    vi.advanceTimersByTime(SOON_MS - 1);
    expect(sent).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(sent).toHaveLength(2);
  });

  /** Counters 100 to 109 of pages 5 and 6. */
  const block = { lane: 7, step: 256, page: 5, pages: 2, counter: 100, counters: 10 };

  test.each<[string, Partial<Range>, Partial<Range> | undefined]>([
    ['the next counters of its pages', { counter: 110 }, { counters: 20 }],
    ['the next pages of its counters', { page: 7, pages: 3 }, { pages: 5 }],
    ['the next counters of its first page only', { counter: 110, pages: 1 }, undefined],
    ['the next counters of its second page only', { counter: 110, page: 6, pages: 1 }, undefined],
    ['the next counters of as many other pages', { counter: 110, page: 6 }, undefined],
    ['the next pages of fewer counters', { page: 7, counters: 9 }, undefined],
    ['the next pages of as many other counters', { page: 7, counter: 101 }, undefined],
    ['later pages', { page: 8 }, undefined],
    ['the pages before', { page: 3 }, undefined],
    ['the next counters of another lane', { counter: 110, lane: 8 }, undefined],
    ['the next counters with another step', { counter: 110, step: 1 }, undefined],
    ['the next pages of another lane', { page: 7, lane: 8 }, undefined],
    ['the next pages with another step', { page: 7, step: 1 }, undefined],
  ])('of several pages is joined with %s: %j, or sent before it', (_, change, joined) => {
    const { sent, reports: all } = afterTheFirst();
    const next = { ...block, ...change };
    for (const searched of [block, next]) all.add({ ...report(0, 1), searched });
    all.flush();
    const expected = joined ? [{ ...block, ...joined }] : [block, next];
    expect(sent.map(({ searched }) => searched)).toEqual(expected);
  });

  test('is joined with those that it continues, and sent by a timer', () => {
    const { sent, reports: all } = afterTheFirst();
    const beganMs = performance.now();
    all.add(report(0, 10));
    vi.advanceTimersByTime(20);
    all.add(report(10, 5));
    vi.advanceTimersByTime(SOON_MS - 21);
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(sent).toEqual([{ ...report(0, 15), beganMs }]);
    vi.advanceTimersByTime(10 * SOON_MS);
    expect(sent).toHaveLength(1);
  });

  test('is sent at regular times, whatever the length of dispatches', () => {
    const { sent, reports: all } = afterTheFirst();
    for (let i = 0; i < 1_000; i++) {
      all.add(report(i, 1));
      vi.advanceTimersByTime(1);
    }
    expect(sent.length).toBeGreaterThanOrEqual(9);
    expect(sent.length).toBeLessThanOrEqual(10);
  });

  test('with a candidate is sent at once, with all that waited', () => {
    const { sent, reports: all } = afterTheFirst();
    all.add(report(0, 10));
    all.add(report(10, 10, {}, 5n, 6n));
    expect(sent).toEqual([report(0, 20, {}, 5n, 6n)]);
    all.add(report(20, 10, {}, 7n));
    expect(sent[1]).toEqual(report(20, 10, {}, 7n));
  });

  test.each([
    ['another lane', report(10, 5, { lane: 8 })],
    ['another page', report(10, 5, { page: 1 })],
    ['a gap', report(11, 5)],
    ['an overlap', report(9, 5)],
    ['what was reported before', report(0, 10)],
  ])('is not joined with %s: what waits goes first', (_, next) => {
    const { sent, reports: all } = afterTheFirst();
    const first = report(0, 10);
    all.add(first);
    all.add(next);
    expect(sent).toEqual([first]);
    vi.advanceTimersByTime(SOON_MS);
    expect(sent.map(({ search, searched }) => ({ search, searched }))).toEqual(
      [first, next].map(({ search, searched }) => ({ search, searched })),
    );
  });

  test('is sent at once when it is the first of a search, after what waits for another search', () => {
    const { sent, reports: all } = afterTheFirst();
    all.add(report(0, 10));
    all.add(report(10, 5, { search: 1 }));
    expect(sent).toEqual([report(0, 10), report(10, 5, { search: 1 })]);
    all.add(report(15, 5, { search: 1 }));
    expect(sent).toHaveLength(2);
  });

  test('is sent once when it is flushed', () => {
    const { sent, reports: all } = afterTheFirst();
    all.flush();
    expect(sent).toEqual([]);
    all.add(report(0, 10));
    all.flush();
    all.flush();
    vi.advanceTimersByTime(10 * SOON_MS);
    expect(sent).toHaveLength(1);
  });

  test('is never lost, doubled or late, whatever the order', () => {
    const place = fc.record({ search: fc.nat(1), lane: fc.nat(1), page: fc.nat(1) });
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.record({ follows: fc.boolean(), place, counters: fc.nat(5), hits: fc.nat(1) }) },
      { weight: 4, arbitrary: fc.record({ waitMs: fc.nat(2 * SOON_MS) }) },
      { weight: 1, arbitrary: fc.constant('flush' as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { sent, reports: all } = reports();
        const added: Report[] = [];
        for (const step of steps) {
          if (step === 'flush') {
            all.flush();
            expect(noncesOf(sent)).toEqual(noncesOf(added));
          } else if ('waitMs' in step) {
            vi.advanceTimersByTime(step.waitMs);
            if (step.waitMs >= SOON_MS) expect(noncesOf(sent)).toEqual(noncesOf(added));
          } else {
            const next = following(added.at(-1), step);
            added.push(next);
            all.add(next);
            if (step.hits > 0) expect(noncesOf(sent)).toEqual(noncesOf(added));
          }
        }
        vi.advanceTimersByTime(SOON_MS);
        expect(noncesOf(sent)).toEqual(noncesOf(added));
        expect(sent.flatMap(({ candidates }) => candidates)).toEqual(added.flatMap(({ candidates }) => candidates));
        // A joined report began when its first part began.
        const began = new Map(added.map((report) => [noncesOf([report])[0], report.beganMs]));
        for (const report of sent) expect(report.beganMs).toBe(began.get(noncesOf([report])[0]));
      }),
    );
  });
});

/** A report of what follows the last one, or of counters without a report so far. */
function following(last: Report | undefined, step: { follows: boolean; place: Place; counters: number; hits: number }) {
  const end = last ? last.searched.counter + last.searched.counters : 0;
  const place = step.follows && last ? { ...last.searched, search: last.search } : step.place;
  const counters = step.counters + 1;
  const counter = step.follows ? end : end + 1;
  return report(counter, counters, place, ...(step.hits > 0 ? [BigInt(counter)] : []));
}

/** Search, lane, page and counter of everything reported, in order. */
function noncesOf(all: readonly Report[]): string[] {
  return all.flatMap(({ search, searched: { lane, page, counter, counters } }) =>
    Array.from({ length: counters }, (_, i) => [search, lane, page, counter + i].join(':')),
  );
}
