/** Rows that are written and read, and tables with their history. */

import { checkOutcomes, type OutcomeRow } from '../outcomes.ts';

const BEFORE = [
  `(module m G (defcap G () true) (defschema s a:integer b:[string] c) (defschema g k:guard) (defschema o x)
  (deftable t:{s}) (deftable u:{o}) (deftable v:{g}) (deftable w:{s}) (defun f () 1) (defun cap () true)
  (defcap C (x) true) (defun ug (x) (create-user-guard (f2 x))) (defun f2 (x) true)
  (defun cg (x) (create-capability-guard (C x))))`,
  '(create-table m.t) (create-table m.u) (create-table m.v)',
  '(insert m.t "r" {"a": 1, "b": ["x"], "c": 2.50}) (insert m.t "q" {"a": 2, "b": [], "c": true})',
];
/** The columns of a row. */
const ROW = '{"a": 1, "b": [], "c": 1.0}';

/** The types of `select`, as messages of dialect 4 have them. */
const SELECT =
  '[table:table:<{row}> where:row:object:<{row}> -> bool -> [object:<{row}>], ' +
  'table:table:<{row}> columns:[string] where:row:object:<{row}> -> bool -> [object:<{row}>]]';

const ROWS: readonly OutcomeRow[] = [
  ['(read m.t "r")', '{"a": 1,"b": ["x"],"c": 2.5}', '{"a": 1,"b": ["x"],"c": 2.50}'],
  ['(read m.t "r" [])', '{"a": 1,"b": ["x"],"c": 2.5}', '{"a": 1,"b": ["x"],"c": 2.50}'],
  ['(read m.t "r" ["a"])', '{"a": 1}'],
  ['(read m.t "r" ["c" "a"])', '{"a": 1,"c": 2.5}', '{"a": 1,"c": 2.50}'],
  ['(read m.t "r" ["d"])', 'read: invalid column: "d"', '{}'],
  [
    '(read m.t "r" [1])',
    'read: only Strings/Symbols allowed for col keys',
    'Type error: failed to call native function read with argument(s) of type(s): table, string, list',
  ],
  ['(read m.t "none")', 'read: row not found: none', 'No value found in table m_t for key: none'],
  ['(read m.w "r")', 'read: row not found: r', 'Error during database operation: Table m_w not found'],
  ['(with-read m.t "r" {"a" := x} x)', '1'],
  [
    '(with-read m.t "none" {"a" := x} x)',
    'with-read: row not found: none',
    'No value found in table m_t for key: none',
  ],
  ['(with-read m.t "r" {"d" := x} x)', 'Bad column in binding: d'],
  ['(with-default-read m.t "r" {"a": 9} {"a" := x} x)', '1'],
  ['(with-default-read m.t "none" {"a": 9} {"a" := x} x)', '9'],
  ['(with-default-read m.t "none" {"b": 9} {"a" := x} x)', 'Bad column in binding: a'],
  [
    '(insert m.t "r" {"a": 1, "b": [], "c": 1})',
    'Insert: row found for key r',
    'Error during database operation: Value already found while in Insert mode in table m_t at key "r"',
  ],
  [
    '(insert m.t "n" {"a": 1, "b": []})',
    'Missing fields for {s}: [c:*]',
    'Attempted insert failed due to schema mismatch. Expected: {"a": integer,"b": list string,"c": *}, received {"a": 1,"b": []}',
  ],
  [
    '(insert m.t "n" {"a": "1", "b": [], "c": 1})',
    'Type error: expected integer, found string',
    'Attempted insert failed due to schema mismatch. Expected: {"a": integer,"b": list string,"c": *}, received {"a": "1","b": [],"c": 1}',
  ],
  [
    '(insert m.t "n" {"a": 1, "b": [1], "c": 1})',
    'Type error: expected string, found integer',
    'Attempted insert failed due to schema mismatch. Expected: {"a": integer,"b": list string,"c": *}, received {"a": 1,"b": [1],"c": 1}',
  ],
  [
    '(insert m.t "n" {"a": 1, "b": [], "c": 1, "d": 1})',
    'Invalid field for {s}: "d"',
    'Attempted insert failed due to schema mismatch. Expected: {"a": integer,"b": list string,"c": *}, received {"a": 1,"b": [],"c": 1,"d": 1}',
  ],
  [
    '(insert m.t "n" {"a": 1, "b": [], "d": 1})',
    'Invalid field for {s}: "d"',
    'Attempted insert failed due to schema mismatch. Expected: {"a": integer,"b": list string,"c": *}, received {"a": 1,"b": [],"d": 1}',
  ],
  [
    '(insert m.w "n" {"a": 1, "b": [], "c": 1})',
    'writeValue: no such table: USER_m_w',
    'Error during database operation: Table m_w not found',
  ],
  [
    '(insert m.t "n" {"a": 1, "b": [], "c": m.t})',
    'Only value-level terms permitted: Unable to convert Term: m.t',
    'Expected Pact Value, got closure or table reference',
  ],
  [
    ['(insert m.t "n" {"a": 1, "b": [], "c": [1.50 [2.0 {"y": 3.0, "x": 1}]]})', '(read m.t "n")'],
    '{"a": 1,"b": [],"c": [1.5 [2.0 {"x": 1,"y": 3.0}]]}',
    '{"a": 1,"b": [],"c": [1.50 [2.0 {"x": 1,"y": 3.0}]]}',
  ],
  [['(update m.t "r" {"a": 5})', '(read m.t "r")'], '{"a": 5,"b": ["x"],"c": 2.5}', '{"a": 5,"b": ["x"],"c": 2.50}'],
  [
    '(update m.t "none" {"a": 5})',
    'Update: no row found for key none',
    'Error during database operation: No row found during update in table m_t at key none',
  ],
  [
    '(update m.t "r" {"d": 5})',
    'Invalid field for {s}: "d"',
    'Attempted insert failed due to schema mismatch. Expected: {"a": integer,"b": list string,"c": *}, received {"d": 5}',
  ],
  [
    '(update m.t "r" {"a": "5"})',
    'Type error: expected integer, found string',
    'Attempted insert failed due to schema mismatch. Expected: {"a": integer,"b": list string,"c": *}, received {"a": "5"}',
  ],
  [['(write m.t "r" {"a": 7, "b": [], "c": 0})', '(read m.t "r" ["a"])'], '{"a": 7}'],
  [
    '(write m.t "n" {"a": 7})',
    'Missing fields for {s}: [b:[string], c:*]',
    'Attempted insert failed due to schema mismatch. Expected: {"a": integer,"b": list string,"c": *}, received {"a": 7}',
  ],
  [['(write m.t "n" {"a": 7, "b": [], "c": 0})', '(keys m.t)'], '["n" "q" "r"]'],
  [['(insert m.u "x" {"x": 1})', '(read m.u "x")'], '{"x": 1}'],
  ['(insert m.u "" {"x": 1})', '"Write succeeded"'],
  [
    ['(insert m.v "x" {"k": (m.ug 1.50)})', '(at "k" (read m.v "x"))'],
    'UserGuard {fun: m.f2,args: [1.5]}',
    'UserGuard {fun: m.f2,args: [1.50]}',
  ],
  [
    ['(insert m.v "x" {"k": (m.cg 1.50)})', '(at "k" (read m.v "x"))'],
    'CapabilityGuard {name: m.C,args: [1.5],pactId: }',
    'CapabilityGuard {name: m.C,args: [1.50],pactId: }',
  ],
  ['(insert m.v "x" {"k": (m.ug m.t)})', 'Only value-level terms permitted: m.t'],
  [
    [
      '(insert m.u "x" {"x": (add-time (time "2020-01-01T00:00:00Z") 0.001)})',
      '(format-time "%v" (at "x" (read m.u "x")))',
    ],
    '"000000"',
    '"001000"',
  ],
  [
    [
      '(insert m.u "x" {"x": (add-time (time "2020-01-01T00:00:00Z") 0.000001)})',
      '(format-time "%v" (at "x" (read m.u "x")))',
    ],
    '"000001"',
  ],
  ['(keys m.t)', '["q" "r"]'],
  ['(keys m.w)', 'query: no such table: USER_m_w', 'Error during database operation: Table m_w not found'],
  ['(select m.t (where "a" (= 2)))', '[{"a": 2,"b": [],"c": true}]'],
  ['(select m.t ["a"] (constantly true))', '[{"a": 2} {"a": 1}]'],
  ['(select m.t ["d"] (constantly true))', 'read: invalid column: "d"', '[{} {}]'],
  [
    '(select m.t [1] (constantly true))',
    'read: only Strings/Symbols allowed for col keys',
    'Type error: failed to call native function select with argument(s) of type(s): table, list, closure',
  ],
  [
    '(select m.t 5 (constantly true))',
    `Invalid arguments, received ["m.t" "5" "(constantly true)"] for ${SELECT}`,
    'Type error: failed to call native function select with argument(s) of type(s): table, integer, closure',
  ],
  [
    '(select 5 [] (constantly true))',
    `Invalid arguments, received ["5" "[]" "(constantly true)"] for ${SELECT}`,
    'Type error: failed to call native function select with argument(s) of type(s): integer, list, closure',
  ],
  ['(select m.t (constantly 1))', 'select: filter returned non-boolean value: 1', 'expected bool value, got 1'],
  ['(fold-db m.t (lambda (k r) (= k "q")) (lambda (k r) [k (at "a" r)]))', '[["q" 2]]'],
  ['(fold-db m.t (lambda (k r) true) (lambda (k r) k))', '["q" "r"]'],
  [
    '(fold-db m.t (lambda (k r) 1) (lambda (k r) k))',
    'Unexpected return value from fold-db query condition 1',
    'expected bool value, got 1',
  ],
  [
    '(fold-db 1 (lambda (k r) true) (lambda (k r) k))',
    'Expected table as first argument to foldDB, got: 1',
    'Type error: failed to call native function fold-db with argument(s) of type(s): integer, closure, closure',
  ],
  [
    '(create-table m.t)',
    'Insert: value already at key: m_t',
    'Error during database operation: Table m_t already exists',
  ],
  [['(create-table m.w)', '(keys m.w)'], '[]'],
  [
    '(describe-table m.t)',
    '{"module": "m","name": "t","type": "{s}"}',
    '{"module": "m","name": "t","type": "table{m.s}"}',
  ],
  [
    '(describe-table m.u)',
    '{"module": "m","name": "u","type": "{o}"}',
    '{"module": "m","name": "u","type": "table{m.o}"}',
  ],
  ['(txids m.t 0)', '[]', null],
  [
    [
      '(begin-tx)',
      '(commit-tx)',
      '(begin-tx)',
      '(write m.t "z" ROW)',
      '(commit-tx)',
      '[(txids m.t 0) (txids m.t 1) (txids m.t 2)]',
    ],
    '[[1] [1] []]',
    null,
  ],
  [
    ['(begin-tx)', '(commit-tx)', '(begin-tx)', '(write m.t "z" ROW)', '(commit-tx)', '(txlog m.t 1)'],
    '[{"key": "z","table": "USER_m_t","value": {"a": 1,"b": [],"c": 1.0}}]',
    null,
  ],
  [['(begin-tx)', '(commit-tx)', '(begin-tx)', '(write m.t "z" ROW)', '(commit-tx)', '(txlog m.t 0)'], '[]', null],
  [
    [
      '(begin-tx)',
      '(write m.t "z" ROW)',
      '(commit-tx)',
      '(begin-tx)',
      '(write m.t "z" {"a": 2, "b": [], "c": 1.0})',
      '(commit-tx)',
      '(map (at "txid") (keylog m.t "z" 0))',
    ],
    '[0 1]',
    null,
  ],
  [
    [
      '(begin-tx)',
      '(write m.t "z" ROW)',
      '(commit-tx)',
      '(begin-tx)',
      '(write m.t "z" {"a": 2, "b": [], "c": 1.0})',
      '(commit-tx)',
      '(keylog m.t "z" 1)',
    ],
    '[{"txid": 1,"value": {"a": 2,"b": [],"c": 1.0}}]',
    null,
  ],
  [['(begin-tx)', '(write m.t "z" ROW)', '(commit-tx)', '(keylog m.t "r" 0)'], '[]', null],
  [['(begin-tx)', '(write m.t "z" ROW)', '(rollback-tx)', '(keys m.t)'], '["q" "r"]', null],
  [
    ['(env-exec-config ["DisableHistoryInTransactionalMode"])', '(txids m.t 0)'],
    'Operation only permitted in local execution mode',
    null,
  ],
  [['(env-exec-config ["DisableHistoryInTransactionalMode"])', '(keys m.t)'], '["q" "r"]', null],
];

checkOutcomes(
  BEFORE,
  ROWS.map(
    ([inputs, ...outcomes]): OutcomeRow => [[inputs].flat().map((code) => code.replace('ROW', ROW)), ...outcomes],
  ),
);
