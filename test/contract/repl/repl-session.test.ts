/** The state after a failed form, and what is known of a failed expectation. */

import { describe, expect, it, test } from 'vitest';
import { Session } from '#pickaxe/contract/repl/repl-session.js';
import { newSession } from '../dialogue.ts';

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

describe('a failed expectation', () => {
  it('tells where its expression has failed, and what failed there', () => {
    const module = '(module m G (defcap G () true) (defun f:string () 1))';
    const session = newSession(5, { 'a.repl': `${module}\n(expect "a" 1\n  (m.f))\n(expect "b" 1\n  (at 3 [1]))` });
    expect(session.runFile('a.repl').expectations).toEqual([
      expect.objectContaining({
        subject: 'the result of m.f',
        cause: expect.objectContaining({ file: 'a.repl', position: expect.objectContaining({ line: 3, column: 2 }) }),
      }),
      expect.objectContaining({
        cause: expect.objectContaining({ file: 'a.repl', position: expect.objectContaining({ line: 5, column: 2 }) }),
      }),
    ]);
  });

  it('of code that is in no file tells no such place', () => {
    const { expectations } = newSession(5).runText('(expect "a" 1 (at 3 [1]))');
    expect(expectations).toHaveLength(1);
    expect(Object.keys(expectations[0]).sort()).toEqual(['passed', 'place', 'text']);
  });
});
