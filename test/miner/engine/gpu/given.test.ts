import { expect, test } from 'vitest';
import { chunkNonces, chunkOf, Given } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import type { Range } from '#pickaxe/protocol/chain/nonce.js';
import { Rectangle } from '../../../interfaces/rectangle.ts';

const strip = (counter: number, counters: number) => ({ lane: 1, step: 1, page: 2, pages: 1, counter, counters });

/** Two ranges that follow each other, and one behind a gap. */
function given(): Given {
  const given = new Given();
  for (const range of [strip(100, 50), strip(150, 50), strip(300, 10)]) given.add(range);
  return given;
}

test('given ranges are settled in parts, across several of them, until nothing is left', () => {
  const all = given();
  expect(all.nonces).toBe(110);
  all.settle(strip(120, 60));
  expect(all.rest).toEqual([strip(100, 20), strip(180, 20), strip(300, 10)]);
  expect(all.nonces).toBe(50);
  for (const range of [strip(180, 20), strip(300, 10), strip(100, 20)]) {
    expect(all.isEmpty).toBe(false);
    all.settle(range);
  }
  expect(all.isEmpty).toBe(true);
});

test.each([
  ['lies beside it', strip(200, 100)],
  ['begins before it', strip(99, 51)],
  ['ends after it', strip(150, 51)],
  ['reaches over a gap', strip(150, 160)],
  ['is of another page', { ...strip(100, 50), page: 3 }],
  ['is of another lane', { ...strip(100, 50), lane: 0 }],
])('refuses a report that %s, and keeps what was given', (_, searched) => {
  const all = given();
  expect(() => all.settle(searched)).toThrow(
    expect.objectContaining({ fault: 'lost', message: expect.stringContaining('was not given') }),
  );
  expect(all.rest).toEqual(given().rest);
});

test('a range that was reported before, even in part, is refused', () => {
  const all = given();
  all.settle(strip(100, 20));
  for (const repeated of [strip(100, 20), strip(119, 2), strip(110, 5)]) {
    expect(() => all.settle(repeated)).toThrow('was not given');
  }
  expect(all.rest).toEqual([strip(120, 30), strip(150, 50), strip(300, 10)]);
});

test.each([
  ['300 ms of a fast GPU', 1e9, 8, 300_000_000],
  ['two batches where those are longer', 1e9, 1_000, 2_000_000_000],
  ['no more than there are counters', 1e11, 8, 2 ** 32],
  ['no less than 65,536', 1_000, 8, 65_536],
])('a chunk is %s', (_, hashesPerSecond, batchMs, counters) => {
  expect(chunkNonces(hashesPerSecond, batchMs)).toBe(counters);
});

test.each([
  ['a part of a page', 300_000_000, 1, { counters: 300_000_000, pages: 1 }],
  ['the largest chunk', 2 ** 32, 1, { counters: 2 ** 32, pages: 1 }],
  ['a part of a short page', 1_000_000, 256, { counters: 1_000_000, pages: 1 }],
  ['several short pages', 300_000_000, 256, { counters: 2 ** 24, pages: 17 }],
  ['many very short pages', 300_000_000, 65_536, { counters: 65_536, pages: 4_577 }],
  ['all very short pages', 2 ** 32, 65_536, { counters: 65_536, pages: 65_536 }],
])('the shape of a chunk is %s', (_, nonces, step, shape) => {
  expect(chunkOf(nonces, step)).toEqual(shape);
});

test('a report of a part of several pages leaves what is around it', () => {
  const all = new Given();
  all.add({ ...strip(100, 50), pages: 10 });
  all.settle({ ...strip(110, 20), page: 4, pages: 3 });
  expect(all.rest).toEqual([
    { ...strip(100, 50), page: 2, pages: 2 },
    { ...strip(100, 10), page: 4, pages: 3 },
    { ...strip(130, 20), page: 4, pages: 3 },
    { ...strip(100, 50), page: 7, pages: 5 },
  ]);
  expect(all.nonces).toBe(500 - 60);
});

test('the child has two chunks, and gets another one when it has less', () => {
  const all = new Given();
  const ranges = new Rectangle(strip(0, 1_000));
  const sent: Range[] = [];
  const topUp = () => {
    all.topUp(ranges, { counters: 100, pages: 1 }, (range) => sent.push(range));
    return all.nonces;
  };
  expect(topUp()).toBe(200);
  expect(topUp()).toBe(200);
  all.settle({ ...sent[0], counters: 99 });
  expect(topUp()).toBe(101);
  all.settle({ ...sent[0], counter: sent[0].counter + 99, counters: 1 });
  expect(topUp()).toBe(200);
  expect(sent).toHaveLength(3);
  expect(all.rest).toEqual(sent.slice(1));
});

test('the last chunks can be small, and their number is bounded', () => {
  const all = new Given();
  all.topUp(new Rectangle(strip(0, 150)), { counters: 100, pages: 1 }, () => {});
  expect(all.nonces).toBe(150);
  const crumbs = new Given();
  const ranges = { take: () => strip(0, 1), giveBack: () => {} };
  crumbs.topUp(ranges, { counters: 100, pages: 1 }, () => {});
  expect(crumbs.rest).toHaveLength(64);
});
