/** Programs with a token that was dropped, repeated or exchanged at random: what they print, or say, and where. */

import { describe, it } from 'vitest';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { type Recorded, recordIn } from '../../recorded.ts';
import { newSession } from '../dialogue.ts';

const CHANGES = 150;

const BEFORE = `
  (env-data { "k": ["a"] }) (env-keys ["a"])
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

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

describe.each([4, 5] as const)('in dialect %i, variants have the recorded outcome of', (dialect) => {
  it.each(Object.entries(PROGRAMS))('%s', (name, program) => {
    const outcomes = variantsOf(program).map((input): Recorded => {
      const session = newSession(dialect);
      session.runText(BEFORE);
      const { values, error } = session.runText(input);
      return { input, outcome: JSON.stringify({ values, error }) };
    });
    expectRecorded(`${dialect} ${name}`, outcomes);
  });
});
