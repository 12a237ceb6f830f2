/** What installing an interface prints. */

import { expect, it } from 'vitest';
import { dialogue } from '../dialogue.ts';

it('an installed interface is named, in dialect 5 with its hash', () => {
  const code = '(interface i (defun f ()))';
  expect(dialogue(4).say(code)).toBe('"Loaded interface i"');
  const { say } = dialogue(5);
  const printed = say(code);
  expect(printed).toMatch(/^"Loaded interface i, hash [\w-]{43}"$/);
  expect(printed).toContain(JSON.parse(say('(at "hash" (describe-module "i"))')));
});
