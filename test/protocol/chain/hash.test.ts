import { describe, expect, it } from 'vitest';
import { compress, initialState, readWords } from '#pickaxe/protocol/chain/blake2s.js';
import { fromHex, toHex } from '#pickaxe/protocol/chain/bytes.js';
import { hashTail, prepareJob, puzzleOf, solves } from '#pickaxe/protocol/chain/job.js';
import { splitNonce } from '#pickaxe/protocol/chain/nonce.js';
import { meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { powHash, verify } from '#pickaxe/protocol/chain/verify.js';
import { creationTimeOf, nonceOf, parseWork, withNonce } from '#pickaxe/protocol/chain/work.js';
import { blake2sKat, headers, negativeHeaders, powCompare, workRecords } from '../../vectors.ts';

/** Computes blake2s-256 of any message with the compression function of src/protocol/chain/. */
function blake2s(message: Uint8Array): string {
  const h = initialState();
  const blocks = Math.max(1, Math.ceil(message.length / 64));
  for (let i = 0; i < blocks; i++) {
    const last = i === blocks - 1;
    compress(h, readWords(message, 64 * i, 16), last ? message.length : 64 * (i + 1), last);
  }
  return toHex(new Uint8Array(h.buffer));
}

const wordsToHex = (words: Uint32Array) => toHex(new Uint8Array(words.buffer));

describe('the compression function', () => {
  it('gives the 256 official known answers', () => {
    expect(blake2sKat).toHaveLength(256);
    for (const { in: message, out } of blake2sKat) expect(blake2s(fromHex(message))).toBe(out);
  });
});

describe('solved headers of the live network', () => {
  it.each(headers)('chain $chainId height $height verifies', (vector) => {
    const header = fromHex(vector.headerHex);
    const target = fromHex(vector.targetHex);
    expect(toHex(powHash(header))).toBe(vector.powHashHex);
    expect(meetsTarget(powHash(header), target)).toBe(true);
    expect(creationTimeOf(header)).toBe(BigInt(vector.creationTime));
    expect(nonceOf(header)).toBe(BigInt(vector.nonce));
    const search = puzzleOf(header, target);
    const nonce = splitNonce(BigInt(vector.nonce));
    expect(wordsToHex(hashTail(search, nonce))).toBe(vector.powHashHex);
    expect(solves(search, nonce)).toBe(true);
    const others = puzzleOf(withNonce(header, ~BigInt(vector.nonce) & 0xffff_ffff_ffff_ffffn), target);
    expect(others).toEqual(search);
    expect(wordsToHex(hashTail(others, nonce))).toBe(vector.powHashHex);
  });
});

describe('invalid headers', () => {
  it.each(negativeHeaders)('$why', (vector) => {
    const header = fromHex(vector.headerHex);
    const target = fromHex(vector.targetHex);
    expect(toHex(powHash(header))).toBe(vector.powHashHex);
    expect(meetsTarget(powHash(header), target)).toBe(vector.powOk);
    expect(solves(puzzleOf(header, target), splitNonce(nonceOf(header)))).toBe(vector.powOk);
  });
});

describe('header and target pairs', () => {
  it.each(powCompare)('$why is $expect', ({ headerHex, targetHex, expect: expected }) => {
    const header = fromHex(headerHex);
    const target = fromHex(targetHex);
    expect(meetsTarget(powHash(header), target)).toBe(expected);
    expect(solves(puzzleOf(header, target), splitNonce(nonceOf(header)))).toBe(expected);
  });
});

describe('the referee', () => {
  const records = Object.values(workRecords).flat();

  it.each(records)('solves the record of chain $chainId height $height at its smallest nonce', (vector) => {
    const job = prepareJob(parseWork(fromHex(vector.workHex)));
    const smallest = BigInt(vector.smallestNonceFromZero);
    for (let nonce = 0n; nonce < smallest; nonce++) {
      if (solves(job, splitNonce(nonce))) throw new Error(`${nonce} is smaller and solves`);
    }
    const { solution } = verify(job, smallest);
    expect(solution?.nonce).toBe(smallest);
    expect(nonceOf(solution!.header)).toBe(smallest);
    expect(meetsTarget(solution!.powHash, job.work.target)).toBe(true);
  });

  it('makes no solution from a wrong candidate', () => {
    const vector = workRecords.artificial[0];
    const job = prepareJob(parseWork(fromHex(vector.workHex)));
    expect(verify(job, BigInt(vector.smallestNonceFromZero) - 1n).solution).toBeUndefined();
  });

  it('makes no solution from a right hash at a nonce that does not have the nonce1 of the work', () => {
    const vector = workRecords.artificial[0];
    const nonce = BigInt(vector.smallestNonceFromZero);
    const own = Number(nonce & 0xffffn);
    const solutions = [own, own ^ 1].map((value) => {
      const terms = { id: 'vector', nonce1: { value, bytes: 2 } } as const;
      return verify(prepareJob(parseWork(fromHex(vector.workHex), terms)), nonce);
    });
    expect(solutions.map(({ solution, proves }) => [solution?.nonce, proves])).toEqual([
      [nonce, true],
      [undefined, false],
    ]);
  });

  it.each([-1n, 1n])('makes no solution from a number that is %i times 2^64 away from the nonce', (times) => {
    const vector = workRecords.artificial[0];
    const job = prepareJob(parseWork(fromHex(vector.workHex)));
    const nonce = BigInt(vector.smallestNonceFromZero) + times * 2n ** 64n;
    expect(verify(job, nonce)).toMatchObject({ proves: false, solution: undefined });
  });

  it('refuses a header of another length', () => {
    expect(() => powHash(new Uint8Array(285))).toThrow('286 bytes');
  });
});
