/** A fault of the interpreter itself is not taken for a failure of the code that it runs. */

import { afterEach, expect, it, vi } from 'vitest';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { newSession } from '../dialogue.ts';

afterEach(() => void vi.restoreAllMocks());

it.each(
  ([4, 5] as const).flatMap((dialect) => [
    { dialect, code: '(expect-failure "fails" (identity 1))' },
    { dialect, code: '(expect-failure "fails" "cannot read" (identity 1))' },
    { dialect, code: '(expect "is one" 1 (identity 1))' },
    { dialect, code: '(expect "is one" (identity 1) 1)' },
    { dialect, code: '(expect-that "is one" (= 1) (identity 1))' },
    { dialect, code: '(expect-that "is one" (lambda (x) (identity true)) 1)' },
    { dialect, code: '(try 1 (identity 1))' },
    { dialect, code: '(enforce-one "none" [(identity true) true])' },
  ]),
)('in dialect $dialect, $code ends the run', ({ dialect, code }) => {
  const session = newSession(dialect);
  expect(session.runText(code).error).toBeUndefined();
  vi.spyOn(NATIVES.get('identity')!, 'apply').mockImplementation(() => {
    throw new TypeError('cannot read properties of undefined');
  });
  expect(() => session.runText(code)).toThrow(TypeError);
});
