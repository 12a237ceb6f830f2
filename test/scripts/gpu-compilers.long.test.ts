/** Compares what GPU compilers make of the shaders with the recorded counts, and sees that a changed shader shows. */

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileAll, missingCompilers } from '../../bench/lib/compile-gpu.mjs';
import { recorded, representatives, worseThan } from '../../bench/lib/gpu-instructions.mjs';
import { OP } from '../engine/gpu/spirv.ts';

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
const PATIENCE_MS = 300_000;

/** No package has the stub that ANV needs without a chip. */
const NOT_IN_CI = ['ANV'];

// On a developer's machine the tests of a missing compiler are skipped.
const lacking = Object.keys(missing).filter((name) => !NOT_IN_CI.includes(name));
if (process.env.CI && lacking.length > 0) {
  throw new Error(`CI must have GPU compilers: ${lacking.map((name) => missing[name]).join('; ')}`);
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

/** In SPIR-V, makes the first shift left by 16 one by 8, whose constant each module has, too. */
const shiftingLess: Change = (variant, file) => {
  if (variant !== 'wgsl') return;
  const words = new Uint32Array(readFileSync(file).buffer.slice(0));
  const constants = new Map<number, number>();
  for (let at = 5; at < words.length; at += words[at] >>> 16) {
    const op = words[at] & 0xffff;
    if (op === OP.Constant) constants.set(words[at + 3], words[at + 2]);
    if (op === OP.ShiftLeftLogical && words[at + 4] === constants.get(16)) {
      words[at + 4] = constants.get(8)!;
      break;
    }
  }
  writeFileSync(file, words);
};

describe.each([
  ['RADV', 'navi31', shiftingLess],
  [
    'ptxas',
    'sm_86',
    replacing(/shf\.r\.wrap\.b32 (x\d+), (x\d+), x\d+, 16;/, 'shr.u32 $1, $2, 16; shl.b32 a, $2, 8; or.b32 $1, $1, a;'),
  ],
  ['ANV', 'dg2', shiftingLess],
  ['ocloc', 'dg2', replacing(/<< 16u/, '<< 8u')],
] as const)('%s', (compiler, family, breaking) => {
  describeCompiler(compiler, () => {
    const ours = representatives(record.filter((row: Row) => row.compiler.startsWith(compiler)));

    test('takes no more instructions for a nonce than recorded', { timeout: PATIENCE_MS }, async () => {
      const rows = await compile(ours);
      const compared = rows.filter((row) => record.some((each: Row) => each.compiler === row.compiler));
      if (process.env.CI) expect(compared.length, 'recorded with another version: --record').toBeGreaterThan(0);
      expect(worseThan(record, rows, ours)).toEqual([]);
      expect(rows.filter(({ spills }) => spills > 0)).toEqual([]);
    });

    test('takes more, and says of what, when a rotate is none', { timeout: PATIENCE_MS }, async () => {
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
