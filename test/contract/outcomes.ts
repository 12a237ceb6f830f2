/** Tables of inputs and of what the interpreter answers. */

import { describe, expect, it } from 'vitest';
import { lastOf } from './dialogue.ts';

/**
 * One input or several, and what the interpreter prints for the last one, or the message of its failure: in dialect 4,
 * and in dialect 5 if that differs. A dialect in which the inputs are not tried has null.
 */
export type OutcomeRow = readonly [inputs: string | readonly string[], in4: string | null, in5?: string | null];

/** @param before inputs that come first in every row */
export function checkOutcomes(before: readonly string[], rows: readonly OutcomeRow[]): void {
  describe.each([4, 5] as const)('in dialect %i', (dialect) => {
    const cases = rows.map(([inputs, in4, in5 = in4]) => {
      const all = [inputs].flat();
      return { all, code: all.join(' '), outcome: dialect === 4 ? in4 : in5 };
    });
    it.each(cases.filter(({ outcome }) => outcome !== null))('$code', ({ all, outcome }) => {
      expect(lastOf(dialect, [...before, ...all])).toBe(outcome);
    });
  });
}

/** Replaces `(U` in the rows by the beginning of a module `u`. */
export function inModule(rows: readonly OutcomeRow[]): readonly OutcomeRow[] {
  const written = (code: string) => code.replace('(U ', '(module u G (defcap G () true) ');
  return rows.map(([inputs, ...outcomes]): OutcomeRow => [[inputs].flat().map(written), ...outcomes]);
}
