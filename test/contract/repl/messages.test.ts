/** Messages of dialect 4, which show values, or only types where code runs as on a node. */

import { describe, expect, it } from 'vitest';
import { lastOf, newSession } from '../dialogue.ts';

const ON_CHAIN = '(env-simulate-onchain true)';
const MODULE =
  '(module m G (defcap G () true) (defschema s a:integer) (deftable t:{s}) (defun f (x) (enforce x "no")))';
const TABLE = '(create-table m.t) (insert m.t "a" { "a": 1 })';

/** The code, the message with values, and the message with types. */
const MESSAGES: [string, string, string][] = [
  ['(if 1 2 3)', 'if: conditional not boolean: 1', 'if: conditional not boolean, received value of type: integer'],
  [
    '(identity (cond (1 2) 3))',
    'if: conditional not boolean: 1',
    'if: conditional not boolean, received value of type: integer',
  ],
  [
    '(enforce false [1])',
    'Invalid message argument, expected string [1]',
    'Invalid message argument, expected string, received argument of type: [<a>]',
  ],
  ['(map (+ 1) 1)', 'map: expecting list: 1', 'map: expecting list, received argument of type: integer'],
  ['(fold (+ 1) 0 1.0)', 'fold: expecting list: 1.0', 'fold: expecting list, received argument of type: decimal'],
  ['(filter (< 2) true)', 'filter: expecting list: true', 'filter: expecting list, received argument of type: bool'],
  ['(bind 1 { "a" := a } a)', 'bind: expected object: 1', 'bind: expected object, received value of type: integer'],
  [
    '(concat ["a" 1])',
    'concat: expecting list of strings: 1',
    'concat: expected list of strings, received value of type: integer',
  ],
  [
    '(concat (+ "a" "b"))',
    'Invalid arguments, received ["ab"] for str-list:[string] -> string',
    'Invalid arguments in call to concat, received arguments of type [string], expected str-list:[string] -> string',
  ],
  [
    '(try (+ 1 2))',
    'Invalid arguments, received ["(+ 1 2)"] for default:<a> action:<a> -> <a>',
    'Invalid arguments in call to try, received arguments of type [app], expected default:<a> action:<a> -> <a>',
  ],
  [
    '(try 1 2.0 "a" [] {} (let ((x 1)) x))',
    'Invalid arguments, received ["1" "2.0" ""a"" "[]" "{}" "(let ((x 1)) x)"] for default:<a> action:<a> -> <a>',
    'Invalid arguments in call to try, received arguments of type [integer decimal string [<a>] object:* let], expected default:<a> action:<a> -> <a>',
  ],
  [
    `(try "${'a'.repeat(60)}")`,
    `Invalid arguments, received [""${'a'.repeat(49)}..."] for default:<a> action:<a> -> <a>`,
    'Invalid arguments in call to try, received arguments of type [string], expected default:<a> action:<a> -> <a>',
  ],
  [
    '(fold-db 1 (lambda (k o) true) (lambda (k o) o))',
    'Expected table as first argument to foldDB, got: 1',
    'Expected table as first argument to foldDB, got argument of type: integer',
  ],
  [
    '(fold-db m.t (lambda (k o) 1) (lambda (k o) o))',
    'Unexpected return value from fold-db query condition 1',
    'Unexpected return value from fold-db query condition, received value of type: integer',
  ],
  [
    '(select m.t (constantly 1))',
    'select: filter returned non-boolean value: 1',
    'select: filter returned non-boolean value: integer',
  ],
  // These messages are the same in both cases.
  [
    '(let ((x "h")) (x 1))',
    'Tried to call a value which is not a function, but a(n) string',
    'Tried to call a value which is not a function, but a(n) string',
  ],
  ['(and? (+ 1) (> 1) 1)', 'and?: Non-boolean result from delegate: 2', 'and?: Non-boolean result from delegate: 2'],
  ['(not? (+ 1) 1)', 'not?: Non-boolean result from delegate: 2', 'not?: Non-boolean result from delegate: 2'],
];

describe.each(MESSAGES)('%s', (code, withValue, withType) => {
  it('shows the value', () => {
    expect(lastOf(4, [MODULE, TABLE, code])).toBe(withValue);
  });

  it('names the type on a node', () => {
    expect(lastOf(4, [MODULE, TABLE, ON_CHAIN, code])).toBe(withType);
  });

  it('shows the value on a node before version 4.7', () => {
    const older = '(env-exec-config ["DisablePact47"])';
    expect(lastOf(4, [MODULE, TABLE, ON_CHAIN, older, code])).toBe(withValue);
  });
});

describe('the name of a module in the place of a function', () => {
  it.each([
    [[], '(m)', 'Expected def: m'],
    [[], '(let ((x m)) (x))', 'Tried to call a value which is not a function, but a(n) module{}'],
    [[ON_CHAIN], '(m 1)', 'reduceApp: cannot apply non-function module{}'],
    [[ON_CHAIN, '(env-exec-config ["DisablePact48"])'], '(m 1)', 'Expected def: m'],
    [['(namespace "n")', '(module o G (defcap G () true))'], '(n.o)', 'Expected def: n.o'],
  ])('after %j, %s fails', (inputs, code, text) => {
    const space = "(env-data { 'k: ['a] }) (env-keys ['a]) (define-namespace 'n (read-keyset 'k) (read-keyset 'k))";
    expect(lastOf(4, [space, MODULE, ...inputs, code])).toBe(text);
  });
});

describe('older rules', () => {
  it.each([
    ['DisablePact48', '(let ((x 1)) (x x))', 'Unexpected non-native direct ref: 1'],
    ['DisablePact48', '(let ((x "h")) (x x))', 'h'],
    ['DisablePact42', '(filter (+ 1) [1 2])', '[]'],
  ])('%s: %s', (flag, code, text) => {
    expect(lastOf(4, [`(env-exec-config ["${flag}"])`, code])).toBe(text);
  });
});

describe('the calls that have failed', () => {
  it.each([
    [[], ['<interactive>:0:0: (m.f false)']],
    [[ON_CHAIN], []],
    [[ON_CHAIN, '(env-exec-config ["DisableFlow47"])'], ['<interactive>:0:0: (m.f false)']],
  ])('after %j', (inputs, frames) => {
    const session = newSession(4);
    for (const input of [MODULE, ...inputs]) session.runText(input);
    expect(session.runText('(m.f false)').error).toMatchObject({ message: 'no', frames });
  });
});
