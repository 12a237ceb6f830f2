/** Nonces and their parts: which lane a source's nonce1 leaves, and how the parts of a lane make a nonce. */

import { describe, expect, it } from 'vitest';
import {
  COUNTERS,
  countersAt,
  isNonceWithin,
  joinNonce,
  LANES,
  lanesAt,
  laneWithin,
  MOST_NONCE1_BYTES,
  NO_NONCE1,
  type Nonce1,
  PAGES,
  STEPS,
  sizeOf,
  splitNonce,
  stepFor,
  word6Of,
} from '#pickaxe/protocol/chain/nonce.js';

const MOST = 2n ** 64n - 1n;

it('the parts of a nonce have 16, 32 and 16 bits, or fewer counters where a source fixes more bytes', () => {
  expect([LANES, COUNTERS, PAGES, MOST_NONCE1_BYTES]).toEqual([2 ** 16, 2 ** 32, 2 ** 16, 4]);
  expect(STEPS).toEqual([1, 2 ** 8, 2 ** 16]);
  expect(STEPS.map(lanesAt)).toEqual([2 ** 16, 2 ** 24, 2 ** 32]);
  expect(STEPS.map(countersAt)).toEqual([2 ** 32, 2 ** 24, 2 ** 16]);
  expect(sizeOf({ pages: 3, counters: 5 })).toBe(15);
});

it.each<[Nonce1, nonce: bigint, isWithin: boolean]>([
  [NO_NONCE1, 0n, true],
  [NO_NONCE1, MOST, true],
  [NO_NONCE1, MOST + 1n, false],
  [NO_NONCE1, -1n, false],
  [{ value: 0xab, bytes: 1 }, 0x1_00abn, true],
  [{ value: 0xab, bytes: 1 }, 0xab00n, false],
  [{ value: 0x1234, bytes: 2 }, 0xffff_ffff_ffff_1234n, true],
  [{ value: 0x1234, bytes: 2 }, 0xffff_ffff_ffff_1235n, false],
  [{ value: 0x0034, bytes: 2 }, 0x1234n, false],
  [{ value: 0xffff_ffff, bytes: 4 }, 0xffff_ffffn, true],
  [{ value: 0xffff_ffff, bytes: 4 }, MOST + 0xffff_ffffn + 1n, false],
])('with the nonce1 %j, the nonce %i is within: %s', (nonce1, nonce, isWithin) => {
  expect(isNonceWithin(nonce1, nonce)).toBe(isWithin);
});

it.each<[Nonce1, lane: number, step: number]>([
  [{ value: 0, bytes: 0 }, 0xabcd, 1],
  [{ value: 0x12, bytes: 1 }, 0xab12, 1],
  [{ value: 0x1234, bytes: 2 }, 0x1234, 1],
  [{ value: 0x12_3456, bytes: 3 }, 0x12_3456, 0x100],
  [{ value: 0x1234_5678, bytes: 4 }, 0x1234_5678, 0x1_0000],
])('the nonce1 %j leaves the lane %i of the lane 0xabcd', (nonce1, lane, step) => {
  expect(laneWithin(nonce1, 0xabcd)).toEqual({ lane, step });
  expect(stepFor(nonce1)).toBe(step);
});

describe('a nonce', () => {
  const NONCE = 0x0123_4567_89ab_cdefn;

  it.each([
    [1, { lane: 0xcdef, step: 1, counter: 0x4567_89ab, page: 0x0123 }],
    [0x100, { lane: 0xab_cdef, step: 0x100, counter: 0x45_6789, page: 0x0123 }],
    [0x1_0000, { lane: 0x89ab_cdef, step: 0x1_0000, counter: 0x4567, page: 0x0123 }],
  ])('has parts for the step %i', (step, parts) => {
    expect(splitNonce(NONCE, step)).toEqual(parts);
    expect(word6Of(parts)).toBe(0x4567_89ab);
    // The lane's higher bytes are bits of the counter that the step leaves free.
    expect(joinNonce(parts)).toBe(NONCE);
  });

  it('has a step of 1 by default, and all parts up to the last nonce', () => {
    expect(splitNonce(NONCE)).toEqual(splitNonce(NONCE, 1));
    expect(splitNonce(MOST)).toEqual({ lane: 0xffff, step: 1, counter: 2 ** 32 - 1, page: 0xffff });
    expect(splitNonce(0n)).toEqual({ lane: 0, step: 1, counter: 0, page: 0 });
  });
});
