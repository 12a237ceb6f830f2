/** The gas of powers, of shifts and of large numbers in the table model, and of keysets that are looked up. */

import { describe, expect, it } from 'vitest';
import { dialogue } from '../dialogue.ts';

function gasOf(code: string, ...before: string[]): number {
  const { say } = dialogue(4, '(env-gaslimit 1000000000)', ...before, '(env-gasmodel "table")', '(env-gas 0)');
  say(code);
  return Number(say('(env-gas)'));
}

/** An integer with this number of bits. */
const bits = (count: number) => `${2n ** BigInt(count - 1)}`;
/** What an operand of this number of bits costs, if it is not free. */
const operand = (count: number) => Math.floor(Math.floor(count / 8) ** 2 / 100);

describe('operands', () => {
  it.each([
    [`(+ ${'9'.repeat(80)} 1)`, 1],
    [`(+ 1${'0'.repeat(80)} 1)`, 1 + operand(266)],
    [`(- 1 1${'0'.repeat(80)})`, 1 + operand(266)],
    [`(- 1${'0'.repeat(80)} -1${'0'.repeat(80)})`, 1 + 2 * operand(266)],
    [`(* ${bits(319)} 2)`, 3 + operand(319)],
    [`(* ${bits(320)} 2)`, 3 + operand(320)],
    [`(/ ${bits(320)} ${bits(400)})`, 3 + operand(320) + operand(400)],
  ])('%s costs %i', (code, gas) => {
    expect(gasOf(code)).toBe(gas);
  });

  it('were free before version 4.3, and from 10^30 on before 4.8', () => {
    const code = `(+ ${bits(400)} 1)`;
    expect(gasOf(code, '(env-exec-config ["DisablePact43"])')).toBe(1);
    const smaller = `(+ ${bits(200)} 1)`;
    expect(gasOf(smaller)).toBe(1);
    expect(gasOf(smaller, '(env-exec-config ["DisablePact48"])')).toBe(1 + operand(200));
  });
});

describe('powers', () => {
  it.each([
    ['(^ 2 0)', 4],
    ['(^ 2 1)', 4],
    // One square for each bit of the exponent after the first, and a product of squares.
    [`(^ ${bits(319)} 2)`, 4 + 2 * operand(319)],
    [`(^ ${bits(319)} 3)`, 4 + 2 * operand(319) + operand(637) + operand(319)],
    [`(^ ${bits(319)} 4)`, 4 + 2 * operand(319) + 2 * operand(637)],
    [`(^ -${bits(319)} 2)`, 4 + 2 * operand(319)],
    ['(^ 2.0 3)', 4],
  ])('%s costs %i', (code, gas) => {
    expect(gasOf(code)).toBe(gas);
  });
});

describe('shifts', () => {
  it.each([
    [`(shift ${bits(400)} 0)`, 1],
    [`(shift ${bits(400)} -8)`, 1],
    ['(shift 1 8)', 1],
    [`(shift ${bits(400)} 1)`, 1 + operand(400)],
  ])('%s costs %i', (code, gas) => {
    expect(gasOf(code)).toBe(gas);
  });

  it('of 0 cost no more by the longest places', () => {
    const longest = gasOf('(shift 0 65535)');
    expect(longest).toBeGreaterThan(operand(65_536));
    expect([gasOf('(shift 0 65536)'), gasOf('(shift 0 100000)')]).toEqual([longest, longest]);
    expect(gasOf('(shift 0 65534)')).toBeLessThan(longest);
  });
});

describe('keysets that are looked up', () => {
  const before = ['(env-exec-config ["DisablePact44"])', '(env-data {"k": ["a"]})(env-keys ["a"])(define-keyset "k")'];

  it.each([
    ['(enforce-guard "k")', 9],
    ['(enforce-keyset "k")', 9],
    ['(enforce-guard (keyset-ref-guard "k"))', 7 + 9],
    ['(enforce-guard (read-keyset "k"))', 9],
    ['(keyset-ref-guard "k")', 7],
    ['(describe-keyset "k")', 101],
  ])('%s costs %i', (code, gas) => {
    expect(gasOf(code, ...before)).toBe(gas);
  });
});
