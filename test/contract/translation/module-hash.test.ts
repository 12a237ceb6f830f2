import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hashText } from '#pickaxe/contract/values/hash.js';
import { hashOf5 as hashOf } from '../hashes.ts';

const DATA = (number: number) => `(env-data {'k: ${number}})`;
const M = (result: number) => `(module m m-gov (defcap m-gov () true) (defconst fconst:integer (read-integer "k"))
  (defun mdfn () ${result}) (defpact mdpact () (step 1)) (defschema sc a:integer) (deftable mdtbl:{sc}))`;
const N =
  '(module n gg (use m) (defcap gg () true) (defconst nfconst:integer (read-integer "k")) (defun nf () (mdfn)))';
const CROSS = (name: string, code: { before?: string; resumed?: string } = {}) => `(module ${name} GOV
  (defcap GOV () true)
  (defschema schema-a a-result:string)
  (defpact cross-chain (name)
    (step (let ((nameA (+ name "->A")) (r:object{schema-a} {"a-result": nameA}))
      ${code.before ?? ''} (yield r "") nameA))
    (step (resume {"a-result" := ar} ${code.resumed ?? ''} (+ ar "->B")))))`;

/** Modules of the tests of the language's sources, with the hashes that these state. */
describe('in dialect 5, the hash of a module is that of the sources:', () => {
  it.each<[inputs: readonly string[], hash: string]>([
    [['(module m G (defcap G () true) (defun f () true))'], '52-WL_as7YnpYIZWKOvvxFUCpC7F5Hxe2xm7S7TOHEc'],
    [
      ['(module m g (defcap g () true) (defun f:integer (a:integer b:integer c:string) (do a b)))'],
      'nv2apbz7RTDv53cf46_3VX1msHQzBgTEqfxumYRGdf8',
    ],
    [[DATA(1), M(1)], 'qKuZPdSFkGubaGD232KSyayEbUg1e9R47eiDqrpoghs'],
    [[DATA(2), M(1)], 'auoL6ISoyHwxhzTs5dwvCZUZLP1r53ijK-3zVbJh50I'],
    [[DATA(2), M(2)], 'D0WKIRJUOzdT2S0dKD6WAY5VgWVSCDJMl_4pKTt_ZSM'],
    [[DATA(2), M(3)], 'xx7zLkXzFusqgJwxPWLqqiqhqJGdIdyUQ3I6crkCblY'],
    [[DATA(2), M(2), N], '9qHMWe0If_hD55bZpThFQV1pM1Z6dlMU3s605r9CFJE'],
    [[DATA(2), M(3), N], 'JN9dKCIoSGJEGDe6iZIWP_g7xm0XeaAqlZl9Se7iGJY'],
    [[CROSS('cross-chain-tester')], 'kuBrddl82uCHbhV1ECaH7fMf00Pq9lc2mPShU4Us_Jg'],
    [
      [
        CROSS('nested-tester'),
        CROSS('cross-chain-tester', {
          before: '(nested-tester.cross-chain name)',
          resumed: '(continue (nested-tester.cross-chain name))',
        }),
      ],
      'J7Ua1U7GmzmmoMpEz3mASyG5aYEPGT6zZAkDZn7bl9I',
    ],
  ])('%j', (inputs, hash) => {
    expect(hashOf(...inputs)).toBe(hash);
  });

  /** Each generation 5 network of developers begins with these interfaces, whose hashes its first block states. */
  it.each([
    ['fungible-v2', 'YxE-KgC6JmKmCcgKTJmlEn_I58I4EXmhfrvzX7berYk'],
    ['fungible-xchain-v1', 'h89ic3ghz23Rjk0pHNKtFOwrvSs7mbmuqloVXOhl2GI'],
    ['gas-payer-v1', 'iIWAP1oen_kpXjFbnQM87AJRZIgtsfZcAwYrEy21RWQ'],
  ])('%s', (name, hash) => {
    const file = new URL(`../../../src/mock-node/contracts/${name}.pact`, import.meta.url);
    expect(hashOf(readFileSync(file, 'utf8'))).toBe(hash);
  });
});

const G = '(defcap G () true)';
const module = (items: string) => `(module m G ${G} ${items})`;
const F = (body: string) =>
  module(`(defschema s y:integer x:string) (deftable t:{s}) (defun f (a b) ${body}) (defun h (a b) 1)`);

describe('in dialect 5, the hash of a module is the same', () => {
  it.each<[string, string, string]>([
    [
      'with comments, blanks and documentation',
      `(module m G "doc" ${G} ; end\n (defun f () @doc "f" 1))`,
      module('(defun f () 1)'),
    ],
    ['with a definition elsewhere', module('(defun b () 1) (defun a () 2)'), module('(defun a () 2) (defun b () 1)')],
    ['with `let` or `let*`', F('(let ((c a)) c)'), F('(let* ((c a)) c)')],
    ['with two variables of one `let`', F('(let ((c a) (d b)) d)'), F('(let ((c a)) (let ((d b)) d))')],
    ['with nested branches', F('(cond (a 1) (b 2) 3)'), F('(cond (a 1) (if b 2 3))')],
    ['with a nested body', F('a b 1'), F('(do a b 1)')],
    ['with a longer name', F('(h a b)'), F('(m.h a b)')],
    [
      'with a longer name of a manager',
      '(interface i (defcap C (x) @managed x g) (defun g (a b)) (defcap D (x) @managed x a) (defun a (a b)))',
      '(interface i (defcap C (x) @managed x i.g) (defun g (a b)) (defcap D (x) @managed x i.a) (defun a (a b)))',
    ],
    ['with other names of fields first', module('(defschema s a b:integer)'), module('(defschema s b:integer a)')],
    ['with a number by its name', F('CHARSET_LATIN1'), F('1')],
    ['with the value of a constant', module('(defconst C (+ 1 2))'), module('(defconst C 3)')],
    ['with the type `keyset`', module('(defun f (a:keyset) a)'), module('(defun f (a:guard) a)')],
  ])('%s', (_, one, other) => {
    expect(hashOf(one)).toBe(hashOf(other));
  });
});

const USED = '(module u G (defcap G () true) (defconst K 1) (defun k () 1))';
const INTERFACES = '(interface i (defun f ())) (interface j (defun f ()))';
const signed = (items: string) => `(interface i ${items})`;

/** What all hashes of a group are, as one hash: what they were when those above and that of the coin were right. */
const RECORDED: Readonly<Record<string, string>> = {
  bodies: 'km9zXBA6wVaTDwns6wvCCn54nNUo0RqLczp7zb5wCJI',
  integers: 'YI82WS1dVGZktoIXe1lGn8Y-MeNjyeUwCPSet3o8MHs',
  'order of items': '9_kfpUQmq8lRdtJLVfjnJWy9U_13s153evGnCJaKnVU',
  calls: 'lNcoOcwxtwHJ_W6TwhYWXCoLVm45Q8wl4ndvnGpq4JI',
  'natives with second forms': 'MTgALiYRTJCr-ftPgcmKcDR22Q2ROfvSUX7HLkaSbxs',
  forms: 'cMiD4rguvD6PIrowGgxZlZmfb7x9KljHwTxp34zzTxs',
  variables: 'S24RSV0dBn4MBfPAUudo_U6R6TLu0Q8AtrYg-4uujeQ',
  types: 'q9VSqwGP4ep3dcDm-onh6-CNvTQRMJhhMkXe9HHpkls',
  definitions: 'r7hw1Yq2kVSu5TNeJMpcjkEh-hXyKy0tBCfnDtG79qM',
  constants: '8z8fr2k-z0eo0U0E9soqD2Jzr7Mx1MK9qsQaBdRAHEU',
  'what they use': 'SKBqTVCB7VuJSYPNO2VnujKQcuUMb0Z5BezuorKdoyE',
  governance: 'kHKLJ6H18OKvgqNcdzG-PscSN7TIM0qlOv51DJHm0AY',
  signatures: 'qCY2oIYkRca3EONX_R2dAE5yb2WpxfmprrTOUcsx7zM',
};

/** Pieces of code that differ little. Each has a hash of its own. */
describe('in dialect 5, modules have different hashes that differ in', () => {
  it.each<[string, readonly string[], (readonly string[])?]>([
    ['bodies', ['1', '2', '1.0', '1.00', '"1"', 'true', 'false', '()', 'a', 'b', '[1]', '[]', '{"x": 1}', '{}'].map(F)],
    ['integers', ['23', '24', '255', '256', '-1', '-24', '-25', '18446744073709551615', '18446744073709551616'].map(F)],
    ['order of items', ['[1 2]', '[2 1]', '{"x": 1, "y": 2}', '{"y": 2, "x": 1}', '(do 1 2)', '(do 2 1)'].map(F)],
    ['calls', ['(h a b)', '(h b a)', '(a::h a b)', '(a b)', '((lambda (x y) 1) a b)', '(+ a b)', '(- a b)'].map(F)],
    [
      'natives with second forms',
      [
        ...['(- a)', '(round a)', '(round a b)', '(floor a)', '(floor a b)', '(ceiling a)'],
        ...['(ceiling a b)', '(enumerate a b)', '(enumerate a b 1)', '(sort a)', '(sort a b)', '(str-to-int a)'],
        ...['(str-to-int a b)', '(read-msg)', '(read-msg a)', '(define-keyset a)', '(define-keyset a b)', '(yield a)'],
        ...['(yield a b)', '(read t a)', '(read t a b)', '(select t a)', '(select t a b)', '(hash-poseidon 1 2)'],
        ...['(hash-poseidon [1 2])', '(poseidon-hash-hack-a-chain 1 2)'],
      ].map(F),
    ],
    [
      'forms',
      [
        ...['(if a 1 2)', '(and a b)', '(or a b)', '(enforce a "x")', '(enforce-one "x" [a])', '(try a b)'],
        ...[
          '(with-capability (G) a)',
          '(create-user-guard (h a b))',
          '(cond (a 1) 2)',
          '(fold (and) a b)',
          '(fold (or) a b)',
        ],
        ...[
          '(error a)',
          '(pure a)',
          '(map (h a) b)',
          '(map (lambda (x) (h a x)) b)',
          '(filter (h a) b)',
          '(constantly a b)',
        ],
      ].map(F),
    ],
    [
      'variables',
      [
        ...['(let ((c a)) c)', '(let ((c:integer a)) c)', '(let ((d a)) d)', '(let ((c b)) c)', '(let ((c a)) a)'],
        ...['(lambda (c) c)', '(lambda (c) a)', '(lambda () a)', '(lambda (c d) c)', '(lambda (c d) d)'],
        ...['(bind a {"x" := x} x)', '(bind a {"x" := x, "y" := y} x)'],
        ...['(bind a {"y" := y, "x" := x} x)', '(bind a {"x" := y, "y" := x} x)', '(bind a {"x" := x:string} x)'],
        ...['(a::f)', '(b::f)', '(a::g)'],
      ].map(F),
    ],
    [
      'types',
      [
        ...[
          'a',
          'a:integer',
          'a:decimal',
          'a:bool',
          'a:string',
          'a:guard',
          'a:time',
          'a:unit',
          'a:list',
          'a:[integer]',
        ],
        ...['a:object', 'a:object{s}', 'a:object{r}', 'a:table{s}', 'a:module{i}', 'a:module{j}', 'a:module{i,j}'],
      ].map((each) => module(`(defschema s x) (defschema r x:integer) (defun f (${each}) 1)`)),
      [INTERFACES],
    ],
    [
      'definitions',
      [
        ...['(defun c () 1)', '(defun d () 1)', '(defcap c () 1)', '(defconst c 1)'],
        ...['(defun c:integer () 1)', '(defcap c () @event 1)', '(defcap c () @managed 1)', '(defschema c)'],
        ...[
          '(defschema c x)',
          '(defschema c x:integer)',
          '(defschema s x) (deftable c:{s})',
          '(defpact c () (step 1))',
        ],
        ...[
          '(defpact c () (step 1) (step 2))',
          '(defpact c () (step-with-rollback 1 2) (step 2))',
          '(defconst c:integer 1)',
        ],
        '(defcap c (a) @managed a e 1) (defun e (x y) x)',
        '(defcap c (a b) @managed b e 1) (defun e (x y) x)',
      ].map(module),
    ],
    [
      'constants',
      [
        ...['1', '2', '1.0', '"1"', 'true', '()', '[1]', '[]', '{"a": 1}', '{}', '(time "2026-01-01T00:00:00Z")'],
        ...['(read-keyset "k")', '(keyset-ref-guard "k")', '(keyset-ref-guard "n.k")', '(create-user-guard (f 1))'],
        ...['(create-user-guard (f 2))', '(create-capability-guard (G))', 'm', 'i.X'],
        ...['(read-keyset "k2")', '(read-keyset "any")', '(read-keyset "own")', '(read-keyset "of-module")'],
      ].map((each) => module(`(defun f (x) true) (defconst C ${each})`)),
      [
        `(env-data {"k": ["a"], "k2": ["a", "b"], "any": {"keys": ["a"], "pred": "keys-any"},
          "own": {"keys": ["a"], "pred": "p"}, "of-module": {"keys": ["a"], "pred": "u.p"}})`,
        '(interface i (defconst X [1 2]))',
        '(env-keys ["a"]) (define-namespace "n" (read-keyset "k") (read-keyset "k"))',
        '(namespace "n") (define-keyset "n.k" (read-keyset "k")) (namespace "")',
        '(define-keyset "k" (read-keyset "k"))',
      ],
    ],
    [
      'what they use',
      [
        '(defun f () 1)',
        ...['(use u)', '(use u [k])', '(use u [K])', '(use u [k K])'].map((each) => `${each} (defun f () 1)`),
        ...['(bless "DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g")', '(implements i)', '(implements j)'].map(
          (each) => `${each} (defun f () 1)`,
        ),
        ...['(implements i) (implements j)', '(implements j) (implements i)'].map((each) => `${each} (defun f () 1)`),
        ...['u.k', 'u.K', 'u', 'm'].map((each) => `(defun f () ${each})`),
      ].map(module),
      [USED, INTERFACES],
    ],
    [
      'governance',
      [
        module('(defun f () 1)'),
        `(module m "k" ${G} (defun f () 1))`,
        `(module m F ${G} (defcap F () true) (defun f () 1))`,
      ],
      ['(env-data {"k": ["a"]}) (env-keys ["a"]) (define-keyset "k" (read-keyset "k"))'],
    ],
    [
      'signatures',
      [
        ...[
          '(defun f ())',
          '(defun f (a))',
          '(defun f:integer ())',
          '(defpact f ())',
          '(defcap f ())',
          '(defconst f 1)',
        ],
        ...[
          '(defcap f () @event)',
          '(defcap f () @managed)',
          '(defschema f)',
          '(defun e (x y)) (defcap f (a) @managed a e)',
        ],
        '(defun e (x y)) (defcap f (b a) @managed a e)',
        '(use u) (defun f ())',
      ].map(signed),
      [USED],
    ],
  ])('%s', (what, modules, before = []) => {
    const hashes = modules.map((each) => hashOf(...before, each));
    const same = hashes.flatMap((hash, at) => {
      const first = hashes.indexOf(hash);
      return first < at ? [[modules[first], modules[at]]] : [];
    });
    expect(same).toEqual([]);
    expect(hashText(hashes.join(' '))).toBe(RECORDED[what]);
  });
});
