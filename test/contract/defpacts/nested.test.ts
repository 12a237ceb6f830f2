/** Nested defpacts: steps that run steps of other defpacts. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { hashText } from '#pickaxe/contract/values/hash.js';
import { messageOf } from '../faults.ts';
import { Chain, ID, NESTED } from './chain.ts';

describe('defpacts in defpacts', () => {
  const idOf = (outer: string, json: string) => hashText(`${outer}:${json}`);

  it('do each step along with the outer one', () => {
    const chain = new Chain(NESTED);
    expect(chain.run('(m.good)')).toBe('[{"n": 1} {"n": 2}]');
    expect([...chain.defpact.nested.values()].map(({ step }) => step)).toEqual([0, 0]);
    expect(chain.defpact).toMatchObject({ id: ID, yielded: undefined });
    const ids = [2, 1].map((n) => idOf(ID, `{"args":[{"int":${n}}],"def":"inner.two"}`));
    expect(chain.continue(1)).toBe(`[[2 "${ids[0]}"] [1 "${ids[1]}"]]`);
    expect(chain.events).toEqual([]);
  });

  it('can be in one another', () => {
    const chain = new Chain(NESTED);
    expect(chain.run('(depth.good)')).toBe('[{"n": 1} {"n": 2}]');
    const outer = idOf(ID, '{"args":[],"def":"m.good"}');
    const ids = [2, 1].map((n) => idOf(outer, `{"args":[{"int":${n}}],"def":"inner.two"}`));
    expect(chain.continue(1)).toBe(`[[2 "${ids[0]}"] [1 "${ids[1]}"]]`);
  });

  it('are undone with the outer one', () => {
    const chain = new Chain(NESTED);
    expect(chain.run('(m.undo)')).toBe('[1 0]');
    expect(chain.rollBack(0)).toBe('[1 "undone"]');
  });

  it('resume nothing when they are called again, but in dialect 5', () => {
    const chain = new Chain(NESTED);
    chain.run('(m.again)');
    expect(messageOf(() => chain.continue(1))).toBe('Resume: no yielded value in context');
    for (const defpact of ['again', 'good']) {
      const chain5 = new Chain(NESTED, 5);
      chain5.run(`(m.${defpact})`);
      expect(chain5.continue(1)).toContain(`[1 "${idOf(ID, '{"args":[{"int":1}],"def":"inner.two"}')}"]`);
    }
  });

  const [PARENT, LATE] = [ID, idOf(ID, '{"args":[{"int":1}],"def":"inner.two"}')];
  const MISMATCH = 'Nested defpact execution failed, parameter mismatch:';

  it.each<[string, Dialect, string]>([
    ['short', 4, 'applyNestedPact: invalid nested defpact length, must be equal to length of parent'],
    ['short', 5, `${MISMATCH} PactId: ${PARENT} step count: 1 Parent step count: 2`],
    ['rollback', 4, 'applyNestedPact: invalid nested defpact step, must match parent rollback'],
    ['rollback', 5, `${MISMATCH} defpact id: ${PARENT} Rollback: True Parent rollback:False`],
    ['private', 4, 'applyNestedPact: nested defpacts do not allow private execution'],
    ['function', 4, 'Attempting to continue a pact that was not nested: (defun inner.function:* ())'],
    ['no-flow', 4, 'continue: argument must be a defpact 3'],
  ])('fail in the first step: %s in dialect %i', (defpact, dialect, message) => {
    expect(messageOf(() => new Chain(NESTED, dialect).run(`(m.${defpact})`))).toBe(message);
  });

  it.each<[string, Dialect, string]>([
    ['forgets', 4, `Nested defpacts were not all advanced in prior step for pact: ${PARENT}`],
    ['forgets', 5, `Nested defpact not advanced ${PARENT}`],
    ['late', 4, 'Nested pact executing same nested pact twice'],
    ['late', 5, `Requested nested defpact double execution: defpact id: ${LATE}`],
    ['stranger', 4, 'Attempting to continue a pact that was not nested: (defpact inner.two:* (n:*))'],
    ['twice', 4, 'Nested pact never started at prior step'],
    ['twice', 5, `Requested nested defpact never started: defpact id: ${LATE}`],
  ])('fail in the second step: %s in dialect %i', (defpact, dialect, message) => {
    const chain = new Chain(NESTED, dialect);
    chain.run(`(m.${defpact})`);
    expect(messageOf(() => chain.continue(1))).toBe(message);
  });

  it('are continued only in steps', () => {
    expect(messageOf(() => new Chain(NESTED).run('(continue (inner.two 1))'))).toBe('Not within pact invocation');
    expect(messageOf(() => new Chain(NESTED).run('(continue)'))).toBe(
      'Invalid arguments, received [] for value:* -> *',
    );
  });

  it('are refused with the flag DisablePact43', () => {
    const chain = new Chain(NESTED, 4, { flags: new Set(['DisablePact43']) });
    const refusal = 'initPact: internal error: step already in environment';
    expect(messageOf(() => chain.run('(m.good)'))).toBe(refusal);
    expect(messageOf(() => chain.run('(continue (inner.two 1))'))).toBe('Cannot resolve continue');
  });

  it('cost steps for those that are there already', () => {
    const many = (count: number) =>
      `(module inner G (defcap G () true) (defpact f (n) (step n)))
       (module m G (defcap G () true) (defpact all () (step (length (map (inner.f) (enumerate 1 ${count}))))))`;
    expect(new Chain(many(100), 4, {}, 10_000).run('(m.all)')).toBe('100');
    expect(messageOf(() => new Chain(many(200), 4, {}, 10_000).run('(m.all)'))).toBe(
      'Code takes more than 10000 steps',
    );
  });
});
