/** What a transaction has that nobody has set, and gas by flags that are set later. */

import { expect, it } from 'vitest';
import { hashText } from '#pickaxe/contract/values/hash.js';
import { dialogue } from '../dialogue.ts';
import { checkOutcomes } from '../outcomes.ts';

checkOutcomes(
  [],
  [
    [
      '(chain-data)',
      '{"block-height": 0,"block-time": "1970-01-01T00:00:00Z","chain-id": "","gas-limit": 0,"gas-price": 0.0,"prev-block-hash": "","sender": ""}',
    ],
    ['(tx-hash)', `"${hashText('')}"`],
    ['(sig-keyset)', 'KeySet {keys: [],pred: keys-all}'],
    ['(read-msg)', '{}'],
    ['(env-events false)', '[]'],
    ['(list-modules)', '[]'],
    [
      '(= (exp 10000.0) (dec (shift 1 1024)))',
      'true',
      'Floating point error: Floating operation resulted in Infinity or NaN',
    ],
    [
      '(+ 1.0 (exp 10000.0))',
      `${2n ** 1024n + 1n}.0`,
      'Floating point error: Floating operation resulted in Infinity or NaN',
    ],
  ],
);

it('tables cost less to read as a whole with the model of older versions', () => {
  const module = '(module m G (defcap G () true) (defschema s v) (deftable t:{s})) (create-table m.t)';
  const gasOf = (code: string, ...before: string[]) => {
    const { say } = dialogue(4, module, '(env-gaslimit 1000000)', ...before, '(env-gasmodel "table")', '(env-gas 0)');
    say(code);
    return Number(say('(env-gas)'));
  };
  const older = '(env-exec-config ["DisableInlineMemCheck"])';
  for (const [code, more] of [
    ['(keys m.t)', 0],
    ['(select m.t (constantly true))', 1],
    ['(select m.t ["v"] (constantly true))', 1],
    ['(select m.t [] (constantly true))', 1],
    ['(fold-db m.t (lambda (k r) true) (lambda (k r) k))', 1],
  ] as const) {
    expect([gasOf(code), gasOf(code, older)]).toEqual([40_000 + more, 200 + more]);
  }
});

it('flags that are set after the model still decide what costs gas', () => {
  const { say } = dialogue(4, '(env-gaslimit 1000000)', '(env-gasmodel "table")');
  const gasOf = (code: string) => {
    say('(env-gas 0)');
    say(code);
    return Number(say('(env-gas)'));
  };
  const sum = `(+ ${10n ** 100n} 1)`;
  const before = gasOf(sum);
  expect(before).toBeGreaterThan(1);
  say('(env-exec-config ["DisablePact43"])');
  expect(gasOf(sum)).toBe(1);
  say('(env-exec-config [])');
  expect(gasOf(sum)).toBe(before);
});
