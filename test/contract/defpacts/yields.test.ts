/** Yields between steps, and their gas. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { tableModel } from '#pickaxe/contract/gas/model.js';
import { messageOf } from '../faults.ts';
import { Chain, ID, NESTED, YIELDS } from './chain.ts';

describe('yields', () => {
  it('reach the next step', () => {
    const chain = new Chain(YIELDS);
    expect(chain.run('(m.on 1)')).toBe('{"v": 1}');
    expect(chain.events).toEqual([]);
    expect(chain.continue(1)).toBe('[1 "resumed"]');
  });

  it.each<[string, Dialect, string]>([
    ['(m.outside 1)', 4, 'Yield not in defpact context'],
    ['(m.outside 1)', 5, 'Try to yield a value outside a running defpact execution'],
    ['(m.back 1)', 4, 'Cross-chain yield not allowed in step with rollback'],
    [
      '(m.back 1)',
      5,
      'Program encountered an unhandled raised error: Cross-chain yield not allowed in step with rollback',
    ],
    ['(resume { "v" := v } v)', 4, 'Resume: no yielded value in context'],
    ['(resume { "v" := v } v)', 5, 'No active defpact execution in the environment'],
    [
      '(yield 1)',
      4,
      'Invalid arguments, received [1] for [object:object:<{y}> -> object:<{y}>, object:object:<{y}> target-chain:string -> object:<{y}>]',
    ],
  ])('fail: %s in dialect %i', (code, dialect, message) => {
    expect(messageOf(() => new Chain(YIELDS, dialect).run(code))).toBe(message);
  });

  it.each<[Dialect, string]>([
    [4, 'Resume: no yielded value in context'],
    [5, `No yield value found from previous pact step. Current step: 1 defpact Id: ${ID}`],
  ])('are needed by resume, dialect %i', (dialect, message) => {
    const chain = new Chain(YIELDS, dialect);
    chain.run('(m.none)');
    expect(messageOf(() => chain.continue(1))).toBe(message);
  });
});

describe('gas', () => {
  /** @returns the charges of two steps of a defpact, without the first look-up of its module */
  function chargesOf(code: string, call: string): { first: readonly string[]; second: readonly string[] } {
    const chain = new Chain(code);
    const { gas } = chain.evaluator;
    gas.model = tableModel();
    gas.takeLog();
    const charges = () => (gas.takeLog() ?? []).slice(1).filter((line) => !line.startsWith('lookup'));
    chain.run(call);
    const first = charges();
    chain.continue(1);
    return { first, second: charges() };
  }

  it('is charged for steps, for what they yield, and for what they resume', () => {
    // A yielded object costs a tenth of its bytes: 48 of the column, 50 of its name, 40 of the integer.
    expect(chargesOf(YIELDS, '(m.on 1)')).toEqual({
      first: ['on: 1', 'yield: 2', 'yield: 14'],
      second: ['on: 1', 'resume: 2', 'resume: 1'],
    });
    expect(chargesOf(NESTED, '(m.single)')).toEqual({
      first: ['single: 1', 'two: 1', 'yield: 2', 'yield: 14'],
      second: ['single: 1', 'continue: 1', 'two: 1', 'resume: 2', 'resume: 1', 'pact-id: 1'],
    });
  });
});

it('objects that are yielded cost steps for their parts', () => {
  const code = (count: number) =>
    `(module m G (defcap G () true)
       (defpact f () (step (let ((v { "v": (make-list 1000 1) })) (map (lambda (x) (yield v)) (make-list ${count} 1))))))`;
  const run = (count: number) => new Chain(code(count), 4, {}, 20_000).run('(length (m.f))');
  expect(run(10)).toBe('10');
  expect(messageOf(() => run(20))).toBe('Code takes more than 20000 steps');
});
