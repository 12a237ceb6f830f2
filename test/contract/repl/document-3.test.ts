/**
 * Every function of the interpreter's specification, with each form of its arguments, its results, and its messages for
 * wrong arguments. The specification calls flows what the language calls defpacts; both spellings work.
 */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { hashText } from '#pickaxe/contract/values/hash.js';
import { newSession, type Outcome, outcome } from '../dialogue.ts';

const MODULE = `(module m G (defcap G () true)
  (defcap EVENT (x) @event true)
  (defcap SIGNED (x) (enforce-guard (read-keyset "ks")))
  (defcap MANAGED (x) @managed true)
  (defun emit (x) (emit-event (EVENT x)))
  (defun signed (x) (with-capability (SIGNED x) "yes"))
  (defun managed (x) (with-capability (MANAGED x) "yes"))
  (defun policy (ns admin) (= ns "allowed"))
  (defun test () (expect "inner" 1 1))
  (defpact flow (n) (step-with-rollback (yield { "n": n }) "undone") (step (resume { "n" := n } n))))`;
const HASH = hashText(MODULE);
const KEYSET = `(env-data { "ks": { "keys": ["alice"], "pred": "keys-all" } })`;
const NATIVES = '(env-enable-repl-natives true)';
const DEFPACT = `(m.flow 1)`;
const ID = hashText('a');

type Row = [inputs: readonly string[], outcome: Outcome];

const prints = (inputs: string | readonly string[], text: string): Row => [[inputs].flat(), { prints: text }];
const fails = (inputs: string | readonly string[], message: string): Row => [[inputs].flat(), { fails: message }];
const refused = (code: string, received: string, signatures: string): Row =>
  fails(code, `Invalid arguments, received [${received}] for ${signatures}`);

function check(name: string, rows: readonly Row[]): void {
  describe(name, () => {
    it.each(rows)('%j', (inputs, wanted) => {
      expect(outcome(4, inputs)).toEqual(wanted);
    });
  });
}

/* Transactions. */

check('begin-tx', [
  prints('(begin-tx)', '"Begin Tx 0"'),
  prints('(begin-tx "first")', '"Begin Tx 0: first"'),
  prints(['(begin-tx)', '(commit-tx)', '(begin-tx "second")'], '"Begin Tx 1: second"'),
  prints(['(begin-tx)', '(rollback-tx)', '(begin-tx)'], '"Begin Tx 0"'),
  // An open transaction is rolled back.
  fails(['(begin-tx)', MODULE, '(begin-tx)', '(m.test)'], 'Cannot resolve m.test'),
  refused('(begin-tx 1)', '1', '[ -> string, name:string -> string]'),
]);

check('commit-tx', [
  prints(['(begin-tx)', '(commit-tx)'], '"Commit Tx 0"'),
  prints(['(begin-tx "first")', '(commit-tx)'], '"Commit Tx 0: first"'),
  prints(['(begin-tx)', MODULE, '(m.test)'], '"Expect: success: test.inner"'),
  prints([NATIVES, '(begin-tx)', MODULE, '(commit-tx)', '(m.test)'], '"Expect: success: test.inner"'),
  fails('(commit-tx)', 'doCommit: Not in transaction'),
  refused('(commit-tx "x")', '"x"', ' -> string'),
]);

/* Defpacts. */

describe.each(['continue-flow', 'continue-pact'])('%s', (name) => {
  const begun = [MODULE, '(env-hash (hash "a"))', DEFPACT];
  const signatures = [
    'step:integer -> string',
    'step:integer rollback:bool -> string',
    'step:integer rollback:bool pact-id:string -> string',
    'step:integer rollback:bool pact-id:string yielded:object:<{y}> -> string',
  ].join(', ');
  it.each([
    prints([...begun, `(${name} 1)`], '1'),
    prints([...begun, `(${name} 1 false)`], '1'),
    prints([...begun, `(${name} 0 true)`], '"undone"'),
    prints([...begun, `(${name} 1 false "${ID}")`], '1'),
    prints([...begun, `(${name} 1 false "${ID}" { "n": 2 })`], '2'),
    // Without an id, it is the defpact of this transaction.
    fails(
      ['(begin-tx)', ...begun, '(commit-tx)', `(${name} 1)`],
      'continue-pact: No pact id supplied and no pact exec in context',
    ),
    fails(`(${name} 1 false "x")`, 'resumePact: no previous execution found for: x'),
    fails([...begun, `(${name} 1)`, `(${name} 1)`], `resumePact: pact completed: ${ID}`),
    fails([...begun, `(${name} 2)`], 'resumePactExec: invalid step in request: 2'),
    fails([...begun, `(${name} 1 true)`], 'resumePactExec: rollback step mismatch with context: (1, 0)'),
    refused(`(${name})`, '', `[${signatures}]`),
    refused(`(${name} "1")`, '"1"', `[${signatures}]`),
    refused(`(${name} 1 false "x" 2)`, '1 false "x" 2', `[${signatures}]`),
  ])('%j', (inputs, wanted) => {
    expect(outcome(4, inputs)).toEqual(wanted);
  });
});

/* Modules. */

const INTERFACE = '(interface i (defun f ()))';
const described = (field: string) => `(at "${field}" (describe-module "m"))`;

check('describe-module', [
  prints([MODULE, described('name')], '"m"'),
  prints([MODULE, described('hash')], `"${HASH}"`),
  prints([MODULE, described('blessed')], '[]'),
  prints([MODULE, `(length ${described('code')})`], `${MODULE.length}`),
  prints([MODULE, described('interfaces')], '[]'),
  prints([MODULE, described('keyset')], '"G"'),
  prints([MODULE, '(length (describe-module "m"))'], '6'),
  prints(
    [
      INTERFACE,
      `(module n G (defcap G () true) (bless "${ID}") (implements i) (defun f () 1))`,
      '(let ((n (describe-module "n"))) [(at "blessed" n) (at "interfaces" n)])',
    ],
    `[["${ID}"] ["i"]]`,
  ),
  prints([INTERFACE, '(describe-module "i")'], `{"code": "${INTERFACE}","name": "i"}`),
  fails('(describe-module "x")', 'Module not found: x'),
  fails(
    ['(module n G (defcap G () true) (defun f () (describe-module "n")))', '(n.f)'],
    'Top-level call used in module n: describe-module',
  ),
  refused('(describe-module 1)', '1', 'module:string -> object:*'),
]);

/* Parts of a transaction's environment. */

check('env-chain-data', [
  prints('(env-chain-data { "chain-id": "0" })', '"Updated public metadata"'),
  prints(
    [
      '(env-chain-data { "chain-id": "19", "block-height": 20, "block-time": (time "2020-01-01T00:00:00Z"), "prev-block-hash": "h", "sender": "s", "gas-limit": 10, "gas-price": 0.1, "gas-fee": 1.0 })',
      '(chain-data)',
    ],
    '{"block-height": 20,"block-time": "2020-01-01T00:00:00Z","chain-id": "19","gas-limit": 10,"gas-price": 0.1,"prev-block-hash": "h","sender": "s"}',
  ),
  // Only the given fields change.
  prints(
    ['(env-chain-data { "sender": "s" })', '(env-chain-data { "gas-limit": 1 })', '(at "sender" (chain-data))'],
    '"s"',
  ),
  fails('(env-chain-data { "chain-id": 1 })', 'envChainData: bad public metadata values: ("chain-id", 1)'),
  fails('(env-chain-data { "other": "x" })', 'envChainData: bad public metadata values: ("other", "x")'),
  refused('(env-chain-data 1)', '1', 'new-data:object:~{public-chain-data} -> string'),
]);

const JSON_TYPE = '<a[integer,string,time,decimal,bool,[<l>],object:<{o}>,keyset]>';

check('env-data', [
  prints('(env-data { "a": 1 })', '"Setting transaction data"'),
  prints(['(env-data { "a": 1 })', '(read-msg "a")'], '1'),
  prints(['(env-data "{\\"a\\": 1}")', '(read-msg "a")'], '1.0'),
  prints(['(env-data { "a": 1 })', '(env-data {})', '(read-msg)'], '{}'),
  // The data can be read only after the form that sets them.
  fails('(let ((d (env-data { "a": 1 }))) (read-msg "a"))', 'No such key in message: a'),
  refused('(env-data)', '', `json:${JSON_TYPE} -> string`),
]);

describe('env-data', () => {
  it('refuses a text that is no JSON', () => {
    expect(outcome(4, ['(env-data "{")'])).toEqual({ fails: expect.stringMatching(/^Invalid JSON: ./) });
  });
});

const SIGNED = '(m.signed 1)';
const REFUSED = 'Keyset failure (keys-all): [alice]';
const SIGS = 'sigs:[object:*] -> string';

check('env-sigs', [
  prints('(env-sigs [])', '"Setting transaction signatures/caps"'),
  prints([MODULE, KEYSET, `(env-sigs [{ "key": "alice", "caps": [] }])`, SIGNED], '"yes"'),
  prints([MODULE, KEYSET, `(env-sigs [{ "key": "alice", "caps": [(m.SIGNED 1)] }])`, SIGNED], '"yes"'),
  fails([MODULE, KEYSET, `(env-sigs [{ "key": "alice", "caps": [(m.SIGNED 2)] }])`, SIGNED], REFUSED),
  fails([MODULE, KEYSET, SIGNED], REFUSED),
  // Any key that signs for a capability installs it.
  prints([MODULE, `(env-sigs [{ "key": "any", "caps": [(m.MANAGED 1)] }])`, '(m.managed 1)'], '"yes"'),
  fails([MODULE, '(m.managed 1)'], 'Managed capability not installed: (m.MANAGED 1)'),
  fails('(env-sigs [1])', 'Expected object'),
  fails('(env-sigs [{ "key": "a" }])', "Expected object with 'key': string, 'caps': [capability]"),
  fails('(env-sigs [{ "key": 1, "caps": [] }])', 'Expected string value'),
  fails('(env-sigs [{ "key": "a", "caps": [1] }])', 'Expected capability invocation'),
  refused('(env-sigs 1)', '"1"', SIGS),
]);

check('env-keys', [
  prints('(env-keys ["alice" "bob"])', '"Setting transaction keys"'),
  prints([MODULE, KEYSET, '(env-keys ["alice"])', SIGNED], '"yes"'),
  fails([MODULE, KEYSET, '(env-keys ["alice"])', '(env-keys ["bob"])', SIGNED], REFUSED),
  refused('(env-keys "alice")', '"alice"', 'keys:[string] -> string'),
]);

check('env-hash', [
  prints(`(env-hash "${ID}")`, `"Set tx hash to ${ID}"`),
  prints([`(env-hash "${ID}")`, '(tx-hash)'], `"${ID}"`),
  refused('(env-hash 1)', '1', 'hash:string -> string'),
]);

describe('env-hash', () => {
  it('refuses a text that is not base64url without padding', () => {
    expect(outcome(4, ['(env-hash "a=")'])).toEqual({ fails: expect.stringMatching(/^Bad hash value: a=: ./) });
  });
});

const NAMESPACE = (name: string) => `(define-namespace "${name}" (sig-keyset) (sig-keyset))`;

check('env-namespace-policy', [
  prints([MODULE, '(env-namespace-policy true (m.policy))'], '"Installed namespace policy"'),
  prints([MODULE, '(env-namespace-policy true (m.policy))', NAMESPACE('allowed')], '"Namespace defined: allowed"'),
  fails([MODULE, '(env-namespace-policy true (m.policy))', NAMESPACE('other')], 'Namespace definition not permitted'),
  fails(
    [MODULE, '(env-namespace-policy false (m.policy))', '(module n G (defcap G () true))'],
    'Definitions in default namespace are not authorized',
  ),
  refused(
    '(env-namespace-policy true 1)',
    '"true" "1"',
    'allow-root:bool ns-policy-fun:ns:string ns-admin:guard -> bool -> string',
  ),
]);

/* Rules. */

const OF_FLAGS = '[flags:[string] -> [string],  -> [string]]';

check('env-exec-config', [
  prints('(env-exec-config)', '[]'),
  prints('(env-exec-config ["DisableFlow44" "AllowReadInLocal"])', '["AllowReadInLocal" "DisableFlow44"]'),
  prints(['(env-exec-config ["DisableFlow44"])', '(env-exec-config)'], '["DisableFlow44"]'),
  prints(['(env-exec-config ["DisablePact44" "DisableFlow44"])', '(env-exec-config)'], '["DisableFlow44"]'),
  prints(['(env-exec-config ["DisablePact44"])', '(env-exec-config)'], '["DisablePact44"]'),
  prints(['(env-exec-config ["DisablePact44"])', '(env-exec-config ["AllowReadInLocal"])'], '["AllowReadInLocal"]'),
  prints(['(env-exec-config ["DisablePact44"])', '(env-exec-config [])', '(env-exec-config)'], '[]'),
  refused('(env-exec-config [1])', '[1]', OF_FLAGS),
]);

const DOCUMENT_FLAGS = `AllowReadInLocal DisableHistoryInTransactionalMode DisableInlineMemCheck DisableModuleInstall
  DisableNewTrans DisableFlow40 DisableFlow410 DisableFlow42 DisableFlow43 DisableFlow431 DisableFlow44 DisableFlow45
  DisableFlow46 DisableFlow47 DisableFlow48 DisableFlow49 DisableFlowEvents DisableRuntimeReturnTypeChecking
  EnforceKeyFormats OldReadOnlyBehavior PreserveModuleIfacesBug PreserveModuleNameBug PreserveNsModuleInstallBug
  PreserveShowDefs`.split(/\s+/);

describe('the flags of env-exec-config', () => {
  it.each(DOCUMENT_FLAGS)('%s', (flag) => {
    for (const dialect of [4, 5] as const) {
      for (const name of [flag, flag.replace('DisableFlow', 'DisablePact')]) {
        const [sets, tells] = [`(env-exec-config ["${name}"])`, '(env-exec-config)'];
        expect(outcome(dialect, [sets])).toEqual({ prints: `["${name}"]` });
        expect(outcome(dialect, [sets, tells])).toEqual({ prints: `["${name}"]` });
        expect(outcome(dialect, [sets, '(env-exec-config [])', tells])).toEqual({ prints: '[]' });
      }
    }
  });

  it.each(['Other', 'RequireKeysetNs'])('are no others, such as %s', (flag) => {
    const { fails } = outcome(4, [`(env-exec-config ["${flag}"])`]) as { fails: string };
    expect(fails).toMatch(/^Invalid flag, allowed: \["AllowReadInLocal","DisableHistoryInTransactionalMode",/);
    expect(fails).not.toContain(flag);
  });

  it('are allowed in the spelling in which they are asked for', () => {
    const fault = (flag: string) => outcome(4, [`(env-exec-config ["${flag}"])`]) as { fails: string };
    expect(fault('DisableFlow39').fails).toContain('"DisableFlow40"');
    expect(fault('DisablePact39').fails).toContain('"DisablePact40"');
  });
});

const USES = '(module n G (defcap G () true) (defun f () (env-hash "YQ")))';
const USES_FUNCTION = { 'm.pact': USES };
const DISALLOWED =
  'repl native disallowed in module code. If you want to use this, enable them with (env-enable-repl-natives true)';

describe('env-enable-repl-natives', () => {
  const SET = { prints: '"Set tx hash to YQ"' };
  const USED_LATER = ['(begin-tx)', USES, '(commit-tx)', '(n.f)'];

  it.each<Dialect>([4, 5])('lets modules use them, in dialect %i', (dialect) => {
    expect(outcome(dialect, [NATIVES, ...USED_LATER])).toEqual(SET);
    expect(outcome(dialect, ['(env-enable-repl-natives false)', '(env-hash "YQ")'])).toEqual(SET);
  });

  it.each([[[]], [[NATIVES, '(env-enable-repl-natives false)']]])('else, it is an error to use them: %j', (before) => {
    expect(outcome(5, [...before, USES])).toEqual({ fails: DISALLOWED });
    // Dialect 4 notices it when a later transaction reads the module from the database.
    expect(outcome(4, [...before, USES, '(n.f)'])).toEqual(SET);
    expect(outcome(4, [...before, ...USED_LATER])).toEqual({ fails: 'module restore failed: Native lookup failed' });
  });

  it.each([
    prints('(env-enable-repl-natives true)', '"Repl natives enabled"'),
    prints('(env-enable-repl-natives false)', '"Repl natives disabled"'),
    prints(['(env-enable-repl-natives true)', '(load "m.pact")', '(n.f)'], '"Set tx hash to YQ"'),
    fails('(load "m.pact")', 'Cannot resolve "env-hash"'),
    fails(
      ['(env-enable-repl-natives true)', '(env-enable-repl-natives false)', '(load "m.pact")'],
      'Cannot resolve "env-hash"',
    ),
    refused('(env-enable-repl-natives)', '', 'enable:bool -> string'),
    refused('(env-enable-repl-natives 1)', '1', 'enable:bool -> string'),
  ])('%j', (inputs, wanted) => {
    expect(outcome(4, inputs, USES_FUNCTION)).toEqual(wanted);
  });
});

check('env-events', [
  prints('(env-events true)', '[]'),
  prints(
    [MODULE, '(m.emit 1)', '(m.emit 2)', '(env-events true)'],
    `[{"module-hash": "${HASH}","name": "m.EVENT","params": [1]} {"module-hash": "${HASH}","name": "m.EVENT","params": [2]}]`,
  ),
  prints([MODULE, '(m.emit 1)', '(env-events true)', '(env-events true)'], '[]'),
  prints([MODULE, '(m.emit 1)', '(env-events false)', '(length (env-events false))'], '1'),
  refused('(env-events)', '', 'clear:bool -> [object:*]'),
  refused('(env-events 1)', '1', 'clear:bool -> [object:*]'),
]);

/* Gas. */

const TABLE = ['(env-gasmodel "table")', '(env-gaslimit 100)'];

check('env-gas', [
  prints('(env-gas)', '0'),
  prints('(env-gas 5)', '"Set gas to 5"'),
  prints(['(env-gas 5)', '(env-gas)'], '5'),
  prints([...TABLE, '(env-gas 0)', '(+ 1 2)', '(env-gas)'], '1'),
  refused('(env-gas "x")', '"x"', '[ -> integer, gas:integer -> string]'),
]);

check('env-gaslimit', [
  prints('(env-gaslimit 10)', '"Set gas limit to 10"'),
  fails(['(env-gasmodel "fixed" 1)', '(env-gaslimit 1)', '(+ (+ 1 2) 3)'], 'Gas limit (1) exceeded: 2'),
  refused('(env-gaslimit)', '', 'limit:integer -> string'),
]);

check('env-gaslog', [
  prints('(env-gaslog)', '"Enabled gas log"'),
  prints(['(env-gaslog)', '(env-gaslog)'], '["TOTAL: 0"]'),
  prints([...TABLE, '(env-gaslog)', '(not (identity true))', '(env-gaslog)'], '["TOTAL: 3" "not: 1" "identity: 2"]'),
  prints([...TABLE, '(env-gaslog)', '(+ 1 2)', '(env-gaslog)', '(env-gaslog)'], '["TOTAL: 0"]'),
]);

check('env-gasmodel', [
  prints('(env-gasmodel)', `"Current gas model is 'fixed 0': constant rate gas model with fixed rate 0"`),
  prints('(env-gasmodel "table")', '"Set gas model to table-based cost model"'),
  prints('(env-gasmodel "fixed" 2)', '"Set gas model to constant rate gas model with fixed rate 2"'),
  prints(['(env-gasmodel "table")', '(env-gasmodel)'], `"Current gas model is 'table': table-based cost model"`),
  prints(['(env-gasmodel "fixed" 2)', '(env-gaslimit 9)', '(not true)', '(env-gas)'], '2'),
  prints(
    '(env-gasmodel "fixed")',
    '"Unrecognized model, perhaps try (env-gasmodel "table") or (env-gasmodel "fixed" 1)"',
  ),
  prints('(env-gasmodel 1)', '"Unrecognized model, perhaps try (env-gasmodel "table") or (env-gasmodel "fixed" 1)"'),
]);

/* Expectations. */

const NO = '(enforce false "no")';

check('expect', [
  prints('(expect "d" 3 (+ 1 2))', '"Expect: success: d"'),
  prints('(expect (+ "d" "e") 1.0 1.00)', '"Expect: success: de"'),
  prints('(expect "d" 1 "1")', '"FAILURE: d: expected 1:integer, received "1":string"'),
  prints(`(expect "d" 1 ${NO})`, '"FAILURE: d: evaluation of actual failed:<interactive>:0:14: no"'),
  prints(`(expect "d" ${NO} 1)`, '"FAILURE: d: evaluation of expected failed:<interactive>:0:12: no"'),
  prints([MODULE, '(m.test)'], '"Expect: success: test.inner"'),
  fails('(expect 1 2 3)', 'Expected string'),
  refused('(expect "d" 1)', '""d"" "1"', 'doc:string expected:<a> actual:<a> -> string'),
]);

const FAILING = '[doc:string exp:<a> -> string, doc:string err:string exp:<a> -> string]';

check('expect-failure', [
  prints(`(expect-failure "d" ${NO})`, '"Expect failure: success: d"'),
  prints(`(expect-failure "d" "no" ${NO})`, '"Expect failure: success: d"'),
  prints(`(expect-failure "d" "Tx Failed: no" ${NO})`, '"Expect failure: success: d"'),
  prints('(expect-failure "d" (+ 1 2))', '"FAILURE: d: expected failure, got result = 3"'),
  prints(
    `(expect-failure "d" "other" ${NO})`,
    `"FAILURE: d: expected error message to contain 'other', got '(enforce false "no"): Failure: Tx Failed: no'"`,
  ),
  refused('(expect-failure "d")', '""d""', FAILING),
  refused(`(expect-failure "d" 1 ${NO})`, '""d"" "1" "(enforce false "no")"', FAILING),
]);

check('expect-that', [
  prints('(expect-that "d" (< 2) 3)', '"Expect-that: success: d"'),
  prints('(expect-that "d" (lambda (x) (= x 3)) 3)', '"Expect-that: success: d"'),
  prints('(expect-that "d" (> 2) 3)', '"FAILURE: d: did not satisfy (> 2) : 3:integer"'),
  prints('(expect-that "d" (+ 2) 3)', '"FAILURE: d: predicate did not return boolean: 5"'),
  prints(`(expect-that "d" (> 2) ${NO})`, '"FAILURE: d: evaluation of expression failed:<interactive>:0:23: no"'),
  refused('(expect-that "d" true 3)', '""d"" "true" "3"', 'doc:string pred:value:<a> -> bool exp:<a> -> string'),
]);

describe('an expectation that is not met', () => {
  it.each(['(expect "d" 1 2)', '(expect-failure "d" 1)', '(expect-that "d" (> 2) 3)'])(
    '%s ends nothing, and the run fails at its end',
    (code) => {
      const session = newSession(4, { 'a.repl': `${code} (expect "next" 1 1)` });
      const { error, expectations } = session.runFile('a.repl');
      expect(error).toBeUndefined();
      expect(expectations.map(({ passed }) => passed)).toEqual([false, true]);
      expect(expectations[0]).toMatchObject({ place: { file: 'a.repl', position: { line: 1, column: 0 } } });
    },
  );
});
