/** Tests that a GPU must pass, because some drivers and overclocked cards compute wrong hashes. */

import { fromHex, HEADER_BYTES, HEADER_OFFSET, TARGET_BYTES } from '../../../../protocol/chain/bytes.ts';
import { hashTail, type Puzzle, puzzleOf } from '../../../../protocol/chain/job.ts';
import { COUNTERS, countersAt, type Range, sizeOf, splitNonce } from '../../../../protocol/chain/nonce.ts';
import { nonceOf } from '../../../../protocol/chain/work.ts';
import { DeviceError } from '../../engine.ts';
import { HIT_CAPACITY } from '../prepare.generated.ts';
import type { Hit, Scanner } from './shader-scanner.ts';

/** A solved header from a live network with this wire format, 286 bytes in hex: chain 2, height 1800001. */
const SOLVED_HEADER = [
  '0000000000000000704b40f333c70500a6f9ad930e469d26607540a748235f94e58264bb4821661d0a84fa706b34ac3503000700',
  '000087d92d6153af08c9b4f271a942a4062cadd049037226f4f358c7539ded7034690c0000004e90b1da9b459438fcd84f9811b0',
  'afa72d43d669bb5d64238849e22bbb5658c3110000005d59092a2f69354018aaad406176c570404b3f28e9e6e7364e3b58ecb2b9',
  '13d647a3e3a95b5be2a8d962ff45b8d7f7e75b92ebdd479f417a400500000000000001d71bfb7bd221adc859e69af22d7e8d32a7',
  '1416c279668a36471196f7a68a090200000066bba79c13b916c15801000000000000000000000000000000000000000000004177',
  '1b0000000000050000008cc172ef33c7050065157021f2fc4b89',
].join('');

type ScanRange = Scanner['scan'];

/**
 * Checks a scanner with a solved header, at the ends of the nonce space, with a full workgroup of hits, and with more
 * hits than a result has room for.
 * @param unit number of counters in a workgroup
 * @throws DeviceError when an answer is wrong
 */
export async function selfTest(scan: ScanRange, unit: number): Promise<void> {
  const solved = fromHex(SOLVED_HEADER);
  const nonce = splitNonce(nonceOf(solved));
  const target = solved.subarray(HEADER_OFFSET.target, HEADER_OFFSET.target + TARGET_BYTES);
  const around = { ...nonce, pages: 1, counter: nonce.counter - 1000, counters: 2000 };
  expect(await hitsOf(scan, puzzleOf(solved, target), around), [nonce], 'a solved header');

  for (const [seed, { puzzle, range, hits }] of knownHits(unit).entries()) {
    expect(await hitsOf(scan, puzzle, range), hits, `header ${seed}`);
  }

  const everything = puzzleOf(pseudoRandomHeader(3), targetWithTop(0xffff_ffff));
  const full = { lane: 7, step: 1, page: 1, pages: 1, counter: 99, counters: unit };
  expect(await hitsOf(scan, everything, full), placesOf(full), 'many hits');
  const tooFull = { ...full, counters: HIT_CAPACITY + unit };
  if ((await scan(everything, tooFull)) !== 'overflow') wrong('more hits than there is room for');
}

/**
 * The range of the spot check. Its 2^22 nonces occupy every compute unit of a large chip for less than a millisecond.
 */
const SPOT_RANGE: Range = {
  lane: 0x5eed,
  step: 1,
  page: 0xbeef,
  pages: 1,
  counter: 0x8000_0000,
  counters: 0x40_0000,
};
/** The puzzle of the spot check and its known answer. On average one of 2^15 nonces is a hit. */
export const SPOT_CHECK = {
  puzzle: puzzleOf(pseudoRandomHeader(4), targetWithTop(0x0001_ffff)),
  range: SPOT_RANGE,
  /** Number of hits in the range, computed by the CPU kernels. */
  hits: 137,
  /** Sum of the counters of all hits. */
  sum: 294_474_412_654,
};

/**
 * Checks that every part of the chip computes correctly. The check is repeated while the GPU mines. A chip that is too
 * hot or overclocked may miss hits, which a check of its candidates cannot show.
 * @throws DeviceError when the answer is wrong
 */
export async function spotCheck(scan: ScanRange): Promise<void> {
  const { puzzle, range, hits, sum } = SPOT_CHECK;
  const found = await hitsOf(scan, puzzle, range);
  if (found.length !== hits || found.reduce((total, { counter }) => total + counter, 0) !== sum)
    wrong('a range of known hits');
}

/** @returns the hits in the range, sorted by page and counter @throws DeviceError when there are too many */
async function hitsOf(scan: ScanRange, puzzle: Puzzle, range: Range): Promise<Hit[]> {
  const found = await scan(puzzle, range);
  if (found === 'overflow') wrong('too many hits');
  return found.hits.toSorted((a, b) => a.page - b.page || a.counter - b.counter);
}

interface KnownHits {
  readonly puzzle: Puzzle;
  readonly range: Range;
  readonly hits: readonly Hit[];
}

/**
 * Known hits by `unit`. They are kept because variants of different shaders have the same `unit`. Computing the hits
 * takes up to a fifth of a second, and a GPU that mines gets no batches in that time.
 */
const known = new Map<number, readonly KnownHits[]>();

/**
 * @returns ranges with about 32 hits each: in the middle, at the start and at the end of the nonce space. Ranges of one
 *   page have a little more than two workgroups. Ranges of two pages have a little more than half a workgroup on each
 *   page
 */
function knownHits(unit: number): readonly KnownHits[] {
  const onePage = { step: 1, pages: 1, counters: 2 * unit + 5 };
  const severalPages = { pages: 2, counters: unit / 2 + 5 };
  const ranges: Range[] = [
    { ...onePage, lane: 0x1234, page: 0x00ff, counter: 0x7fff_f000 },
    { ...onePage, lane: 0, page: 0, counter: 0 },
    { ...onePage, lane: 0xffff, page: 0xffff, counter: COUNTERS - onePage.counters },
    { ...severalPages, lane: 0x89_abcd, step: 0x100, page: 0, counter: countersAt(0x100) - severalPages.counters },
    { ...severalPages, lane: 0xffff_ffff, step: 0x1_0000, page: 0xfffe, counter: 0 },
  ];
  const computed =
    known.get(unit) ??
    ranges.map((range, seed) => {
      const puzzle = puzzleOf(pseudoRandomHeader(seed), targetWithTop(Math.floor((32 * 2 ** 32) / sizeOf(range))));
      return { puzzle, range, hits: expectedHits(puzzle, range) };
    });
  known.set(unit, computed);
  return computed;
}

/**
 * @returns the nonces for which word 7 of the hash is at most word 7 of the target, computed on the CPU with
 *   protocol/chain/blake2s.ts
 */
function expectedHits(puzzle: Puzzle, range: Range): Hit[] {
  const { lane, step } = range;
  return placesOf(range).filter((place) => hashTail(puzzle, { lane, step, ...place })[7] <= puzzle.target[7]);
}

/** @returns all nonces of a range, sorted by page and counter */
function placesOf({ page, counter, counters, ...range }: Range): Hit[] {
  return Array.from({ length: range.pages * counters }, (_, i) => ({
    page: page + Math.floor(i / counters),
    counter: counter + (i % counters),
  }));
}

function expect(found: readonly Hit[], expected: readonly Hit[], what: string): void {
  const isSame = (one: Hit, other: Hit) => one.page === other.page && one.counter === other.counter;
  if (found.length !== expected.length || found.some((hit, i) => !isSame(hit, expected[i]))) wrong(what);
}

function wrong(what: string): never {
  throw new DeviceError(
    'wrong-hashes',
    `the GPU computes wrong hashes (self-test: ${what}): update its driver, or undo overclocking`,
  );
}

/**
 * @returns a header of pseudo-random bytes. Each byte is the highest byte of a state of a linear congruential
 *   generator. The generator has the constants of Numerical Recipes
 */
function pseudoRandomHeader(seed: number): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length: HEADER_BYTES }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}

/** @returns a target of 32 bytes, little-endian. Its most significant word is `top`, and all other bits are set */
function targetWithTop(top: number): Uint8Array {
  const target = new Uint8Array(TARGET_BYTES).fill(0xff);
  new DataView(target.buffer).setUint32(TARGET_BYTES - 4, top, true);
  return target;
}
