/** Functions of the interpreter that do nothing here, with each number of arguments. */

import { expect, it } from 'vitest';
import { dialogue } from '../../dialogue.ts';

it.each([4, 5] as const)('env-dynref of dialect %i takes no argument or two', (dialect) => {
  const { say, fault } = dialogue(dialect, '(interface i (defun f ()))', '(module m G (defcap G () true))');
  expect(say('(env-dynref)')).toBe('"Cleared dynamic ref environment."');
  expect(say('(env-dynref i m)')).toBe('"Added dynamic ref to environment."');
  for (const args of ['i', 'i m m']) expect(fault(`(env-dynref ${args})`)).toMatch(/env-dynref|Invalid arguments/);
});
