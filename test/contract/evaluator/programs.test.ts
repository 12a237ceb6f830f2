/** Programs with a token that was dropped, repeated or exchanged at random: what they give or say, and their gas. */

import { describe, it } from 'vitest';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { type Recorded, recordIn } from '../../recorded.ts';
import { newSession } from '../dialogue.ts';

const CHANGES = 120;

const BEFORE = `
  (env-gasmodel "table") (env-gaslimit 1000000) (env-data { "k": ["a"] }) (env-keys ["a"])
  (interface i (defun f:integer (a:integer)) (defconst C 1) (defcap E:bool (x:string) @event))
  (module lib G (defcap G () true) (defun g (a) (* a 2)) (defschema s a:integer b:string) (defconst D {"x": 1}))`;

/** Programs with every kind of form. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'a module that implements an interface': `
    (module m G @doc "A module." @model [(property true)] (implements i) (use lib) (use lib [g])
      (defcap G:bool () @doc "Governs." (enforce true "no"))
      (defcap E:bool (x:string) @event true)
      (defcap PAY:bool (from:string amount:decimal) @managed amount remaining true)
      (defun remaining:decimal (managed:decimal wanted:decimal) (- managed wanted))
      (defun f:integer (a:integer) @doc "Doubles." (g a)))
    (m.f 3) (install-capability (m.PAY "a" 1.0)) (m.f "a") (with-capability (m.G) 1)`,
  'a module with a table': `
    (module m G (defcap G () true)
      (defschema other when:time who:guard o:object{lib.s} any)
      (defschema row "A row." n:integer all:[integer])
      (deftable t:{row} "A table.")
      (defun add (key:string n:integer) (insert t key { "n": n, "all": [1 2] }))
      (defun see:integer (key) (with-read t key { "n" := n, "all" := all } (+ n (at 0 all))))
      (defun see-all () (select t ["n"] (where "n" (< 1)))))
    (create-table m.t) (m.add "x" 2) (m.see "x") (m.see-all) (read m.t "x" ["n"])`,
  'a defpact': `
    (module m G (defcap G () true)
      (defpact pay:string (a:integer b:integer)
        (step (let ((sum:integer (+ a b))) (yield { "sum": sum })))
        (step-with-rollback (resume { "sum" := sum } (+ sum 1)) (format "back {}" [a]))
        (step "done")))
    (env-hash (hash "x")) (m.pay 1 2) (continue-pact 1) (pact-state) (continue-pact 2)`,
  expressions: `
    (let* ((a 1) (b:integer (+ a 2)) (l [a, b, 3])) (map (lambda (x:integer) (* x b)) l))
    (bind { "a": 1, 'b: [2 3] } { "a" := a, 'b := b } (cond ((= a 1) "one") ((> a 1) "more") "less"))
    (fold (+) 0 [1 2 3]) (try false (enforce (< 1 0) "no")) (and true (or false (not true)))
    (format "{} and {}" [1.50 { "x": true }]) (let ((less (lambda (x y) (- x y)))) (less 5 2)) (at 'a { "a": 'b })
    (if (= "a\\n" "a\\"") -1 -1.5) ; a comment
    (sort ['a] [{ "a": 2 } { "a": 1 }]) (enumerate 1 9 3) (lib.g 4) (at "x" lib.D)`,
  'an interface and imports': `
    (interface j "A sign." (use lib "fjMG88i-TWNn5SYNIaMm6yeD1HikjqzZ9WfrXZYO7YI") (defschema s a:integer) (defconst C:integer 5 "Five.")
      (defun f:string (a:integer b:[string]) @doc "F." @model [])
      (defpact p:bool (a:time)) (defcap CAP:bool (a:guard)) )
    (module m G (defcap G () true) (bless "fjMG88i-TWNn5SYNIaMm6yeD1HikjqzZ9WfrXZYO7YI") (implements j)
      (defun f:string (a:integer b:[string]) (+ "x" "")) (defpact p:bool (a:time) (step true)) (defcap CAP:bool (a:guard) true))
    (use m) (f 1 ["a"]) (use lib [g D]) (g 1) j.C (m.f 1 [])`,
  'keysets and namespaces': `
    (env-data { "k": ["a"], "l": { "keys": ["a" "b"], "pred": "keys-any" }, "w": { "keys": ["b"], "pred": "w.m.p" } })
    (define-namespace "w" (read-keyset "k") (read-keyset 'l)) (describe-namespace "w") (namespace "w")
    (define-keyset "w.k" (read-keyset "l")) (enforce-keyset "w.k") (describe-keyset "w.k")
    (module m "w.k" (defun p:bool (count matched) (> matched 0)) (defun see () (enforce-keyset "w.k")))
    (m.see) (w.m.see) (enforce-guard (read-keyset 'l)) (env-keys ["b"]) (enforce-guard (read-keyset "w"))
    (define-keyset "w.k" (read-keyset "k")) (namespace "") (typeof (keyset-ref-guard "w.k"))
    (list-modules) (enforce-one "none" [(enforce-keyset "w.k") (enforce false "no")])`,
  'guards that are stored': `
    (module m G (defcap G () true) (defcap C (x:integer) true) (defschema row g:guard) (deftable t:{row})
      (defun yes (a) (enforce (= a 1) "not one")) (defun put (key g:guard) (write t key { "g": g }))
      (defun check (key) (with-read t key { "g" := g } (enforce-guard g)))
      (defun within (key) (with-capability (C 1) (check key)))
      (defun own (name) (create-module-guard name)) (defun of-cap () (create-capability-guard (C 1))))
    (create-table m.t) (m.put "a" (read-keyset "k")) (m.check "a") (m.put "b" (create-user-guard (m.yes 1)))
    (m.check "b") (m.put "c" (m.own "g")) (m.check "c") (m.put "d" (m.of-cap)) (m.within "d")
    (map (lambda (key) (create-principal (at 'g (read m.t key)))) ["a" "b" "c" "d"])
    (validate-principal (m.of-cap) (create-principal (m.of-cap))) (typeof-principal "c:x") (is-principal "k:a")
    (= (m.own "g") (at "g" (read m.t "c"))) (m.check "d")`,
  'a module that is upgraded': `
    (module m G (defcap G () (enforce-keyset (read-keyset "k"))) (defconst V 1) (defschema s a:integer) (deftable t:{s})
      (defun v () V))
    (create-table m.t) (insert m.t "x" { "a": 1 }) (at 'hash (describe-module "m"))
    (module n G (defcap G () true) (use m) (defun see () (v)) (defun all () (keys m.t)))
    (n.see) (module m G (defcap G () true) (bless "ChcWcJha9DlRBIjkolpw1s-NqGRkETREPON_uA9B0pU") (defconst V 2) (defschema s a:integer b:string)
      (deftable t:{s}) (defun v () (+ V 10)))
    (n.see) (m.v) (read m.t "x") (update m.t "x" { "b": "y" }) (read m.t "x") (env-keys [])
    (module m G (defcap G () true) (defun v () 0)) (describe-table m.t) (n.all)`,
  capabilities: `
    (module m G (defcap G () true)
      (defcap PAY:bool (to:string amount:decimal) @managed amount left (enforce-keyset (read-keyset "k")))
      (defun left:decimal (have:decimal want:decimal) (enforce (>= have want) "too much") (- have want))
      (defcap ONCE (n:integer) @managed true) (defcap OUT (n) (compose-capability (IN n))) (defcap IN (n) true)
      (defcap TOLD (a:string) @event true)
      (defun pay (to amount) (with-capability (PAY to amount) (emit-event (TOLD to)) (+ 1 1)))
      (defun once () (with-capability (ONCE 1) true)) (defun in () (require-capability (IN 3)) "in")
      (defun out () (with-capability (OUT 3) (in))))
    (env-sigs [{ "key": "a", "caps": [(m.PAY "x" 5.0) (m.ONCE 1)] }]) (m.pay "x" 2.0) (m.pay "x" 3.0) (m.once) (m.out) (env-events true) (test-capability (m.IN 3)) (m.in)
    (install-capability (m.PAY "y" 1.0)) (m.pay "y" 1.0) (m.once)`,
  'defpacts within others': `
    (module m G (defcap G () true)
      (defpact inner (a) (step (yield { "a": a })) (step (resume { "a" := b } (* b 2))))
      (defpact outer (a) (step (inner a)) (step (continue (inner a)))))
    (module c G (defcap G () true)
      (defpact send (to:string) (step (yield { "to": to, "n": 1.0 } to)) (step (resume { "n" := n } n))))
    (env-hash (hash "p")) (m.outer 4) (continue-pact 1) (pact-state) (begin-tx) (env-hash (hash "q"))
    (env-chain-data { "chain-id": "0", "block-height": 7 }) (c.send "1") (continue-pact 1)
    (env-chain-data { "chain-id": "1" }) (continue-pact 1 false (hash "q")) (at 'chain-id (chain-data)) (pact-id)`,
  'queries of a table': `
    (module m G (defcap G () true) (defschema s n:integer who:string) (deftable t:{s})
      (defun put (key n who) (insert t key { "n": n, "who": who }))
      (defun rows () (select t ['who] (and? (where 'n (< 1)) (where 'who (!= "z")))))
      (defun sum () (fold (+) 0 (map (at 'n) (select t (constantly true)))))
      (defun of (key) (with-default-read t key { "n": -1 } { "n" := x } x))
      (defun each () (fold-db t (lambda (k r) (!= k "b")) (lambda (k r) [k (at "n" r)]))))
    (create-table m.t) (m.put "a" 1 "x") (m.put "b" 2 "y") (m.put "c" 3 "z") (m.rows) (m.sum) (m.of "a") (m.of "q")
    (m.each) (keys m.t) (update m.t "a" { "n": 9 }) (m.sum) (begin-tx) (m.put "d" 1 "w") (rollback-tx) (m.of "d")
    (m.put "a" 1 "x") (txlog m.t 0)`,
};

/** @returns the tokens of a program, each with the white space and the comments before it */
const tokensOf = (program: string): string[] =>
  program.match(/(\s|;.*\n)*("(\\.|[^"])*"|'[\w-]+|[()[\]{},]|:=|:|[^\s()[\]{},":]+)/g) ?? [];

/** @returns variants of a program, which are the same in each run */
function variantsOf(program: string): string[] {
  const random = seededRandom(program.length);
  const tokens = tokensOf(program);
  const place = () => Math.floor(random() * tokens.length);
  const changes = [
    (at: number) => tokens.toSpliced(at, 1),
    (at: number) => tokens.toSpliced(at, 0, tokens[at]),
    (at: number) => tokens.toSpliced(at, 1, tokens[place()]),
    (at: number) => tokens.toSpliced(at, 2, tokens[at + 1] ?? '', tokens[at]),
    (at: number) => tokens.slice(0, at),
  ];
  const variants = Array.from({ length: CHANGES }, () =>
    changes[Math.floor(random() * changes.length)](place()).join(''),
  );
  return [...new Set([program, ...variants])];
}

const expectRecorded = recordIn(new URL('programs.json', import.meta.url));

describe.each([4, 5] as const)('in dialect %i, variants have the recorded outcome of', (dialect) => {
  it.each(Object.entries(PROGRAMS))('%s', (name, program) => {
    const outcomes = variantsOf(program).map((input): Recorded => {
      const session = newSession(dialect);
      session.runText(BEFORE);
      const { values, error } = session.runText(input);
      return { input, outcome: JSON.stringify({ values, error, gas: session.runText('(env-gas)').values }) };
    });
    expectRecorded(`${dialect} ${name}`, outcomes);
  });
});
