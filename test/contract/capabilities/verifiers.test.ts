/** The verifiers of a transaction, and who may rely on one. */

import { describe, expect, it } from 'vitest';
import { dialogue } from '../dialogue.ts';

const MODULE = `(module m G
  (defcap G () true)
  (defcap C (n:integer) (enforce-verifier "v"))
  (defun go (n) (with-capability (C n) n))
  (defun bare () (enforce-verifier "v")))`;
const VERIFIERS = `(env-verifiers [{ "name": "w", "caps": [] } { "name": "v", "caps": [(m.C 1) (m.C 2)] }])`;

describe.each([4, 5] as const)('in dialect %i', (dialect) => {
  const begin = () => dialogue(dialect, MODULE);

  it('env-verifiers sets the verifiers, whose capabilities they stand for', () => {
    const { say, fault } = begin();
    expect(say(VERIFIERS)).toBe('"Setting transaction verifiers/caps"');
    expect([say('(m.go 1)'), say('(m.go 2)')]).toEqual(['1', '2']);
    expect(fault('(m.go 3)')).toContain('Verifier failure v: not in scope');
    say('(env-verifiers [])');
    expect(fault('(m.go 1)')).toContain('Verifier failure v: not in transaction');
  });

  it('a verifier is asked for within a capability', () => {
    const { say, fault } = begin();
    say(VERIFIERS);
    for (const code of ['(m.bare)', '(enforce-verifier "v")'])
      expect(fault(code)).toContain('enforce-verifier must be run in a capability');
  });

  it.each([
    '(env-verifiers)',
    '(env-verifiers 1)',
    '(env-verifiers [] [])',
    '(env-verifiers [1])',
    '(env-verifiers [{ "name": "v" }])',
    '(env-verifiers [{ "caps": [] }])',
    '(env-verifiers [{ "name": 1, "caps": [] }])',
    '(env-verifiers [{ "name": "v", "caps": [1] }])',
    '(enforce-verifier)',
    '(enforce-verifier 1)',
    '(enforce-verifier "v" "v")',
  ])('%s is refused', (code) => {
    const { say, fault } = begin();
    say(VERIFIERS);
    expect(fault(code)).not.toContain('not in transaction');
    expect(say('(m.go 1)')).toBe('1');
  });
});
