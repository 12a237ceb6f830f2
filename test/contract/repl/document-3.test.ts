/**
 * Transactions, flows, modules and expectations, as the interpreter's specification has them. It calls flows what the
 * language calls defpacts; both spellings work.
 */

import { describe, expect, it } from 'vitest';
import { lastOf, newSession } from '../dialogue.ts';
import { HASH4, HASH5, ID, MODULE, NATIVES, says } from './document-3.ts';

const SIGNATURES =
  '[step:integer -> string, step:integer rollback:bool -> string, step:integer rollback:bool pact-id:string -> string, ' +
  'step:integer rollback:bool pact-id:string yielded:object:<{y}> -> string]';
const INTERFACE = '(interface i (defun f ()))';
const IMPLEMENTS = `(module n G (defcap G () true) (bless "${ID}") (implements i) (defun f () 1))`;

says('begin-tx', {
  'opens a transaction and tells its number': [
    ['(begin-tx)', '"Begin Tx 0"'],
    [['(begin-tx)', '(commit-tx)', '(begin-tx)'], '"Begin Tx 1"'],
    [['(begin-tx)', '(rollback-tx)', '(begin-tx)'], '"Begin Tx 0"'],
  ],
  'tells its name, if it has one': [
    ['(begin-tx "first")', '"Begin Tx 0: first"', '"Begin Tx 0 first"'],
    [
      '(begin-tx 1)',
      'Invalid arguments, received [1] for [ -> string, name:string -> string]',
      'Type error: failed to call native function begin-tx with argument(s) of type(s): integer',
    ],
  ],
  'is not for a transaction inside another one': [
    [['(begin-tx)', MODULE, '(begin-tx)', '(m.emit 1)'], 'Cannot resolve m.emit', null],
    [['(begin-tx)', MODULE, '(begin-tx)'], null, 'tx-function failure Begin Tx'],
  ],
  'is followed by data and modules': [
    [['(begin-tx)', '(env-data {"a": "b"})', MODULE, '(m.policy (read-msg "a") 1)'], 'false'],
  ],
});

says('commit-tx', {
  'ends the transaction and tells its number': [
    [['(begin-tx)', '(commit-tx)'], '"Commit Tx 0"'],
    [
      '(commit-tx)',
      'doCommit: Not in transaction',
      'Error during database operation: No Transaction currently in progress, cannot execute "commit"',
    ],
    [
      '(commit-tx "x")',
      'Invalid arguments, received ["x"] for  -> string',
      'Incorrect number of arguments (1) for native function commit-tx supplied; expected (0)',
    ],
  ],
  'tells the name only if there is one': [
    [['(begin-tx "first")', '(commit-tx)'], '"Commit Tx 0: first"', '"Commit Tx 0 first"'],
  ],
  'keeps the changes': [
    [['(begin-tx)', MODULE, '(commit-tx)', '(begin-tx)', '(m.policy "a" 1)'], 'false'],
    [
      ['(begin-tx)', MODULE, '(rollback-tx)', '(m.policy "a" 1)'],
      'Cannot resolve m.policy',
      'Unbound variable m.policy',
    ],
  ],
  'may be missing': [[['(begin-tx)', MODULE, '(m.policy "allowed" 1)'], 'true']],
});

for (const name of ['continue-flow', 'continue-pact']) {
  says(name, {
    'runs a step': [
      [[MODULE, `(env-hash "${ID}")`, '(m.flow 1)', `(${name} 1)`], '1'],
      [
        [MODULE, `(env-hash "${ID}")`, '(m.flow 1)', `(${name} 2)`],
        'resumePactExec: invalid step in request: 2',
        'DefPactStep does not match defpact properties: requested: 2 step count:2',
      ],
      [
        [MODULE, `(env-hash "${ID}")`, '(m.flow 1)', `(${name} 1)`, `(${name} 1)`],
        `resumePact: pact completed: ${ID}`,
        `Requested defpact already completed:  defpact id:${ID}`,
      ],
      [
        `(${name})`,
        `Invalid arguments, received [] for ${SIGNATURES}`,
        `Type error: failed to call native function ${name} with argument(s) of type(s): `,
      ],
      [
        `(${name} "1")`,
        `Invalid arguments, received ["1"] for ${SIGNATURES}`,
        `Type error: failed to call native function ${name} with argument(s) of type(s): string`,
      ],
    ],
    'rolls a step back if asked to, else not': [
      [[MODULE, `(env-hash "${ID}")`, '(m.flow 1)', `(${name} 0 true)`], '"undone"'],
      [[MODULE, `(env-hash "${ID}")`, '(m.flow 1)', `(${name} 1 false)`], '1'],
      [
        [MODULE, `(env-hash "${ID}")`, '(m.flow 1)', `(${name} 1 true)`],
        'resumePactExec: rollback step mismatch with context: (1, 0)',
        `Rollback mismatch in DefPactStep and defpact execution environment: defpact id: ${ID} step rollback: True DefPactExec rollback: True`,
      ],
    ],
    'takes a flow by its id; without one, that of the transaction': [
      [[MODULE, `(env-hash "${ID}")`, '(m.flow 1)', `(${name} 1 false "${ID}")`], '1'],
      [
        `(${name} 1 false "x")`,
        'resumePact: no previous execution found for: x',
        'No previous defpact execution found for defpact id:  x',
      ],
      [
        [
          '(begin-tx)',
          MODULE,
          `(env-hash "${ID}")`,
          '(m.flow 1)',
          '(commit-tx)',
          '(begin-tx)',
          `(${name} 1 false "${ID}")`,
        ],
        '1',
      ],
      [
        ['(begin-tx)', MODULE, `(env-hash "${ID}")`, '(m.flow 1)', '(commit-tx)', '(begin-tx)', `(${name} 1)`],
        'continue-pact: No pact id supplied and no pact exec in context',
        'No defpact id or execution environment supplied',
      ],
    ],
    'takes what the step before has yielded; without it, what that really has': [
      [[MODULE, `(env-hash "${ID}")`, '(m.flow 1)', `(${name} 1 false "${ID}" { "n": 2 })`], '2'],
      [
        [MODULE, `(env-hash "${ID}")`, '(m.flow 1)', `(${name} 1 false "${ID}" 2)`],
        `Invalid arguments, received [1 false "${ID}" 2] for ${SIGNATURES}`,
        `Type error: failed to call native function ${name} with argument(s) of type(s): integer, bool, string, integer`,
      ],
    ],
  });
}

says('describe-module', {
  'tells the name': [
    [[MODULE, '(at "name" (describe-module "m"))'], '"m"'],
    ['(describe-module "x")', 'Module not found: x', 'Cannot find module: x'],
    [
      '(describe-module 1)',
      'Invalid arguments, received [1] for module:string -> object:*',
      'Type error: failed to call native function describe-module with argument(s) of type(s): integer',
    ],
  ],
  'tells the hash': [[[MODULE, '(at "hash" (describe-module "m"))'], `"${HASH4}"`, `"${HASH5}"`]],
  'tells the blessed hashes, but not in dialect 5': [
    [[INTERFACE, IMPLEMENTS, '(at "blessed" (describe-module "n"))'], `["${ID}"]`, null],
    [[MODULE, '(contains "blessed" (describe-module "m"))'], 'true', 'false'],
  ],
  'tells the code': [
    [[MODULE, '(length (at "code" (describe-module "m")))'], `${MODULE.length}`],
    [[INTERFACE, '(at "code" (describe-module "i"))'], '"(interface i (defun f ()))"'],
  ],
  'tells the interfaces': [[[INTERFACE, IMPLEMENTS, '(at "interfaces" (describe-module "n"))'], '["i"]']],
  'tells the governance, but not in dialect 5': [
    [[MODULE, '(at "keyset" (describe-module "m"))'], '"G"', null],
    [[MODULE, '(contains "keyset" (describe-module "m"))'], 'true', 'false'],
  ],
  'is not for modules': [
    [
      ['(module n G (defcap G () true) (defun f () (describe-module "n")))', '(n.f)'],
      'Top-level call used in module n: describe-module',
      'Top-level call used in module describe-module',
    ],
  ],
});

says('expect-failure', {
  'passes if the expression fails': [
    ['(expect-failure "d" (enforce false "no"))', '"Expect failure: success: d"', '"Expect failure: Success: d"'],
    [
      '(expect-failure "d")',
      'Invalid arguments, received [""d""] for [doc:string exp:<a> -> string, doc:string err:string exp:<a> -> string]',
      'Type error: failed to call native function expect-failure with argument(s) of type(s): string',
    ],
  ],
  'passes if it fails with this message': [
    ['(expect-failure "d" "no" (enforce false "no"))', '"Expect failure: success: d"', '"Expect failure: Success: d"'],
    [
      '(expect-failure "d" "other" (enforce false "no"))',
      '"FAILURE: d: expected error message to contain \'other\', got \'(enforce false "no"): Failure: Tx Failed: no\'"',
      "\"FAILURE: d: expected error message 'other', got 'no'\"",
    ],
    [
      '(expect-failure "d" "other" (at 5 [1]))',
      "\"FAILURE: d: expected error message to contain 'other', got '(at 5 [1]): Failure: at: bad index 5, length 1'\"",
      "\"FAILURE: d: expected error message 'other', got 'Array index out of bounds. Length (1), Index (5)'\"",
    ],
    [
      '(expect-failure "d" "Tx Failed: no" (enforce false "no"))',
      '"Expect failure: success: d"',
      "\"FAILURE: d: expected error message 'Tx Failed: no', got 'no'\"",
    ],
    [
      '(expect-failure "d" 1 (enforce false "no"))',
      'Invalid arguments, received [""d"" "1" "(enforce false "no")"] for [doc:string exp:<a> -> string, doc:string err:string exp:<a> -> string]',
      'Expected string',
    ],
  ],
  'fails if it does not fail': [
    [
      '(expect-failure "d" (+ 1 2))',
      '"FAILURE: d: expected failure, got result = 3"',
      '"FAILURE: d: expected failure, got result"',
    ],
  ],
});

says('expect-that', {
  'passes if the predicate is true': [
    ['(expect-that "d" (< 2) 3)', '"Expect-that: success: d"', '"Expect-that: success d"'],
    ['(expect-that "d" (lambda (x) (= x 3)) 3)', '"Expect-that: success: d"', '"Expect-that: success d"'],
  ],
  'tells what did not satisfy it': [
    [
      '(expect-that "d" (> 2) 3)',
      '"FAILURE: d: did not satisfy (> 2) : 3:integer"',
      '"FAILURE: Expect-that: Did not satisfy condition: d"',
    ],
    [
      '(expect-that "d" (+ 2) 3)',
      '"FAILURE: d: predicate did not return boolean: 5"',
      'native execution failure, expect-that failed with message: Expect-that: condition did not return a boolean',
    ],
    [
      '(expect-that "d" (= [1]) [2])',
      '"FAILURE: d: did not satisfy (= [1]) : [2]:[<a>]"',
      '"FAILURE: Expect-that: Did not satisfy condition: d"',
    ],
    [
      '(expect-that "d" (lambda (x) (enforce false "no")) 3)',
      '"FAILURE: d: evaluation of predicate failed:<interactive>:0:29: no"',
      `"FAILURE: d evaluation of predicate failed with error message:
no"`,
    ],
    [
      '(expect-that "d" (> 2) (enforce false "no"))',
      '"FAILURE: d: evaluation of expression failed:<interactive>:0:23: no"',
      `"FAILURE: d evaluation of expression failed with error message:
no"`,
    ],
    [
      '(expect-that "d" true 3)',
      'Invalid arguments, received [""d"" "true" "3"] for doc:string pred:value:<a> -> bool exp:<a> -> string',
      'Type error: failed to call native function expect-that with argument(s) of type(s): string, bool, integer',
    ],
  ],
});

says('expect', {
  'passes if both values are equal': [
    ['(expect "d" 3 (+ 1 2))', '"Expect: success: d"', '"Expect: success d"'],
    ['(expect (+ "d" "e") 1.0 1.00)', '"Expect: success: de"', '"Expect: success de"'],
    [
      [NATIVES, '(module n G (defcap G () true) (defun test () (expect "inner" 1 1)))', '(n.test)'],
      '"Expect: success: test.inner"',
      '"Expect: success inner"',
    ],
  ],
  'tells what is not equal': [
    [
      '(expect "d" 1 "1")',
      '"FAILURE: d: expected 1:integer, received "1":string"',
      '"FAILURE: d expected: 1, received: "1""',
    ],
    [
      '(expect "d" [1] { "a": 2 })',
      '"FAILURE: d: expected [1]:[<a>], received {"a": 2}:object:*"',
      '"FAILURE: d expected: [1], received: {"a": 2}"',
    ],
    [
      '(expect "d" 1 (enforce false "no"))',
      '"FAILURE: d: evaluation of actual failed:<interactive>:0:14: no"',
      `"FAILURE: d evaluation of actual failed with error message:
no"`,
    ],
    [
      '(expect "d" (enforce false "no") 1)',
      '"FAILURE: d: evaluation of expected failed:<interactive>:0:12: no"',
      `"FAILURE: d evaluation of expected failed with error message:
no"`,
    ],
    ['(expect 1 2 3)', 'Expected string'],
    [
      '(expect "d" 1)',
      'Invalid arguments, received [""d"" "1"] for doc:string expected:<a> actual:<a> -> string',
      'Incorrect number of arguments (2) for native function expect supplied; expected (3)',
    ],
  ],
});

describe.each([4, 5] as const)('in dialect %i, an expression that fails in an expectation', (dialect) => {
  const module = `(module m G (defcap G () true) (defcap E () @event true)
    (defun f () (emit-event (E)) (enforce false "no")))`;

  it.each(['(expect-failure "d" (m.f))', '(expect "d" 1 (m.f))', '(expect-that "d" (= 1) (m.f))'])(
    'leaves no event: %s',
    (code) => {
      expect(lastOf(dialect, [module, code, '(env-events false)'])).toBe('[]');
    },
  );
});

it('a predicate that gives no boolean ends the run in dialect 5, and counts as a failure', () => {
  const { error, expectations } = newSession(5).runText('(expect-that "d" (+ 2) 3) (expect "next" 1 1)');
  expect(error?.message).toMatch(/did not return a boolean$/);
  expect(expectations).toMatchObject([
    { passed: false, text: 'FAILURE: expect-that expression did not return a boolean' },
  ]);
});

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
