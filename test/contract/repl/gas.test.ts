/** The gas of a dialogue in the table model, with modules, tables and defpacts. */

import { expect, it } from 'vitest';
import { newSession } from '../dialogue.ts';
import { vectors } from '../vectors.ts';

const { setup, data, lines } = vectors.gas;

const session = newSession(4);

function run(code: string): string | undefined {
  const { values, error } = session.runText(code);
  expect(error?.message).toBeUndefined();
  return values.at(-1);
}

it('the dialogue begins', () => {
  for (const code of ['(env-gaslimit 1000000)', setup, data]) run(code);
});

// Dialect 4 can call only names.
it.each(lines.filter(({ code }) => !code.startsWith('((')))('$code', ({ code, gas }) => {
  run('(env-gas 0)');
  run(code);
  expect(run('(env-gas)')).toBe(`${gas}`);
});
