/** Whole programs: those of the vectors, and hostile ones. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { ContractError } from '#pickaxe/contract/errors.js';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import { cases } from '../../cases.ts';
import { codeOf, vectors } from '../vectors.ts';
import { failure } from './trees.ts';

describe('the vectors', () => {
  it.each([4, 5] as const)('of dialect %d are well formed', (dialect) => {
    const codes = codeOf(dialect);
    expect(codes.length).toBeGreaterThan(400);
    const failed = codes.flatMap((code) => {
      try {
        parseProgram(code, dialect);
        return [];
      } catch (error) {
        return [`${code}: ${(error as Error).message}`];
      }
    });
    expect(failed).toEqual(
      dialect === 5
        ? []
        : [
            // Both must fail.
            '((lambda (x) x) 1): Expected: atom',
            '(module m3 G (defcap G () true) (defun f () 1) (defun f () 2)): definition name conflict: f',
          ],
    );
  });

  it.each(vectors.syntax_errors)('refuse $code in dialect $dialect', ({ code, dialect, error }) => {
    const failed = failure(code, dialect === '4' ? 4 : 5);
    expect(failed.message).toContain(error);
    expect(failed.kind).toBe(error === 'definition name conflict' ? 'eval' : 'syntax');
    expect(failed.column).toBeTypeOf('number');
  });

  it('are fifteen errors', () => {
    expect(vectors.syntax_errors).toHaveLength(15);
  });
});

describe('hostile code', () => {
  /** Mulberry32: the same sequence in every run. */
  function random(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
      return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
    };
  }

  const PIECES = [
    ...['(', ')', '[', ']', '{', '}', '"', "'", ':', ':=', '::', ',', '.', ';', '\\', '\n', ' ', '-', '1', '1.5'],
    ...['let', 'module', 'defun', 'defcap', '@managed', '@doc', 'step', 'use', 'cond', '{"a" := x}', '(f)', 'é', '😀'],
    ...['\ud800', '\0'],
  ];

  function mutated(code: string, next: (below: number) => number): string {
    let changed = code;
    for (let count = 1 + next(4); count > 0; count--) {
      const at = next(changed.length + 1);
      const end = Math.min(changed.length, at + next(2) * next(30));
      const piece =
        next(3) === 0 ? changed.slice(next(changed.length + 1)).slice(0, next(40)) : PIECES[next(PIECES.length)];
      changed = changed.slice(0, at) + piece + changed.slice(end);
    }
    return changed;
  }

  /** Whether the code is well formed. Fails if anything but a ContractError is thrown. */
  function isWellFormed(code: string, dialect: Dialect): boolean {
    try {
      parseProgram(code, dialect);
      return true;
    } catch (error) {
      if (!(error instanceof ContractError)) throw new Error(`Not refused as it should be: ${code}`, { cause: error });
      if (!error.position || error.position.offset > code.length) throw new Error(`No position: ${code}`);
      return false;
    }
  }

  it('of many mutated programs is read or refused', () => {
    const programs = cases(20_000);
    const next = random(20_000);
    const seeds = { 4: codeOf(4), 5: codeOf(5) };
    let wellFormed = 0;
    for (let count = 0; count < programs; count++) {
      const dialect = next(2) === 0 ? 4 : 5;
      const code = seeds[dialect][next(seeds[dialect].length)]!;
      if (isWellFormed(mutated(code, next), dialect)) wellFormed++;
    }
    // Both outcomes must be common, or the mutations would test nothing.
    expect(wellFormed).toBeGreaterThan(programs / 10);
    expect(wellFormed).toBeLessThan(0.9 * programs);
  });

  it('of random bytes is read or refused', () => {
    const next = random(1);
    for (let count = 0; count < 2000; count++) {
      const bytes = Uint8Array.from({ length: next(200) }, () => next(256));
      isWellFormed(new TextDecoder('latin1').decode(bytes), count % 2 === 0 ? 4 : 5);
      isWellFormed(new TextDecoder().decode(bytes), count % 2 === 0 ? 4 : 5);
    }
  });

  it.each(['(', '()', '[', '[1,', '{"a":', '(let ((x ', '(f {"a" := x} ', '(lambda (x) ', '[[] '])(
    'of a megabyte of %j is refused',
    (piece) => {
      for (const dialect of [4, 5] as const) {
        if (piece === '()' && dialect === 5) continue;
        expect(isWellFormed(piece.repeat(Math.floor(1_000_000 / piece.length)), dialect)).toBe(false);
      }
    },
  );
});
