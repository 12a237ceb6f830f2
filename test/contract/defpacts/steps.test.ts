/** The steps of defpacts: their order, rollbacks, and private steps. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import type { Environment } from '#pickaxe/contract/runtime/environment.js';
import { messageOf } from '../faults.ts';
import { Chain, ID, module } from './chain.ts';

const STEPS = module(`
  (defpact three (n:string)
    (step-with-rollback (+ n "0") (+ n "undone 0"))
    (step (+ n "1"))
    (step (+ n (pact-id))))
  (defpact one () (step "done"))`);

describe('steps', () => {
  it('run one after another', () => {
    const chain = new Chain(STEPS);
    expect(chain.run('(m.three "a")')).toBe('"a0"');
    expect(chain.defpact).toMatchObject({ id: ID, step: 0, stepCount: 3, hasRollback: true, isExecuted: undefined });
    expect(chain.continue(1)).toBe('"a1"');
    expect(chain.defpact).toMatchObject({ step: 1, hasRollback: false });
    expect(chain.continue(2)).toBe(`"a${ID}"`);
  });

  it('can be undone before the next one runs', () => {
    const chain = new Chain(STEPS);
    chain.run('(m.three "a")');
    expect(chain.rollBack(0)).toBe('"aundone 0"');
    expect(messageOf(() => chain.continue(1))).toBe(`resumePact: pact completed: ${ID}`);
  });

  it.each<[string, Dialect, (chain: Chain) => void, string]>([
    ['of no defpact', 4, (chain) => chain.continue(1), `resumePact: no previous execution found for: ${ID}`],
    ['of no defpact', 5, (chain) => chain.continue(1), `No previous defpact execution found for defpact id:  ${ID}`],
    [
      'of a completed defpact',
      4,
      (chain) => {
        chain.run('(m.one)');
        chain.continue(1);
      },
      `resumePact: pact completed: ${ID}`,
    ],
    [
      'of a completed defpact',
      5,
      (chain) => {
        chain.run('(m.one)');
        chain.continue(1);
      },
      `Requested defpact already completed:  defpact id:${ID}`,
    ],
  ])('%s fail in dialect %i', (_, dialect, action, message) => {
    const chain = new Chain(STEPS, dialect);
    expect(messageOf(() => action(chain))).toBe(message);
  });

  it.each<[number, boolean, Dialect, string]>([
    [3, false, 4, 'resumePactExec: invalid step in request: 3'],
    [3, false, 5, 'DefPactStep does not match defpact properties: requested: 3 step count:3'],
    [-1, false, 4, 'resumePactExec: invalid step in request: -1'],
    [1, false, 4, 'resumePactExec: exec step mismatch with context: (1, 1)'],
    [
      1,
      false,
      5,
      `Step mismatch in DefPactStep and defpact execution environment: defpact id: ${ID} step: 1 DefPactExec step: 2`,
    ],
    [0, true, 4, 'resumePactExec: rollback step mismatch with context: (0, 1)'],
    [
      0,
      true,
      5,
      `Rollback mismatch in DefPactStep and defpact execution environment: defpact id: ${ID} step rollback: True DefPactExec rollback: False`,
    ],
    [1, true, 4, 'Rollback requested but none in step'],
    [1, true, 5, `Step has no rollback: defpact id: ${ID}`],
  ])('that do not follow fail: step %i, rollback %s, dialect %i', (step, isRollback, dialect, message) => {
    const chain = new Chain(STEPS, dialect);
    chain.run('(m.three "a")');
    chain.continue(1);
    expect(messageOf(() => chain.continue(step, { isRollback }))).toBe(message);
  });

  it.each<[Dialect, string]>([
    [4, 'Multiple or nested pact exec found'],
    [5, `defpact execution context already in the environment:  defpact id: ${ID}`],
  ])('of two defpacts in one transaction fail in dialect %i', (dialect, message) => {
    const chain = new Chain(STEPS, dialect);
    expect(messageOf(() => chain.run('(m.one) (m.three "a")'))).toBe(message);
  });

  it('fail where nothing may be written', () => {
    const chain = new Chain(STEPS);
    const run = () => chain.evaluator.within({ access: 'none' }, () => chain.run('(m.one)'));
    expect(messageOf(run)).toBe('Illegal database access attempt (writeRow)');
    const chain5 = new Chain(STEPS, 5);
    const run5 = () => chain5.evaluator.within({ access: 'read' }, () => chain5.run('(m.one)'));
    expect(messageOf(run5)).toContain('Operation disallowed in read-only or sys-only mode');
  });

  it('run as the newest version of the module has them', () => {
    const chain = new Chain(STEPS);
    chain.run('(m.three "a")');
    chain.run(module('(defpact three (n:string) (step n) (step (+ n "new")) (step n))'));
    expect(chain.continue(1)).toBe('"anew"');
    chain.run(module('(defpact three (n:string) (step n))'));
    expect(messageOf(() => chain.continue(2))).toBe('applyPact: step not found: 2');
    chain.run(module('(defun three () 1)'));
    expect(messageOf(() => chain.continue(2))).toBe('resumePactExec: defpact required');
    chain.run(module('(defconst three 1)'));
    expect(messageOf(() => chain.continue(2))).toBe('resumePactExec: defpact ref required');
    chain.run(module('(defconst other 1)'));
    expect(messageOf(() => chain.continue(2))).toBe('resumePactExec: could not resolve continuation ref: m.three');
  });

  it.each<[Dialect, string]>([
    [4, 'pact-id: not in pact execution'],
    [5, 'Attempted to fetch defpact data, but currently not within defpact execution'],
  ])('are where pact-id works, dialect %i', (dialect, message) => {
    expect(messageOf(() => new Chain(STEPS, dialect).run('(pact-id)'))).toBe(message);
  });
});

const PRIVATE = module(`
  (defpact p (who)
    (step-with-rollback who "0" "undone 0")
    (step-with-rollback who "1" "undone 1")
    (step "2"))`);

describe('private steps', () => {
  it('run only for their participant', () => {
    const chain = new Chain(PRIVATE, 4, { entity: 'A' });
    expect(chain.run('(m.p "A")')).toBe('"0"');
    expect(chain.defpact.isExecuted).toBe(true);
    const other = new Chain(PRIVATE, 4, { entity: 'B' });
    expect(other.run('(m.p "A")')).toBe('"skip step"');
    expect(other.defpact.isExecuted).toBe(false);
    expect(other.continue(1)).toBe('"skip step"');
    expect(other.continue(2)).toBe('"2"');
  });

  it('are undone step by step', () => {
    const chain = new Chain(PRIVATE, 4, { entity: 'A' });
    chain.run('(m.p "A")');
    chain.continue(1);
    expect(chain.rollBack(1)).toBe('"undone 1"');
    expect(chain.rollBack(1)).toBe('"undone 1"');
    const other = new Chain(PRIVATE, 4, { entity: 'A' });
    other.run('(m.p "A")');
    expect(other.rollBack(0)).toBe('"undone 0"');
    expect(messageOf(() => other.rollBack(0))).toBe(`resumePact: pact completed: ${ID}`);
  });

  it.each<[string, Partial<Environment>, Dialect, string]>([
    ['(m.p "A")', {}, 4, 'applyPact: private step executed against non-private environment'],
    ['(m.p 1)', { entity: 'A' }, 4, 'applyPact: step entity must be String value)'],
    [
      '(m.p "A")',
      { entity: 'A' },
      5,
      'Pact 5 does not support entity expressions in defpact m.p. Please ensure your defpact steps have the correct number of expressions',
    ],
  ])('fail: %s, environment %j, dialect %i', (code, environment, dialect, message) => {
    expect(messageOf(() => new Chain(PRIVATE, dialect, environment).run(code))).toBe(message);
  });
});
