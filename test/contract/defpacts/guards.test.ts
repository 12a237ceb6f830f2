/** Guards that hold only in one defpact, enforced in it, in another one, and outside of defpacts. */

import { describe, expect, it } from 'vitest';
import { messageOf } from '../faults.ts';
import { Chain, ID, module } from './chain.ts';

const code = (guard: string) => `${module(`
  (defcap HELD () true)
  (defschema kept guard:guard)
  (deftable guards:{kept})
  (defun look () (with-capability (HELD) (enforce-guard (at "guard" (read guards "first")))))
  (defun look-without () (enforce-guard (at "guard" (read guards "first"))))
  (defun keep (key) (write guards key { "guard": ${guard} }))
  (defpact flow (key) (step (keep key)) (step (look)) (step (look-without)))
  (defpact other (key) (step (keep key)) (step (look)))`)}
  (create-table guards)`;

/** What a guard says outside of its defpact. */
const OTHER = {
  4: 'Invalid Pact ID',
  5: `Capability pact guard failed: invalid pact id, expected ${ID} got `,
} as const;
const NO_DEFPACT = { 4: 'pact-id: not in pact execution', 5: 'Attempted to fetch defpact data' } as const;

describe.each([4, 5] as const)('in dialect %i, the guard of a capability in a defpact', (dialect) => {
  function begun(): Chain {
    const chain = new Chain(code('(create-capability-pact-guard (HELD))'), dialect);
    chain.run('(m.flow "first")');
    return chain;
  }

  it('holds in a later step of it, where the capability is held', () => {
    expect(begun().continue(1)).toBe('true');
  });

  it('does not hold there without the capability', () => {
    const chain = begun();
    chain.continue(1);
    expect(messageOf(() => chain.continue(2))).toContain('Capability not acquired');
  });

  it('does not hold outside of defpacts, although the capability is held', () => {
    expect(messageOf(() => begun().run('(m.look)'))).toContain(NO_DEFPACT[dialect]);
  });

  it('does not hold in another defpact, although the capability is held', () => {
    const chain = begun();
    chain.evaluator.environment = { ...chain.evaluator.environment, hash: 'another' };
    chain.run('(m.other "second")');
    expect(messageOf(() => chain.continue(1, { pactId: 'another' }))).toContain(OTHER[dialect]);
  });

  it('holds everywhere if it is not bound to the defpact', () => {
    const chain = new Chain(code('(create-capability-guard (HELD))'), dialect);
    chain.run('(m.flow "first")');
    expect([chain.continue(1), chain.run('(m.look)')]).toEqual(['true', 'true']);
  });
});
