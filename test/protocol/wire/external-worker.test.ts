import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import {
  formatAnswer,
  isTargetArgument,
  meansTarget,
  parseAnswer,
  targetArgument,
} from '#pickaxe/protocol/wire/external-worker.js';
import { anyText } from '../../any-text.ts';

describe('the target of an external worker', () => {
  const target = Uint8Array.from({ length: 32 }, (_, i) => i);

  it.each([
    ['little-endian', '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'],
    ['big-endian', '1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100'],
    ['as the reference client writes it', '07060504030201000f0e0d0c0b0a090817161514131211101f1e1d1c1b1a1918'],
    ['in words of 4 bytes', '03020100070605040b0a09080f0e0d0c13121110171615141b1a19181f1e1d1c'],
    ['in capitals', '1F1E1D1C1B1A191817161514131211100F0E0D0C0B0A09080706050403020100'],
  ])('is understood %s', (_, argument) => {
    expect(isTargetArgument(argument)).toBe(true);
    expect(meansTarget(argument, target)).toBe(true);
  });

  it('is written little-endian, and another one is not mistaken for it', () => {
    expect(meansTarget(targetArgument(target), target)).toBe(true);
    expect(meansTarget(targetArgument(targetForDifficulty(7)), target)).toBe(false);
    for (const text of ['', 'ab', 'x'.repeat(64), '0'.repeat(66)]) expect(isTargetArgument(text)).toBe(false);
  });
});

describe('the answer of an external worker', () => {
  it('is read as it is written', () => {
    const nonce = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(nonce, fc.nat(), fc.nat(), (nonce, hashes, hashesPerSecond) => {
        const line = formatAnswer({ nonce, hashes, hashesPerSecond });
        expect(line).toMatch(/^[\da-f]{16} \d+ \d+\n$/);
        expect(parseAnswer(line)).toEqual({ nonce, hashes, hashesPerSecond });
      }),
    );
    expect(parseAnswer('00000000DEADBEEF')).toEqual({ nonce: 0xdeadbeefn });
    expect(parseAnswer('00000000deadbeef 12.5 7.\r')).toMatchObject({ hashes: 12.5, hashesPerSecond: 7 });
  });

  it('may have 256 characters', () => {
    const line = '00000000deadbeef'.padEnd(256);
    expect([line, `${line} `].map(parseAnswer)).toEqual([{ nonce: 0xdeadbeefn }, undefined]);
  });

  it.each([
    '',
    'deadbeef',
    '0x00000000deadbeef',
    '00000000deadbeef 1',
    '00000000deadbeef 1 2 3',
    '00000000deadbeefff',
    '-1',
  ])('is none: %j', (line) => {
    expect(parseAnswer(line)).toBeUndefined();
  });

  it('is read from any text', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        parseAnswer(text);
      }),
    );
  });
});
