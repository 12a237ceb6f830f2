/** The functions that set parts of a transaction's environment, as the interpreter's specification has them. */

import { describe, expect, it } from 'vitest';
import { newSession, outcome } from '../dialogue.ts';
import { HASH4, HASH5, ID, KEYSET, MODULE, NATIVES, says } from './document-3.ts';

const USES = `(module n G (defcap G () true) (defun f () (env-hash "${ID}")))`;
const TABLE = '(env-gasmodel "table")';
const LIMIT = '(env-gaslimit 100)';

says('env-chain-data', {
  'sets the fields, of which others are refused': [
    ['(env-chain-data { "chain-id": "0" })', '"Updated public metadata"'],
    [
      '(env-chain-data { "other": "x" })',
      'envChainData: bad public metadata values: ("other", "x")',
      'envChainData: bad public metadata value for key: other',
    ],
    [
      '(env-chain-data 1)',
      'Invalid arguments, received [1] for new-data:object:~{public-chain-data} -> string',
      'Type error: failed to call native function env-chain-data with argument(s) of type(s): integer',
    ],
  ],
  'has these fields': [
    [
      [
        '(env-chain-data { "chain-id": "19", "block-height": 20, "block-time": (time "2020-01-01T00:00:00Z"), "prev-block-hash": "h", "sender": "s", "gas-limit": 10, "gas-price": 0.1, "gas-fee": 1.0 })',
        '(chain-data)',
      ],
      '{"block-height": 20,"block-time": "2020-01-01T00:00:00Z","chain-id": "19","gas-limit": 10,"gas-price": 0.1,"prev-block-hash": "h","sender": "s"}',
    ],
    [
      '(env-chain-data { "chain-id": 1 })',
      'envChainData: bad public metadata values: ("chain-id", 1)',
      'envChainData: bad public metadata value for key: chain-id',
    ],
  ],
  'leaves the others': [
    [
      ['(env-chain-data { "sender": "s" })', '(env-chain-data { "gas-limit": 1 })', '(at "sender" (chain-data))'],
      '"s"',
    ],
  ],
});

says('env-data', {
  'sets the data': [
    ['(env-data { "a": 1 })', '"Setting transaction data"'],
    [['(env-data { "a": 1 })', '(read-msg "a")'], '1'],
    [['(env-data { "a": 1 })', '(env-data {})', '(read-msg)'], '{}'],
    [
      '(env-data)',
      'Invalid arguments, received [] for json:<a[integer,string,time,decimal,bool,[<l>],object:<{o}>,keyset]> -> string',
      'Incorrect number of arguments (0) for native function env-data supplied; expected (1)',
    ],
  ],
  'has its effect after the form': [
    ['(let ((d (env-data { "a": 1 }))) (read-msg "a"))', 'No such key in message: a', '1'],
  ],
  'takes an encoded text': [
    [['(env-data "{\\"a\\": 1}")', '(read-msg "a")'], '1.0'],
    ['(env-data "{")', 'Invalid JSON: This is not JSON: the end cannot be at position 1'],
  ],
});

says('env-enable-repl-natives', {
  'tells the status': [
    [NATIVES, '"Repl natives enabled"', '"repl natives enabled"'],
    ['(env-enable-repl-natives false)', '"Repl natives disabled"', '"repl natives disabled"'],
    [
      '(env-enable-repl-natives)',
      'Invalid arguments, received [] for enable:bool -> string',
      'Incorrect number of arguments (0) for native function env-enable-repl-natives supplied; expected (1)',
    ],
    [
      '(env-enable-repl-natives 1)',
      'Invalid arguments, received [1] for enable:bool -> string',
      'Type error: failed to call native function env-enable-repl-natives with argument(s) of type(s): integer',
    ],
  ],
  'lets modules use such functions': [
    [[NATIVES, USES, '(n.f)'], `"Set tx hash to ${ID}"`],
    [[NATIVES, '(begin-tx)', USES, '(commit-tx)', '(n.f)'], `"Set tx hash to ${ID}"`],
  ],
  'makes it an error that they use them': [
    [
      [NATIVES, '(env-enable-repl-natives false)', '(begin-tx)', USES, '(commit-tx)', '(n.f)'],
      'module restore failed: Native lookup failed',
      null,
    ],
    [
      [NATIVES, '(env-enable-repl-natives false)', '(begin-tx)', USES],
      null,
      'repl native disallowed in module code. If you want to use this, enable them with (env-enable-repl-natives true)',
    ],
    [['(begin-tx)', USES, '(commit-tx)', '(n.f)'], 'module restore failed: Native lookup failed', null],
    [
      ['(begin-tx)', USES],
      null,
      'repl native disallowed in module code. If you want to use this, enable them with (env-enable-repl-natives true)',
    ],
  ],
});

says('env-events', {
  'lists events by full names, with parameters and the hash of the module': [
    ['(env-events true)', '[]'],
    [
      [MODULE, '(m.emit 1)', '(m.emit 2)', '(env-events true)'],
      `[{"module-hash": "${HASH4}","name": "m.EVENT","params": [1]} {"module-hash": "${HASH4}","name": "m.EVENT","params": [2]}]`,
      `[{"module-hash": "${HASH5}","name": "m.EVENT","params": [1]} {"module-hash": "${HASH5}","name": "m.EVENT","params": [2]}]`,
    ],
    [
      '(env-events)',
      'Invalid arguments, received [] for clear:bool -> [object:*]',
      'Incorrect number of arguments (0) for native function env-events supplied; expected (1)',
    ],
    [
      '(env-events 1)',
      'Invalid arguments, received [1] for clear:bool -> [object:*]',
      'Type error: failed to call native function env-events with argument(s) of type(s): integer',
    ],
  ],
  'clears the events': [[[MODULE, '(m.emit 1)', '(env-events true)', '(env-events true)'], '[]']],
  'keeps the events': [[[MODULE, '(m.emit 1)', '(env-events false)', '(length (env-events false))'], '1']],
});

says('env-gas', {
  'tells the gas': [
    ['(env-gas)', '0'],
    [[TABLE, LIMIT, '(env-gas 0)', '(+ 1 2)', '(env-gas)'], '1'],
  ],
  'sets the gas': [
    ['(env-gas 5)', '"Set gas to 5"'],
    [['(env-gas 5)', '(env-gas)'], '5'],
    [
      '(env-gas "x")',
      'Invalid arguments, received ["x"] for [ -> integer, gas:integer -> string]',
      'Type error: failed to call native function env-gas with argument(s) of type(s): string',
    ],
  ],
});

says('env-gaslimit', {
  'sets the limit': [
    ['(env-gaslimit 10)', '"Set gas limit to 10"'],
    [
      ['(env-gasmodel "fixed" 1)', '(env-gaslimit 1)', '(+ (+ 1 2) 3)'],
      'Gas limit (1) exceeded: 2',
      'Gas limit "1"exceeded: 2',
    ],
    [
      '(env-gaslimit)',
      'Invalid arguments, received [] for limit:integer -> string',
      'Incorrect number of arguments (0) for native function env-gaslimit supplied; expected (1)',
    ],
  ],
});

says('env-gaslog', {
  'tells the gas of each operation since the last call, and the sum': [
    ['(env-gaslog)', '"Enabled gas log"', '["Enabled gas log"]'],
    [['(env-gaslog)', '(env-gaslog)'], '["TOTAL: 0"]'],
    [
      [TABLE, LIMIT, '(env-gaslog)', '(not (identity true))', '(env-gaslog)'],
      '["TOTAL: 3" "not: 1" "identity: 2"]',
      '["TOTAL: 0" "not: 0" "identity: 0"]',
    ],
    [[TABLE, LIMIT, '(env-gaslog)', '(+ 1 2)', '(env-gaslog)', '(env-gaslog)'], '["TOTAL: 0"]'],
  ],
});

says('env-gasmodel', {
  'tells the model': [
    ['(env-gasmodel)', '"Current gas model is \'fixed 0\': constant rate gas model with fixed rate 0"'],
    [[TABLE, '(env-gasmodel)'], '"Current gas model is \'table\': table-based cost model"'],
  ],
  'sets the table model': [[TABLE, '"Set gas model to table-based cost model"']],
  'sets a fixed rate, which must be there': [
    ['(env-gasmodel "fixed" 2)', '"Set gas model to constant rate gas model with fixed rate 2"'],
    ['(env-gasmodel "fixed")', '"Unrecognized model, perhaps try (env-gasmodel "table") or (env-gasmodel "fixed" 1)"'],
    [['(env-gasmodel "fixed" 2)', '(env-gaslimit 9)', '(not true)', '(env-gas)'], '2'],
    ['(env-gasmodel 1)', '"Unrecognized model, perhaps try (env-gasmodel "table") or (env-gasmodel "fixed" 1)"'],
  ],
});

says('env-hash', {
  'sets the hash': [
    [`(env-hash "${ID}")`, `"Set tx hash to ${ID}"`],
    [[`(env-hash "${ID}")`, '(tx-hash)'], `"${ID}"`],
    [
      '(env-hash 1)',
      'Invalid arguments, received [1] for hash:string -> string',
      'Type error: failed to call native function env-hash with argument(s) of type(s): integer',
    ],
  ],
  'takes base64url without padding; other than 256 bits are taken with a note': [
    ['(env-hash "YQ")', '"Set tx hash to YQ"'],
    ['(env-hash "a=")', 'Bad hash value: a=: it is not base64url without padding'],
  ],
});

says('env-keys', {
  'sets keys that have signed for all': [
    ['(env-keys ["alice" "bob"])', '"Setting transaction keys"'],
    [[MODULE, KEYSET, '(env-keys ["alice"])', '(m.signed 1)'], '"yes"'],
    [
      [MODULE, KEYSET, '(env-keys ["alice"])', '(env-keys ["bob"])', '(m.signed 1)'],
      'Keyset failure (keys-all): [alice]',
      'Keyset failure (keys-all): [alice...]',
    ],
    [
      '(env-keys "alice")',
      'Invalid arguments, received ["alice"] for keys:[string] -> string',
      'Type error: failed to call native function env-keys with argument(s) of type(s): string',
    ],
  ],
});

says('env-namespace-policy', {
  'tells that the policy is there': [
    [[MODULE, '(env-namespace-policy true (m.policy))'], '"Installed namespace policy"', null],
    [[MODULE, '(env-namespace-policy true m.policy)'], null, '"Installed namespace policy"'],
    [
      '(env-namespace-policy true 1)',
      'Invalid arguments, received ["true" "1"] for allow-root:bool ns-policy-fun:ns:string ns-admin:guard -> bool -> string',
      'Type error: failed to call native function env-namespace-policy with argument(s) of type(s): bool, integer',
    ],
  ],
  'says whether modules may have no namespace': [
    [
      [MODULE, '(env-namespace-policy true (m.policy))', '(module n G (defcap G () true))'],
      '"Loaded module n, hash 6DPOqAkGWwzpmwTMlWh7Im-uPSMYYgz0n3eAurAR91U"',
      null,
    ],
    [
      [MODULE, '(env-namespace-policy true m.policy)', '(module n G (defcap G () true))'],
      null,
      '"Loaded module n, hash gQDKWvUq2Xvd4DzUZcVQjbsZ7UAnhdDsqsBlvS2FksQ"',
    ],
    [
      [MODULE, '(env-namespace-policy false (m.policy))', '(module n G (defcap G () true))'],
      'Definitions in default namespace are not authorized',
      null,
    ],
    [
      [MODULE, '(env-namespace-policy false m.policy)', '(module n G (defcap G () true))'],
      null,
      'Namespace installation error: cannot install in root namespace',
    ],
  ],
  'asks the function for a name and a guard': [
    [
      [MODULE, '(env-namespace-policy true (m.policy))', '(define-namespace "allowed" (sig-keyset) (sig-keyset))'],
      '"Namespace defined: allowed"',
      null,
    ],
    [
      [MODULE, '(env-namespace-policy true m.policy)', '(define-namespace "allowed" (sig-keyset) (sig-keyset))'],
      null,
      '"Namespace defined: allowed"',
    ],
    [
      [MODULE, '(env-namespace-policy true (m.policy))', '(define-namespace "other" (sig-keyset) (sig-keyset))'],
      'Namespace definition not permitted',
      null,
    ],
    [
      [MODULE, '(env-namespace-policy true m.policy)', '(define-namespace "other" (sig-keyset) (sig-keyset))'],
      null,
      'native execution failure, define-namespace failed with message: Namespace definition not permitted',
    ],
  ],
});

says('env-sigs', {
  'sets keys and what they have signed for': [
    ['(env-sigs [])', '"Setting transaction signatures/caps"'],
    [[MODULE, KEYSET, '(env-sigs [{ "key": "alice", "caps": [] }])', '(m.signed 1)'], '"yes"'],
    [[MODULE, KEYSET, '(env-sigs [{ "key": "alice", "caps": [(m.SIGNED 1)] }])', '(m.signed 1)'], '"yes"'],
    [
      [MODULE, KEYSET, '(env-sigs [{ "key": "alice", "caps": [(m.SIGNED 2)] }])', '(m.signed 1)'],
      'Keyset failure (keys-all): [alice]',
      'Keyset failure (keys-all): [alice...]',
    ],
    [[MODULE, KEYSET, '(m.signed 1)'], 'Keyset failure (keys-all): [alice]', 'Keyset failure (keys-all): [alice...]'],
    [
      '(env-sigs 1)',
      'Invalid arguments, received ["1"] for sigs:[object:*] -> string',
      'Type error: failed to call native function env-sigs with argument(s) of type(s): integer',
    ],
    ['(env-sigs [1])', 'Expected object'],
    ['(env-sigs [{ "key": "a" }])', "Expected object with 'key': string, 'caps': [capability]"],
    ['(env-sigs [{ "key": 1, "caps": [] }])', 'Expected string value'],
    ['(env-sigs [{ "key": "a", "caps": [1] }])', 'Expected capability invocation'],
  ],
  'takes `any` as a key that grants capabilities, but signs no guard': [
    [[MODULE, '(env-sigs [{ "key": "any", "caps": [(m.MANAGED 1)] }])', '(m.managed 1)'], '"yes"'],
    [[MODULE, '(m.managed 1)'], 'Managed capability not installed: (m.MANAGED 1)'],
    [
      [MODULE, KEYSET, '(env-sigs [{ "key": "any", "caps": [(m.SIGNED 1)] }])', '(m.signed 1)'],
      'Keyset failure (keys-all): [alice]',
      'Keyset failure (keys-all): [alice...]',
    ],
  ],
});

describe('env-enable-repl-natives', () => {
  const LOADED = { prints: `"Set tx hash to ${ID}"` };
  const FILES = { 'm.pact': USES };
  const LOAD = ['(load "m.pact")', '(n.f)'];

  it('lets the modules of loaded files use such functions, too', () => {
    expect(outcome(4, [NATIVES, ...LOAD], FILES)).toEqual(LOADED);
    const unknown = { fails: 'Cannot resolve "env-hash"' };
    expect(outcome(4, LOAD.slice(0, 1), FILES)).toEqual(unknown);
    expect(outcome(4, [NATIVES, '(env-enable-repl-natives false)', ...LOAD.slice(0, 1)], FILES)).toEqual(unknown);
  });

  it('notices in dialect 4 only when a module is read from the database that it uses them', () => {
    expect(outcome(4, [USES, '(n.f)'])).toEqual(LOADED);
  });

  it.each([4, 5] as const)('leaves code outside of modules, in dialect %i', (dialect) => {
    expect(outcome(dialect, ['(env-enable-repl-natives false)', `(env-hash "${ID}")`])).toEqual(LOADED);
  });
});

describe('env-chain-data', () => {
  it.each([4, 5] as const)('takes any text as a chain, and notes others than 0 to 19, in dialect %i', (dialect) => {
    const set = (chain: string) => `(env-chain-data { "chain-id": "${chain}" })`;
    const code = `(env-chain-data { "sender": "s" }) ${set('19')} ${set('20')}`;
    const session = newSession(dialect, { 'a.repl': `${code} (expect "" "20" (at 'chain-id (chain-data)))` });
    const { expectations, notes } = session.runFile('a.repl');
    expect(expectations).toMatchObject([{ passed: true }]);
    expect(notes).toEqual(['env-chain-data has set chain-id "20", but nodes have chains 0 to 19']);
  });
});

describe('env-hash', () => {
  it.each([4, 5] as const)('notes a hash of other than 256 bits, in dialect %i', (dialect) => {
    const session = newSession(dialect, { 'a.repl': `(env-hash "YQ") (env-hash "${ID}")` });
    expect(session.runFile('a.repl').notes).toEqual(['env-hash has set YQ, but real hashes have 256 bits']);
  });
});
