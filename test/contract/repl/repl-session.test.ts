/** The state after a failed form. */

import { expect, test } from 'vitest';
import { Session } from '#pickaxe/contract/repl/repl-session.js';

test.each([4, 5] as const)('a form that fails has printed, and loads nothing, in dialect %i', (dialect) => {
  const printed: string[] = [];
  const session = new Session({
    dialect,
    readFile: () => '(print "from the file")',
    resolvePath: (_, path) => path,
    onPrint: (text) => printed.push(text),
  });
  const { error } = session.runText('[(print "before") (load "f.repl") (enforce false "no")]');
  expect([error?.message, printed]).toEqual(['no', ['before']]);
  expect(session.runText('1').values).toEqual(['1']);
  expect(printed).toEqual(['before']);
});
