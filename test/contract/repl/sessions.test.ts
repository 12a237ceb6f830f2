/** Whole dialogues with the interpreter: printed values, and messages of failures. */

import { describe, expect, it } from 'vitest';
import { newSession } from '../dialogue.ts';
import { vectors } from '../vectors.ts';

const cases = vectors.sessions.flatMap((session) => session.dialects.map((dialect) => ({ ...session, dialect })));

describe.each(cases)('$name, in dialect $dialect', ({ dialect, steps }) => {
  const session = newSession(dialect === '4' ? 4 : 5);

  it.each(steps)('$code', (step) => {
    const { values, error } = session.runText(step.code);
    if (step.error !== undefined) {
      expect(error?.message).toContain(step.error);
      return;
    }
    expect(error?.message).toBeUndefined();
    const printed = values.at(-1) ?? '';
    if (step.prints !== undefined) expect(printed).toBe(step.prints);
    expect(printed.startsWith(step.prints_begin ?? '')).toBe(true);
    expect(printed.endsWith(step.prints_end ?? '')).toBe(true);
  });
});
