/** Each function of the interpreter, called with too many or too few arguments, and with arguments of other types. */

import { describe, expect, it } from 'vitest';
import { type Dialogue, dialogue } from '../../dialogue.ts';
import { checkOutcomes, type OutcomeRow } from '../../outcomes.ts';

const MODULE = '(module m G (defcap G () true) (defun f () 1))';

/** The names of functions, and arguments that each of them refuses. */
type Calls = readonly [names: string, ...calls: string[]];

const REFUSED: readonly Calls[] = [
  ['begin-tx', '1', '"a" "b"'],
  ['commit-tx rollback-tx sig-keyset', '1', '"a"'],
  ['test-capability', '', '1', '(m.G) 1'],
  ['env-events', '', '1', 'true true'],
  ['continue-pact continue-flow', '', '"1"', '1 2', '1 true 2', '1 true "x" 2', '1 true "x" {} 2'],
  ['pact-state', '1', 'true true'],
  ['env-data', '', '{} {}'],
  ['env-hash', '', '1', '"a" "b"'],
  ['env-keys', '', '1', '[1]', '["a" 1]', '["a"] 1'],
  ['env-sigs env-verifiers', '', '1', '[] 1'],
  ['load', '', '1', '"a" 1', '"a" true 1'],
  ['print', '', '1 2'],
  ['env-enable-repl-natives env-simulate-onchain', '', '1', 'true true'],
  ['with-applied-env', '', '1 2'],
  ['typecheck verify', '', '1', '"m" 1', '"m" true 1'],
  ['expect', '"d" 1', '"d" 1 1 1'],
  ['expect-failure', '"d"', '"d" "e" 1 1'],
  ['expect-that', '"d" (< 1)', '"d" (< 1) 2 3', '"d" 1 2'],
  ['env-entity', '1', '"a" "b"'],
  ['env-chain-data', '', '1', '{} {}'],
  ['env-exec-config', '1', '[1]', '["DisablePact44" 1]', '["DisablePact44"] 1'],
  ['mock-spv', '', '"a" {}', '1 {} {}', '"a" 1 {}', '"a" {} 1', '"a" {} {} {}'],
  ['env-namespace-policy', '', 'true', 'true (m.f) 1', '1 (m.f)', 'true 1', 'true (m.G)'],
  ['env-dynref', 'm', 'm m m'],
];
const IN_4: readonly Calls[] = [
  ['env-namespace-policy', 'true m.f', 'true (+ 1)'],
  ['expect-failure', '"d" 1 1'],
];
const IN_5: readonly Calls[] = [
  ['env-module-admin', '', '1', 'm m'],
  ['env-stackframe', '1'],
];

const callsOf = (rows: readonly Calls[]) =>
  rows.flatMap(([names, ...all]) => names.split(' ').flatMap((name) => all.map((args) => ({ name, args }))));

const refusalOf = ({ fault }: Dialogue, name: string, args: string) => fault(`(${name} ${args})`);

describe('in dialect 4', () => {
  it.each(callsOf([...REFUSED, ...IN_4]))('($name $args) is refused', ({ name, args }) => {
    expect(refusalOf(dialogue(4, MODULE), name, args)).toMatch(/^Invalid arguments, received \[.*\] for .* -> /);
  });
});

describe('in dialect 5', () => {
  it.each(callsOf([...REFUSED, ...IN_5]))('($name $args) is refused', ({ name, args }) => {
    const beginnings = [
      `Type error: failed to call native function ${name} with argument(s) of type(s): `,
      `Incorrect number of arguments (${args === '' ? 0 : '…'}) for native function ${name} supplied; expected (`,
    ];
    const text = refusalOf(dialogue(5, MODULE), name, args).replace(/\([1-9]\d*\)/, '(…)');
    expect(
      beginnings.some((each) => text.startsWith(each)),
      text,
    ).toBe(true);
  });
});

const SIGNATURES = '"Setting transaction signatures/caps"';

const OUTCOMES: readonly OutcomeRow[] = [
  ['(env-hash "ab-_")', '"Set tx hash to ab-_"'],
  ['(env-hash "")', '"Set tx hash to "'],
  ['(env-hash "abcde")', 'Bad hash value: abcde: it is not base64url without padding'],
  ['(env-hash "abc=")', 'Bad hash value: abc=: it is not base64url without padding'],
  ['(env-sigs [{"key": "a", "caps": []}])', SIGNATURES],
  ['(env-sigs [{"key": "a"}])', "Expected object with 'key': string, 'caps': [capability]"],
  ['(env-sigs [{"caps": []}])', "Expected object with 'key': string, 'caps': [capability]"],
  ['(env-sigs [{"key": "a", "caps": 1}])', "Expected object with 'key': string, 'caps': [capability]"],
  ['(env-sigs [{"name": "a", "caps": []}])', "Expected object with 'key': string, 'caps': [capability]"],
  ['(env-verifiers [{"name": "a", "caps": []}])', '"Setting transaction verifiers/caps"'],
  ['(env-verifiers [{"key": "a", "caps": []}])', "Expected object with 'name': string, 'caps': [capability]"],
  ['(env-verifiers [{"name": 1, "caps": []}])', 'Expected string value'],
  ['(env-verifiers [{"name": "a", "caps": [1]}])', 'Expected capability invocation'],
  ['(env-entity)', '"Unset entity"'],
  ['(env-entity "a")', '"Set entity to a"'],
  ['(env-simulate-onchain false)', '"Set on-chain simulation execution mode to: false"'],
  ['(env-enable-repl-natives false)', '"Repl natives disabled"', '"repl natives disabled"'],
  ['(mock-spv "a" {} {})', '"Added mock SPV for a"'],
  [
    '(rollback-tx)',
    '"Rollback Tx"',
    'Error during database operation: No Transaction currently in progress, cannot execute "rollback"',
  ],
  ['(pact-state)', 'pact-state: no pact exec in context'],
  ['(env-data m.f)', 'Cannot display function details in non-repl context', 'Only value-level terms permitted: m.f'],
  ['(env-data [1])', '"Setting transaction data"'],
  ['(env-data "{}")', '"Setting transaction data"'],
  ['(env-hash "a!")', 'Bad hash value: a!: it is not base64url without padding'],
  ['(env-hash "abd")', 'Bad hash value: abd: it is not base64url without padding'],
  ['(env-hash "YQo")', '"Set tx hash to YQo"'],
  ['(env-chain-data { "chain-id": "19" })', '"Updated public metadata"'],
  ['(env-chain-data { "chain-id": "" })', '"Updated public metadata"'],
  ...['20', '99', '-1', '007'].map(
    (chain): OutcomeRow => [`(env-chain-data { "chain-id": "${chain}" })`, '"Updated public metadata"'],
  ),
  ['(bench 1 2)', '"Done"'],
  ['(bench 1 (enforce false "no"))', 'no'],
  ['(verify "m" true)', '"Verification of m succeeded"', '()'],
  ['(typecheck "m" true)', '"Typecheck m: success"', '()'],
  ...['chain-id', 'sender', 'prev-block-hash', 'gas-price', 'block-time', 'toString'].map(
    (key) =>
      [
        `(env-chain-data {"${key}": 1})`,
        `envChainData: bad public metadata values: ("${key}", 1)`,
        `envChainData: bad public metadata value for key: ${key}`,
      ] as const,
  ),
  ...['block-height', 'gas-limit'].map(
    (key) =>
      [
        `(env-chain-data {"${key}": 1.0})`,
        `envChainData: bad public metadata values: ("${key}", 1.0)`,
        `envChainData: bad public metadata value for key: ${key}`,
      ] as const,
  ),
  ['(expect 1 1 1)', 'Expected string'],
  ['(expect-failure 1 1)', 'Expected string'],
  ['(expect-that 1 (< 1) 2)', 'Expected string'],
  [
    '(expect "d" 1 1.0)',
    '"FAILURE: d: expected 1:integer, received 1.0:decimal"',
    '"FAILURE: d expected: 1, received: 1.0"',
  ],
  [
    '(expect-that "d" (+ 1) 0)',
    '"FAILURE: d: predicate did not return boolean: 1"',
    'native execution failure, expect-that failed with message: Expect-that: condition did not return a boolean',
  ],
  [
    '(expect-failure "d" "x!" (enforce false "no"))',
    `"FAILURE: d: expected error message to contain 'x!', got '(enforce false "no"): Failure: Tx Failed: no'"`,
    `"FAILURE: d: expected error message 'x!', got 'no'"`,
  ],
  [
    '(expect-failure "d" 7)',
    '"FAILURE: d: expected failure, got result = 7"',
    '"FAILURE: d: expected failure, got result"',
  ],
  [
    '(expect-failure "d" "x" 7)',
    '"FAILURE: d: expected failure, got result = 7"',
    '"FAILURE: x: expected failure, got result: 7"',
  ],
  [
    '(expect-failure "d" "q" (enforce false "é34567890123"))',
    `"FAILURE: d: expected error message to contain 'q', got '(enforce false "é34567890123"): Failure: Tx Failed: é34567890123'"`,
    null,
  ],
  [
    '(expect-failure "d" "q" (enforce false "é3456789012345"))',
    `"FAILURE: d: expected error message to contain 'q', got '(enforce false "é3456789012345...: Failure: Tx Failed: é3456789012345'"`,
    null,
  ],
  [
    '(expect "d" (enforce false "no") (enforce false "other"))',
    '"FAILURE: d: evaluation of actual failed:<interactive>:0:33: other"',
    '"FAILURE: d evaluation of actual failed with error message:\nother"',
  ],
];

checkOutcomes([MODULE], OUTCOMES);
