/** Functions and capabilities as values, and variables with the names of functions. */

import { describe } from 'vitest';
import { checkOutcomes } from '../outcomes.ts';

const MODULE = '(module m G (defcap G () true) (defun f () 1) (defun two (a b) (- a b)) (defcap C (x) true))';

checkOutcomes(
  [MODULE],
  [
    ['(let ((f (m.two 5))) (map f [1 2]))', null, '[4 3]'],
    ['(let* ((g (lambda (x y) (- x y))) (h (g 10))) (map h [1 2]))', null, '[9 8]'],
    ['(let ((f m.f)) (f))', null, '1'],
    ['(let ((f +)) (f 1 2))', null, '3'],
    ['(zip enforce-one ["none"] [[true]])', null, '[true]'],
    ['(zip enforce-one ["none"] [[false]])', null, 'none'],
    ['(map require-capability [(m.C 1)])', null, 'require-capability: not granted: (m.C 1)'],
    [
      '(map require-capability [1])',
      null,
      'Type error: failed to call native function require-capability with argument(s) of type(s): integer',
    ],
    ['(map create-capability-guard [(m.C 1)])', null, '[CapabilityGuard {name: m.C,args: [1],pactId: }]'],
    [
      '(map create-user-guard [1])',
      null,
      'native execution failure, create-user-guard failed with message: create-user-guard: expected function application of a top-level function',
    ],
    ['(let ((f (lambda (x) x))) (typeof f))', null, '"<<closure>>"'],
    [['(begin-tx)', '(use m)', '(let ((two 5)) two)'], '5'],
    [['(begin-tx)', '(use m)', '(let ((f 5)) f)'], '5'],
    ['(let ((map 5)) map)', '5', null],
    ['(let ((take 5)) (+ take 1))', '6', null],
  ],
);

describe('a lambda that a variable has', () => {
  const withF = (code: string) =>
    `(let ((f (lambda (x) (= x 1))) (g (lambda (x y) (+ x y))) (inc (lambda (x) (+ x 1)))) ${code})`;
  const TABLE = `(module t G (defcap G () true) (defschema row a:integer) (deftable rows:{row})
    (defun folded () (let ((accepts (lambda (key row) true)) (key-of (lambda (key row) key)))
      (fold-db rows accepts key-of)))
    (defun selected () (let ((accepts (lambda (row) true))) (select rows accepts)))
    (defun selected-by-lambda () (select rows (lambda (row) true)))
    (defun selected-by-where () (select rows ['a] (where 'a (= 1)))))
    (create-table t.rows) (insert t.rows "k" { "a": 1 })`;
  const refused = (code: string) =>
    `Invalid arguments, received ["rows" "${code}"] for [table:table:<{row}> where:row:object:<{row}> -> bool -> [object:<{row}>], table:table:<{row}> columns:[string] where:row:object:<{row}> -> bool -> [object:<{row}>]]`;

  checkOutcomes(
    [TABLE],
    [
      [withF('(map f [1 2])'), '[true false]'],
      [withF('(filter f [1 2])'), '[1]'],
      [withF('(fold g 0 [1 2])'), '3'],
      [withF('(zip g [1 2] [3 4])'), '[4 6]'],
      [withF('(where "a" f { "a": 1 })'), 'true'],
      [withF('(compose inc inc 1)'), '3'],
      [withF('(or? f f 1)'), 'true'],
      [withF('(and? f f 2)'), 'false'],
      [withF('(not? f 1)'), 'false'],
      [withF('(expect-that "is one" f 1)'), '"Expect-that: success: is one"', '"Expect-that: success is one"'],
      [withF('(let ((h f)) (map h [1]))'), '[true]'],
      [withF('(let* ((h (lambda (x) (f x)))) (map h [1]))'), '[true]'],
      [
        '(let ((f 1)) (map f [1]))',
        'Invalid arguments, received ["f" "[1]"] for app:x:<b> -> <a> list:[<b>] -> [<a>]',
        null,
      ],
      ['(t.folded)', '["k"]'],
      ['(t.selected)', refused('accepts'), '[{"a": 1}]'],
      ['(t.selected-by-lambda)', refused('(lambda (row) true)'), '[{"a": 1}]'],
      ['(t.selected-by-where)', '[{"a": 1}]'],
    ],
  );
});

describe('types of the arguments of functions', () => {
  const wrong4 = 'Type error: expected string, found integer';
  const wrong5 = 'Runtime typecheck failure, argument is integer , but expected type string';
  checkOutcomes(
    [],
    [
      ['(map (lambda (x:string) (+ x 1)) [1])', wrong4, '[2]'],
      [
        '(fold (lambda (a:[string] i:integer) (+ a [i])) [] [1 2])',
        'Type error: expected string, found integer',
        '[1 2]',
      ],
      ['(let ((f (lambda (x:string) x))) (f 1))', wrong4, '1'],
      ['(let ((f (lambda (x:string) x))) (map f [1]))', null, '[1]'],
      ['(map ((lambda (x:string y) y) 1) [2])', 'Expected: atom', wrong5],
      ['(map ((lambda (x y:string) y) 1) [2])', 'Expected: atom', wrong5],
      ['(let ((f (lambda (x y:string) y))) (let ((g (f 1))) (map g [2])))', null, wrong5],
      [['(defun f (x:string) x)', '(f 1)'], null, wrong5],
      [['(defun f (x:string) x)', '(map f [1])'], null, wrong5],
      [['(defun f:string (x) x)', '(f 1)'], null, wrong5],
      [['(defun f:string (x) x)', '(env-exec-config ["DisableRuntimeRTC"])', '(f 1)'], null, '1'],
      [['(defun f:string (x:integer) "a")', '(f 1)'], null, '"a"'],
    ],
  );
});

describe('a name that a module and one of its members have', () => {
  checkOutcomes(
    [],
    [
      [['(module m G (defcap G () true) (defconst m 5) (defun f () m))', '(m.f)'], '5'],
      [['(module m G (defcap G () true) (defschema m a:integer) (defun f () m))', '(m.f)'], 'm'],
      [['(module m G (defcap G () true) (defschema t a:integer) (defun f () t))', '(m.f)'], 'm.t'],
    ],
  );
});

describe('values that cannot be stored', () => {
  const received5 = 'Type error: failed to call native function hash with argument(s) of type(s): closure';
  checkOutcomes(
    [MODULE],
    [
      ['(hash +)', 'Invalid type in value location: defun', received5],
      ['(hash (lambda (x) x))', 'Only value-level terms permitted: (lambda (x))', received5],
      ['(hash m.f)', 'Cannot display function details in non-repl context', received5],
    ],
  );
});

describe('values of different types', () => {
  const guard = "(read-keyset 'k)";
  const incompatible = (types: string) => `cannot compare incompatible types: ${types}`;
  checkOutcomes(
    ["(env-data {'k: ['a]})", MODULE],
    [
      [`(= ${guard} 1)`, incompatible('keyset, integer'), 'false'],
      [`(= ${guard} ${guard})`, 'true'],
      [`(= [] ${guard})`, incompatible('[<a>], keyset'), 'false'],
      [`(!= "a" ${guard})`, incompatible('string, keyset'), 'true'],
      ['(= m 1)', incompatible('module{}, integer'), 'false'],
      ['(= m {})', incompatible('module{}, object:*'), 'false'],
      ['(= 1 "a")', 'false'],
      ['(= [] "")', incompatible('[<a>], string'), 'false'],
      ['(= {} [])', incompatible('object:*, [<a>]'), 'false'],
      ['(= [] 0)', incompatible('[<a>], integer'), 'false'],
      ['(= [] {})', incompatible('[<a>], object:*'), 'false'],
    ],
  );
});

describe('a variable that is a function is no capability, and no function of a guard', () => {
  const wrong = (native: string) =>
    `Type error: failed to call native function ${native} with argument(s) of type(s): integer`;
  const received = (type: string) => `Invalid arguments, received ["(f 1)"] for capability: -> bool -> ${type}`;
  const within = (call: string) => `(let ((f (lambda (x) x))) ${call})`;
  checkOutcomes(
    [],
    [
      [within('(with-capability (f 1) 1)'), 'with-capability: expected a capability'],
      [within('(require-capability (f 1))'), received('bool'), wrong('require-capability')],
      [within('(install-capability (f 1))'), received('string'), wrong('install-capability')],
      [within('(test-capability (f 1))'), received('string'), wrong('test-capability')],
      [
        within('(create-user-guard (f 1))'),
        'User guard closure function must be def: (f 1)',
        'native execution failure, create-user-guard failed with message: create-user-guard: expected function application of a top-level function',
      ],
    ],
  );
});
