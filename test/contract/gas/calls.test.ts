/** What counts as a call when gas is charged. */

import { expect, it, vi } from 'vitest';
import { Transaction } from '../transaction.ts';

const MODULE = '(module m G (defcap G () true) (defcap C (x) true) (defun f (x) x))';

it.each([
  [4, '(m.f 1)', 1],
  [4, '(map (m.f) [1 2])', 2],
  [5, '(m.f 1)', 1],
  [5, '((lambda (x) x) 1)', 1],
  // A capability only becomes a value.
  [5, '(m.C 1)', 0],
  [5, '(+ 1 2)', 0],
] as const)('in dialect %i, %s calls %i functions', (dialect, code, count) => {
  const transaction = new Transaction({ dialect });
  transaction.run(MODULE);
  const call = vi.spyOn(transaction.evaluator.gas, 'call');
  transaction.run(code);
  expect(call).toHaveBeenCalledTimes(count);
});
