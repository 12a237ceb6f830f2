/**
 * Compares what GPU compilers make of the shaders with the recorded counts, and checks that a changed shader is
 * noticed.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileAll, missingCompilers } from '../../../native/compilers/compile/all.mjs';
import { recorded, representatives, worseThan } from '../../../native/compilers/instructions.mjs';
import { OP } from '../../miner/engine/gpu/spirv.ts';
import { positive, testScripts, withResult } from '../../scripts/starts.ts';

interface Row {
  readonly family: string;
  readonly compiler: string;
  readonly variant: string;
  readonly instructionsPerNonce: number;
  readonly ofBound: number;
  readonly spills: number;
}
type Change = (variant: string, file: string) => void;

const record = recorded();
const missing: Record<string, string> = missingCompilers();

// On a developer's machine the tests of a missing compiler are skipped.
if (process.env.CI && Object.keys(missing).length > 0) {
  throw new Error(`CI must have all GPU compilers: ${Object.values(missing).join('; ')}`);
}

const compile = (families: string[], changed?: Change): Promise<Row[]> => compileAll(families, changed);

/** `describe`, or without the compiler `describe.skip` with a name that says why. */
const describeCompiler = (name: string, tests: () => void): void => {
  if (missing[name] === undefined) describe(name, tests);
  else describe.skip(`${name} (${missing[name]})`, tests);
};

/** Replaces the first match in a file of the plain variant. */
const replacing =
  (pattern: RegExp, replacement: string): Change =>
  (variant, file) => {
    if (variant !== 'wgsl') return;
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(pattern);
    writeFileSync(file, text.replace(pattern, replacement));
  };

/** Changes the plain variant in SPIR-V: `change` gets all words and a place, and returns true once it is done. */
const changingSpirv =
  (change: (words: Uint32Array, at: number, op: number) => boolean): Change =>
  (variant, file) => {
    if (variant !== 'wgsl') return;
    const bytes = readFileSync(file);
    const words = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    let at = 5;
    while (at < words.length && !change(words, at, words[at] & 0xffff)) at += words[at] >>> 16;
    expect(at).toBeLessThan(words.length);
    writeFileSync(file, words);
  };

/** Makes the first shift left by 16 one by 8, whose constant each module has, too. */
const shiftingLess = (): Change => {
  const constants = new Map<number, number>();
  return changingSpirv((words, at, op) => {
    if (op === OP.Constant) constants.set(words[at + 3], words[at + 2]);
    if (op !== OP.ShiftLeftLogical || words[at + 4] !== constants.get(16)) return false;
    words[at + 4] = constants.get(8)!;
    return true;
  });
};

/** Makes an exclusive or of the hash a multiplication. */
const multiplying = (): Change => {
  let place = 0;
  return changingSpirv((words, at, op) => {
    // The first two belong to the counter.
    if (op !== OP.BitwiseXor || place++ < 2) return false;
    words[at] += OP.IMul - OP.BitwiseXor;
    return true;
  });
};

describe.each([
  ['RADV', 'navi31', shiftingLess()],
  [
    'ptxas',
    'sm_86',
    replacing(/shf\.r\.wrap\.b32 (x\d+), (x\d+), x\d+, 16;/, 'shr.u32 $1, $2, 16; shl.b32 a, $2, 8; or.b32 $1, $1, a;'),
  ],
  // ANV makes shifts of rotates by constants anyway.
  ['ANV', 'dg2', multiplying()],
  ['clang', 'gfx1030', replacing(/<< 16u/, '<< 8u')],
  ['ocloc', 'acm-g10', replacing(/<< 16u/, '<< 8u')],
] as const)('%s', (compiler, family, breaking) => {
  describeCompiler(compiler, () => {
    const ours = representatives(record.filter((row: Row) => row.compiler.startsWith(compiler)));

    test('takes no more instructions for a nonce than recorded', async () => {
      const rows = await compile(ours);
      const compared = rows.filter((row) => record.some((each: Row) => each.compiler === row.compiler));
      if (process.env.CI) expect(compared.length, 'recorded with another version: --record').toBeGreaterThan(0);
      expect(worseThan(record, rows, ours)).toEqual([]);
      expect(rows.filter(({ spills }) => spills > 0)).toEqual([]);
    });

    test('takes more, and says of what, when one operation is changed', async () => {
      const [before] = (await compile([family])).filter(({ variant }) => variant === 'wgsl');
      const rows = await compile([family], breaking);
      const recordedNow = [{ ...before, families: [family] }];
      expect(worseThan(recordedNow, rows, [family])).toEqual([
        expect.stringMatching(
          new RegExp(
            `^wgsl for ${family} \\(${compiler} .*\\) takes \\d+ instructions a nonce, and took ${before.instructionsPerNonce}$`,
          ),
        ),
      ]);
    });
  });
});

testScripts('native/compilers', {
  'native/compilers/count.mjs': withResult('--families navi31', ['linux', 'gpu', 'radv'], ({ rows }) => {
    const variants = ['wgsl', 'wgsl-uniform-rotates', 'wgsl-added-zeros', 'wgsl-multiplied-adds'];
    const row = { family: 'navi31', set: 'rdna', instructionsPerNonce: positive, bound: 890, ofBound: positive };
    const fits = { registers: positive, spills: 0, waves: positive, codeBytes: positive, cacheBytes: positive };
    expect(rows).toEqual(
      variants.map((variant) => expect.objectContaining({ ...row, ...fits, variant, compiler: expect.any(String) })),
    );
  }),
});
