import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '#pickaxe/protocol/chain/bytes.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { joinNonce, splitNonce } from '#pickaxe/protocol/chain/nonce.js';
import { difficultyOf, integerToTarget, targetForDifficulty, targetToInteger } from '#pickaxe/protocol/chain/target.js';
import {
  creationTimeOf,
  nonceOf,
  parentOf,
  parseWork,
  rolledCreationTime,
  WorkFormatError,
  withNonce,
  workOfHeader,
} from '#pickaxe/protocol/chain/work.js';
import { headers, workRecords } from '../../vectors.ts';

describe('parsing a work record', () => {
  const vector = workRecords.artificial[3];

  it('reads chain, height, target and header', () => {
    const work = parseWork(fromHex(vector.workHex));
    expect(work.chain).toBe(vector.chainId);
    expect(work.height).toBe(BigInt(vector.height));
    expect(toHex(work.target)).toBe(vector.workHex.slice(8, 72));
    expect(toHex(work.header)).toBe(vector.workHex.slice(72));
    expect(work).toMatchObject({ rollTime: true, until: 'solved' });
  });

  it('is possible from the header alone where the target is the header’s', () => {
    for (const { workHex } of workRecords.easy) {
      const work = parseWork(fromHex(workHex));
      expect(workOfHeader(work.header)).toEqual(work);
    }
  });

  it.each([0, 321, 323, 644])('refuses %i bytes', (length) => {
    expect(() => parseWork(new Uint8Array(length))).toThrow(WorkFormatError);
  });

  it.each([
    ['a Uint8Array', fromHex(vector.workHex)],
    ['a Buffer', Buffer.from(vector.workHex, 'hex')],
  ])('keeps no reference to the caller’s bytes: %s', (_, record) => {
    const work = parseWork(record);
    record.fill(0);
    expect(toHex(work.header)).toBe(vector.workHex.slice(72));
  });
});

describe('a job', () => {
  it('changes header bytes 8..16, the creation time, and nothing else', () => {
    const work = parseWork(fromHex(workRecords.artificial[0].workHex));
    const later = creationTimeOf(work.header) + 1_234_567n;
    const { header } = prepareJob(work, later);
    expect(creationTimeOf(header)).toBe(later);
    expect(toHex(parentOf(header))).toBe(toHex(work.header.subarray(16, 48)));
    const differing = [...header.keys()].filter((i) => header[i] !== work.header[i]);
    expect(differing.every((i) => i >= 8 && i < 16)).toBe(true);
  });

  it('does not change the work’s own header, even when it is a Buffer', () => {
    const work = parseWork(Buffer.from(workRecords.artificial[0].workHex, 'hex'));
    const before = toHex(work.header);
    const job = prepareJob(work, creationTimeOf(work.header) + 1n);
    withNonce(Buffer.from(job.header.buffer), 1n);
    withNonce(work.header, 1n);
    expect(toHex(work.header)).toBe(before);
    expect(nonceOf(job.header)).toBe(0n);
  });
});

describe('the nonce', () => {
  it('consists of page, counter and lane, and is stored little-endian in header bytes 278..286', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 64n - 1n), (nonce) => {
        expect(joinNonce(splitNonce(nonce))).toBe(nonce);
      }),
    );
    const header = withNonce(
      fromHex(headers[0].headerHex),
      joinNonce({ lane: 0x0102, step: 1, counter: 0x03040506, page: 0x0708 }),
    );
    expect(toHex(header.subarray(278))).toBe('0201060504030807');
  });
});

describe('targets', () => {
  it('are converted to integers and back, little-endian', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 256n - 1n), (value) => {
        expect(targetToInteger(integerToTarget(value))).toBe(value);
      }),
    );
    expect(integerToTarget(1n)[0]).toBe(1);
    expect(() => integerToTarget(2n ** 256n)).toThrow(RangeError);
  });

  it('have the difficulty that they were made for', () => {
    for (const difficulty of [1, 2, 1000, 2 ** 24, 4.5e15, 1e20]) {
      expect(difficultyOf(targetForDifficulty(difficulty)) / difficulty).toBeCloseTo(1, 4);
    }
  });
});

describe('the easiest target', () => {
  it.each([1, 0.5, 0, 1e-9])('is that of every hash, also for the difficulty %d', (difficulty) => {
    expect(toHex(targetForDifficulty(difficulty))).toBe('ff'.repeat(32));
  });
});

describe('the creation time rule', () => {
  it('moves the time only forward, and never past the latest time minus the margin', () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 10n ** 16n),
        fc.bigInt(0n, 10n ** 16n),
        fc.bigInt(0n, 10n ** 7n),
        (work, latest, margin) => {
          const rolled = rolledCreationTime(work, latest, margin);
          expect(rolled >= work).toBe(true);
          expect(rolled === work || rolled <= latest - margin).toBe(true);
        },
      ),
    );
    expect(rolledCreationTime(100n, 250n, 50n)).toBe(200n);
    expect(rolledCreationTime(300n, 250n, 50n)).toBe(300n);
  });
});
