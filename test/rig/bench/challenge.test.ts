import { createHash } from 'node:crypto';
import { blake2s } from '@noble/hashes/blake2.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { COUNTERS, joinNonce, LANES, PAGES, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { targetToInteger } from '#pickaxe/protocol/chain/target.js';
import { isOf, LEAST_COUNT, MOST_COUNT, makeChallenge } from '#pickaxe/rig/bench/challenge.js';
import { GOLDEN } from './golden.ts';

const opensslBlake2s = (...parts: Uint8Array[]) => {
  const hash = createHash('blake2s256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const block = (seed: string, number: number) => opensslBlake2s(Uint8Array.of(number), Buffer.from(seed));
const seeds = fc.string({ unit: fc.constantFrom(...'abcXYZ 0189-é→'), minLength: 1, maxLength: 64 });

describe('a challenge', () => {
  it('has as many nonces as asked for, all within the space and none twice', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: LEAST_COUNT, max: MOST_COUNT }), (seed, count) => {
        const { ranges } = makeChallenge(seed, count);
        expect(ranges.reduce((sum, range) => sum + sizeOf(range), 0)).toBe(count);
        for (const { lane, page, pages, counter, counters } of ranges) {
          expect(lane).toBeLessThan(LANES);
          expect(page + pages).toBeLessThanOrEqual(PAGES);
          expect(counter + counters).toBeLessThanOrEqual(COUNTERS);
        }
        const [block, rest] = ranges;
        if (rest) expect(rest).toMatchObject({ lane: block.lane, step: 1, counter: block.counter + block.counters });
      }),
    );
  });

  it('recognizes its own nonces', () => {
    const challenge = makeChallenge('seed', 100_001);
    expect(challenge.ranges).toHaveLength(2);
    for (const { lane, page, pages, counter, counters } of challenge.ranges) {
      const last = { lane, step: 1, page: page + pages - 1, counter: counter + counters - 1 };
      for (const nonce of [{ lane, step: 1, page, counter }, last])
        expect(isOf(challenge, joinNonce(nonce))).toBe(true);
      for (const nonce of [
        { lane: lane ^ 1, step: 1, page, counter },
        { lane, step: 1, page: page - 1, counter },
        { ...last, page: page + challenge.ranges[0].pages },
        { ...last, counter: challenge.ranges[1]!.counter + challenge.ranges[1]!.counters },
      ]) {
        expect(isOf(challenge, joinNonce(nonce))).toBe(false);
      }
    }
  });

  it('depends on its seed as the documentation says', () => {
    const { job, ranges } = makeChallenge('a seed → of mine', 2 ** 27);
    const blocks = Array.from({ length: 9 }, (_, i) => block('a seed → of mine', i));
    expect(toHex(job.header)).toBe(Buffer.concat(blocks).subarray(0, 286).toString('hex'));
    const place = block('a seed → of mine', 255);
    const counters = 2 ** 20;
    expect(ranges).toEqual([
      {
        lane: place.readUInt16LE(0),
        step: 1,
        page: place.readUInt16LE(2) % (2 ** 16 - 128 + 1),
        pages: 128,
        counter: place.readUInt32LE(4) % (2 ** 32 - counters + 1),
        counters,
      },
    ]);
    expect(targetToInteger(job.work.target)).toBe((1n << 256n) / 2n ** 15n - 1n);
  });

  it('has the hash sum that another implementation computes', () => {
    const [{ count, candidates, sum }] = GOLDEN;
    const { job, ranges } = makeChallenge('pickaxe', count);
    const target = targetToInteger(job.work.target);
    const header = Buffer.from(job.header);
    const found: Buffer[] = [];
    for (const { lane, page, pages, counter, counters } of ranges) {
      for (let p = page; p < page + pages; p++) {
        for (let c = counter; c < counter + counters; c++) {
          header.writeBigUInt64LE(joinNonce({ lane, step: 1, page: p, counter: c }), 278);
          const hash = opensslBlake2s(header);
          if (targetToInteger(hash) <= target) found.push(Buffer.concat([header.subarray(278), hash]));
        }
      }
    }
    found.sort((a, b) => (a.readBigUInt64LE(0) < b.readBigUInt64LE(0) ? -1 : 1));
    expect(found).toHaveLength(candidates);
    expect(toHex(blake2s(Buffer.concat(found), { dkLen: 8 }))).toBe(sum);
  }, 60_000);

  it.each([
    ['', 2 ** 20],
    ['x'.repeat(65), 2 ** 20],
    ['\u001b[31m', 2 ** 20],
    ['seed', LEAST_COUNT - 1],
    ['seed', MOST_COUNT + 1],
    ['seed', 2 ** 20 + 0.5],
    ['seed', Number.NaN],
  ])('cannot be made from %j and %d', (seed, count) => {
    expect(() => makeChallenge(seed, count)).toThrow(RangeError);
  });
});
