/** Charges of drawn calls and modules with the table models, in thousandths of a unit, compared with those recorded. */

import { describe, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import type { Session } from '#pickaxe/contract/repl/repl-session.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { type Recorded, recordIn } from '../../recorded.ts';
import { drawer } from '../../variants.ts';
import { newSession } from '../dialogue.ts';

const CALLS_PER_NATIVE = 14;
const MODULES = 60;
const PARTS = 12;
const DIALECTS = [5, 4] as const;

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

const ten = (power: number) => `1${'0'.repeat(power)}`;
const INTEGERS = ['0', '1', '-1', '2', '7', '16', '64', '300', '-300', '9223372036854775808', '-9223372036854775809'];
const GREAT = [ten(30), ten(199), ten(200), `-${ten(210)}`];
const DECIMALS = ['0.0', '1.0', '-2.25', '7.5', '0.00000000000000000001', `${ten(30)}.5`, `${ten(200)}.0`];
const KEY = 'a'.repeat(64);
const TEXTS = ['""', '"a"', '"abc"', '"äöü"', '"😀é"', '"12"', '"ff"', '"YWJj"', `"${'x'.repeat(250)}"`, `"k:${KEY}"`];
const FORMATS = ['"%F"', '"%Y-%m-%dT%H:%M:%SZ"', '"%s"'];
const TEMPLATES = ['"no"', '"{}"', '"{}-{}"', '"a{}b{}c"'];
const TIMES = ['(time "2020-01-01T00:00:00Z")', '(add-time (time "1970-01-01T00:00:00Z") 0.5)'];
const GUARDS = [
  '(read-keyset "one")',
  '(read-keyset "all")',
  '(read-keyset "own")',
  '(keyset-ref-guard "free.k")',
  '(free.m.user 1)',
  '(free.m.user 2)',
  '(free.m.user [1 3])',
  '(free.m.user [1 2])',
  '(free.m.held 1)',
  '(free.m.held 2)',
  '(free.m.own)',
];
const MODULE_REFERENCES = ['free.m', 'free.other'];
const LISTS = ['[]', '[1]', '[3 1 2 1]', '[1.5 2.5]', '["b" "a" "b"]', '[[1] [2 3] [1]]', '[true false]'];
const OBJECTS = ['{}', '{"a": 1}', '{"a": 1, "b": "x"}', '{"b": "x", "a": 1}', '{"c": [1 2], "a": {"b": 1.5}}'];
const NUMBERS = [...INTEGERS, ...GREAT, ...DECIMALS];
const ITEMS = [...LISTS, ...OBJECTS, ...GUARDS, ...MODULE_REFERENCES];
const VALUES = [...NUMBERS, ...TEXTS, ...TIMES, ...ITEMS, 'true', '()'];
const SMALL = ['-3', '-1', '0', '1', '2', '3', '5', '40'];
const KEYS = ['"a"', '"b"', '"abc"'];

/** What stands for the arguments of each native. */
const ARGUMENTS: readonly (readonly [native: string, ...pools: readonly (readonly string[])[]])[] = [
  ...['+', '-', '*', '/'].map((name) => [name, NUMBERS, NUMBERS] as const),
  ...['=', '!='].map((name) => [name, VALUES, VALUES] as const),
  ...['=', '!='].map((name) => [name, ITEMS, ITEMS] as const),
  ...GUARDS.map((guard) => ['=', [guard], GUARDS] as const),
  ...OBJECTS.map((object) => ['=', [object], OBJECTS] as const),
  ...[LISTS, DECIMALS, TIMES, MODULE_REFERENCES].map((pool) => ['!=', pool, pool] as const),
  ...['<', '<=', '>', '>='].map((name) => [name, [...INTEGERS, ...GREAT], [...INTEGERS, ...GREAT]] as const),
  ['<', DECIMALS, DECIMALS],
  ['<', TEXTS, TEXTS],
  ['<', TIMES, TIMES],
  ['+', TEXTS, TEXTS],
  ['+', LISTS, LISTS],
  ['+', OBJECTS, OBJECTS],
  ['-', NUMBERS],
  ['abs', NUMBERS],
  ['^', [...INTEGERS, ...DECIMALS], SMALL],
  ['mod', INTEGERS, ['2', '7', '300']],
  ['log', ['2', '7', '10'], NUMBERS],
  ...['ln', 'sqrt'].map((name) => [name, NUMBERS] as const),
  ['exp', [...SMALL, '0.5', '-2.25']],
  ['shift', [...INTEGERS, ...GREAT], SMALL],
  ...['&', '|', 'xor'].map((name) => [name, INTEGERS, INTEGERS] as const),
  ['~', INTEGERS],
  ...['round', 'ceiling', 'floor'].flatMap((name) => [
    [name, DECIMALS] as const,
    [name, DECIMALS, ['2', '5']] as const,
  ]),
  ...['minutes', 'hours', 'days'].map((name) => [name, ['1', '2.5', '300', ten(30)]] as const),
  ['add-time', TIMES, ['1', '2.5', '(days 1)']],
  ['diff-time', TIMES, TIMES],
  ['parse-time', FORMATS, ['"2020-01-01"', '"2020-01-01T00:00:00Z"', '"12"']],
  ['format-time', FORMATS, TIMES],
  ['contains', KEYS, [...OBJECTS, ...TEXTS]],
  ['contains', [...INTEGERS, '"b"', '[1]'], LISTS],
  ['sort', LISTS],
  ['sort', [`[${Array.from({ length: 30 }, (_, i) => 30 - i).join(' ')}]`]],
  ['sort', ['["a"]', '["c" "b"]'], ['[{"a": 1}]']],
  ['distinct', LISTS],
  ['remove', KEYS, OBJECTS],
  ...['take', 'drop'].flatMap((name) => [
    [name, SMALL, [...TEXTS, ...LISTS]] as const,
    [name, ['["a"]', '["a" "b"]', '[]'], OBJECTS] as const,
  ]),
  ['length', [...TEXTS, ...LISTS, ...OBJECTS]],
  ['reverse', LISTS],
  ['concat', ['[]', '["a"]', '["ab" "äö" ""]']],
  ['str-to-list', TEXTS],
  ['enumerate', SMALL, SMALL],
  ['enumerate', SMALL, [...SMALL, '9223372036854775808'], ['-2', '-1', '0', '1', '3', ten(18)]],
  ['make-list', SMALL, VALUES],
  ['at', KEYS, OBJECTS],
  ['at', ['0', '1'], LISTS],
  ['is-charset', ['CHARSET_ASCII', 'CHARSET_LATIN1'], TEXTS],
  ...['base64-encode', 'base64-decode', 'str-to-int', 'is-principal', 'typeof-principal', 'keyset-ref-guard'].map(
    (name) => [name, TEXTS] as const,
  ),
  ['str-to-int', ['2', '10', '16', '64'], TEXTS],
  ['int-to-str', ['1', '2', '10', '16', '17', '64'], [...INTEGERS, ...GREAT]],
  ['show', VALUES],
  ['hash', VALUES],
  ['hash-keccak256', ['[]', '["YWJj"]', '["YWJj" "YQ"]', `["${'YWJj'.repeat(60)}" ""]`]],
  ['typeof', VALUES],
  ['format', TEMPLATES, ['[]', '["ä"]', '[1]', '[1 "b"]', '[[1 2] {"a": 1}]', '[1.5 true "c"]']],
  ['create-principal', GUARDS],
  ['validate-principal', GUARDS, TEXTS],
  ['enforce-guard', GUARDS],
  ['enforce-guard', ['"free.k"', '"none"']],
  ['map', ['(+ 1)', '(= 2)', 'free.m.two', '(lambda (x) x)'], LISTS],
  ['filter', ['(< 1)', '(= 1)', '(lambda (x) true)'], LISTS],
  ['fold', ['(+)', '(-)', 'free.m.two'], SMALL, LISTS],
  ['zip', ['(+)', '(=)'], LISTS, LISTS],
  ['compose', ['(+ 1)', '(= 1)'], ['(- 2)', 'not', '(typeof)'], SMALL],
  ...['and?', 'or?'].map((name) => [name, ['(< 1)'], ['(> 3)'], SMALL] as const),
  ['where', KEYS, ['(= 1)', '(< 1)'], OBJECTS],
  ['if', ['(< 1 2)', 'true', 'false'], SMALL, TEXTS],
  ...['read-integer', 'read-decimal', 'read-string', 'read-msg', 'read-keyset'].map(
    (name) => [name, ['"number"', '"text"', '"one"', '"own"', '"none"']] as const,
  ),
  ['read-msg'],
  ['chain-data'],
  ['free.m.any', VALUES],
  ['free.m.row', KEYS, SMALL, VALUES],
  ['free.m.change', KEYS, SMALL],
  ['free.m.get', KEYS],
  ['free.m.get-or', KEYS, SMALL],
  ['free.m.with', SMALL],
  ['free.m.told', VALUES],
  ['free.m.move', ['"a"', '"b"'], SMALL],
  ['free.m.pact', VALUES],
  ['free.m.typed', ['[1 2]', '[]', '[1 2 3 4]'], ['{"n": 1, "v": "x"}', '{"n": 1, "v": []}']],
  ['define-keyset', ['"free.k2"', '"free.k3"'], GUARDS.slice(0, 3)],
  ['describe-keyset', ['"free.k"']],
  ['describe-module', ['"free.m"']],
  ['namespace', ['"free"', '"none"']],
  ['try', VALUES, ['(enforce false "no")', '(+ 1 2)', '(hash "abc")']],
  ['enforce-one', ['"no"'], ['[(enforce false "a") (+ 1 1)]', '[true]', '[(enforce false "a") (enforce false "b")]']],
  ['let', ['((x:[integer] [1 2]))', '((x 1) (y:object {"a": 1}))', '((x:string "a"))'], ['x', '(typeof x)']],
];

const DATA = `(env-data {"one": ["${KEY}"], "all": {"keys": ["${KEY}" "${'b'.repeat(64)}"], "pred": "keys-any"},
  "own": {"keys": ["${KEY}"], "pred": "free.m.always"}, "number": 12345, "text": "12.5"})
  (env-sigs [{"key": "${KEY}", "caps": []}])`;

const BEFORE = [
  DATA,
  `(define-namespace "free" (read-keyset "one") (read-keyset "one")) (namespace "free")
  (define-keyset "free.k" (read-keyset "one"))
  (interface i (defun f:integer (a:integer)) (defconst N 1))
  (module other G (defcap G () true) (implements i) (defun f:integer (a:integer) a) (bless "${'A'.repeat(43)}"))
  (module m G (use free.other [f]) (defcap G () true)
    (defschema entry n:integer v) (deftable t:{entry})
    (defcap C (n:integer) true) (defcap D () (compose-capability (C 1))) (defcap E (v) @event true)
    (defcap M (to:string n:integer) @managed n left true) (defun left:integer (a:integer b:integer) (- a b))
    (defun always (count matched) true) (defun two (a:integer b:integer) (+ a (f b)))
    (defun yes (v) true) (defun user (v) (create-user-guard (yes v))) (defun held (n:integer) (create-capability-guard (C n)))
    (defun own () (create-module-guard "own")) (defun any (v) v)
    (defun row (k:string n:integer v) (write t k {"n": n, "v": v})) (defun change (k:string n:integer) (update t k {"n": n}))
    (defun get (k:string) (with-read t k {"n" := n, "v" := v} v))
    (defun get-or (k:string n:integer) (with-default-read t k {"n": n} {"n" := m} m))
    (defun with (n:integer) (with-capability (C n) (require-capability (C n)) (with-capability (D) (require-capability (C 1)))))
    (defun told (v) (emit-event (E v)))
    (defun move (to:string n:integer) (install-capability (M to 5)) (with-capability (M to n) n))
    (defpact pact (v) (step (yield {"v": v})) (step-with-rollback (resume {"v" := x} x) 1) (step v))
    (defun typed (a:[integer] b:object{entry}) (length a)))
  (create-table t) (module impl G (defcap G () true))`,
];

/** @returns forms that call each native with drawn arguments */
function drawnCalls(): string[] {
  const random = seededRandom(1);
  const one = drawer(random);
  return ARGUMENTS.flatMap(([native, ...pools]) => {
    const most = pools.reduce((product, { length }) => product * length, 1);
    const calls = Array.from(
      { length: Math.min(CALLS_PER_NATIVE, 2 * most) },
      () => `(${[native, ...pools.map((pool) => one(...pool))].join(' ')})`,
    );
    // One argument of any type, and one too few, because a call is charged before its arguments are checked.
    const wrong = pools.map(
      (_, at) => `(${[native, ...pools.map((pool, i) => one(...(i === at ? VALUES : pool)))].join(' ')})`,
    );
    const few = `(${[native, ...pools.slice(1).map((pool) => one(...pool))].join(' ')})`;
    return [...new Set([...calls, ...wrong, few])];
  });
}

const TYPES = ['', ':integer', ':string', ':[integer]', ':object{s}', ':module{free.i}', ':decimal', ':guard'];
const TERMS = [
  ...['1', '"text"', '1.5', 'true', '[1 2]', '{"a": 1}', 'x', '(x)', 'K', 'free.m.two', '(f1 1)', '()', "'symbol"],
  ...['(+ 1 x)', '(let ((a 1) (b:integer 2)) (+ a b))', '(let* ((a 1)) a)', '(lambda (y:integer) y)', '(if x 1 2)'],
  ...['(bind {"a": 1} {"a" := b} b)', '(with-capability (C1 x) 1)', '(format "{}" [x])', '(cond (x 1) 2)'],
  ...['(and true x)', '(or x false)', '(do 1 2)', '(try 1 2)', '(enforce x "no")', '(enforce-one "no" [x])'],
  ...[
    '(map (f1) [1 2])',
    '(create-user-guard (f1 1))',
    '(free.m.two 1 2)',
    '(at "a" x)',
    '(let ((r:module{free.i} free.other)) (r::f 1))',
  ],
  ...[
    '(with-read t "k" {"n" := n} n)',
    '(read t "k")',
    '(free.m.get "a")',
    '(select t (where "n" (= 1)))',
    '(yield x)',
  ],
];

/** @returns a module, or sometimes an interface, with drawn parts */
function drawnModule(number: number, one: ReturnType<typeof drawer>): string {
  const doc = () => one('', '', '"What it does."', '@doc "What it does."', '@model [(property true)]');
  const args = () => one('x', `x${one(...TYPES)}`, `x${one(...TYPES)} r${one(...TYPES)}`, 'r:module{free.i} x');
  const term = () => one(...TERMS);
  const managed = () => one('', '', '@event', '@managed', '@managed x f1', doc());
  const isInterface = number % 10 === 9;
  const items = Array.from({ length: 7 }, (_, at) => {
    const i = at + 2;
    const member = one('defun', 'defun', 'defconst', 'defcap', 'defpact', 'defschema', 'use', 'bless');
    if (member === 'defconst') return `(defconst K${i} ${one('1', '"a"', '[1 2]', '(+ 1 2)', '{"a": 1}')})`;
    if (member === 'defschema') return `(defschema s${i} ${doc()} a:integer b${one(...TYPES)})`;
    if (member === 'use') return one('(use free.m)', '(use free.other [f])', '(use free.m [two row])');
    const body = isInterface ? '' : `${term()} ${one('', term())}`;
    if (member === 'defcap') return `(defcap C${i} (x${one(...TYPES)}) ${managed()} ${isInterface ? '' : body})`;
    if (isInterface || member === 'defun') return `(defun f${i}${one(...TYPES)} (${args()}) ${doc()} ${body})`;
    if (member === 'bless') return `(bless "${'AE'[i % 2].repeat(43)}")`;
    const steps = one(
      `(step ${term()})`,
      `(step ${term()}) (step "entity" x)`,
      `(step-with-rollback x ${term()}) (step 1)`,
    );
    return `(defpact p${i} (x) ${doc()} ${steps})`;
  });
  if (isInterface)
    return `(interface n${number} ${doc()} (defschema s a:integer) ${items.filter((item) => !/^.(bless|defun f1)/.test(item)).join(' ')})`;
  const governance = one('G', '"free.k"', 'G');
  return `(module n${number} ${governance} ${doc()} (defcap G () true) (defschema s a:integer n:integer)
    (deftable t:{s}) (defun f1 (x) x) (defcap C1 (x) true) (defconst K 1)
    ${one('', '(implements free.i) (defun f:integer (a:integer) a)')} ${items.join(' ')})`;
}

function drawnModules(): string[] {
  const one = drawer(seededRandom(2));
  return Array.from({ length: MODULES }, (_, i) => drawnModule(i, one));
}

/** @returns the inputs in parts with their numbers, so that a failure and a run with faults have little to repeat */
function inParts(inputs: readonly string[]): (readonly [part: number, inputs: readonly string[]])[] {
  const size = Math.ceil(inputs.length / PARTS);
  return Array.from({ length: PARTS }, (_, i) => [i + 1, inputs.slice(i * size, (i + 1) * size)]);
}

/** @returns a session that knows the modules above, and charges by the table model */
function prepared(dialect: Dialect): Session {
  const session = newSession(dialect);
  for (const text of [...BEFORE, '(env-gasmodel "table") (env-gaslimit 1000000000)']) {
    const { error } = session.runText(text);
    if (error) throw new Error(error.message);
  }
  return session;
}

/** @returns what an input costs, and whether it fails */
function chargeIn(session: Session, dialect: Dialect, input: string): Recorded {
  session.runText(`(begin-tx) (namespace "free") ${dialect === 5 ? '(env-set-milligas 0)' : '(env-gas 0)'}`);
  const { error } = session.runText(input);
  const { values } = session.runText(dialect === 5 ? '(env-milligas)' : '(env-gas)');
  session.runText('(rollback-tx)');
  return { input, outcome: `${error?.message ?? 'done'} ${values.at(-1)}` };
}

describe.each(DIALECTS)('in dialect %i', (dialect) => {
  it.each(inParts(drawnCalls()))('calls are charged as recorded, part %i', (part, inputs) => {
    const session = prepared(dialect);
    const outcomes = inputs.map((input) => chargeIn(session, dialect, input));
    expectRecorded(`calls in dialect ${dialect}, part ${part}`, outcomes);
  });

  describe.each([true, false])('on a chain: %s', (isOnChain) => {
    it.each(inParts(drawnModules()))('modules are charged as recorded, part %i', (part, inputs) => {
      const session = prepared(dialect);
      session.runText(`(env-simulate-onchain ${isOnChain})`);
      const outcomes = inputs.map((input) => chargeIn(session, dialect, input));
      expectRecorded(`modules in dialect ${dialect}, on a chain: ${isOnChain}, part ${part}`, outcomes);
    });
  });
});
