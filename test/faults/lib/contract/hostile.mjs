// Short contract code that takes much time or memory, for contract-fuzz.mjs.

const MODULE = `(begin-tx)(env-exec-config [])(module m G (defcap G () true)
  (defschema s a:integer) (defschema o x:object) (deftable t:{s}) (deftable u:{o})
  (defcap C (x) true) (defcap D (x) (compose-capability (C x)))
  (defcap L (l) (map (lambda (x) (compose-capability (C x))) l))
  (defcap M (x:integer) @managed x f (compose-capability (C x))) (defcap E (x) @event true) (defcap O (x) @managed true)
  (defun f (a b) (- a b)) (defun e (x) (emit-event (E x))) (defun w (k) (write t k {"a":1}))
  (defun once (x) (with-capability (C x) x)) (defun nest (x) (with-capability (D x) (require-capability (C x)) x))
  (defun listed (l) (with-capability (L l) 1)) (defun announced (x) (install-capability (M x)))
  (defun managed (x) (install-capability (O x)) (with-capability (O x) x))
  (defun truth (x) true) (defun guarded (x) (enforce-guard (create-user-guard (truth x))))
  (defpact p (x) (step (yield {"x":x})) (step (resume {"x":=x} x)))
  (defpact q (x) (step (p x)) (step (continue (p x))))
  (defpact r (x) (step (map (lambda (y) (p [x y])) x)))
  (defun g1 (x) (enforce-guard x)) (defun g2 (x) (create-user-guard (g1 x))))(create-table t)(create-table u)`;

/** By name: @param n how much the code asks for @returns the inputs of a session */
export const HOSTILE = {
  'doubling list': (n) => [`(fold (lambda (x y) (+ x x)) [1] (enumerate 1 ${n}))`],
  'doubling text': (n) => [`(fold (lambda (x y) (+ x x)) "é" (enumerate 1 ${n}))`],
  'shared lists': (n) => [`(length (hash (fold (lambda (x y) [x x]) [1] (enumerate 1 ${Math.min(n, 450)}))))`],
  'compared lists': (n) => [
    `(let ((a (fold (lambda (x y) [x x]) [1] (enumerate 1 ${Math.min(n, 100)}))) (b (fold (lambda (x y) [x x]) [1] (enumerate 1 ${Math.min(n, 100)})))) (= a b))`,
  ],
  'deep list': (n) => [`(fold (lambda (x y) [x]) 1 (enumerate 1 ${n}))`],
  'deep object': (n) => [`(fold (lambda (x y) {"a":x}) 1 (enumerate 1 ${n}))`],
  'deep function': (n) => [`(fold (lambda (x y) (lambda (z) x)) 1 (enumerate 1 ${n}))`],
  'chained functions': (n) => [`((fold (lambda (f y) (lambda (z) (f z))) (lambda (z) z) (enumerate 1 ${n})) 1)`],
  'nested maps': (n) => [
    `(map (lambda (x) (map (lambda (y) (map (lambda (z) z) (enumerate 1 ${n}))) (enumerate 1 ${n}))) (enumerate 1 ${n}))`,
  ],
  'nested folds': (n) => [
    `(fold (lambda (a x) (fold (lambda (b y) (+ b y)) a (enumerate 1 ${n}))) 0 (enumerate 1 ${n}))`,
  ],
  'large integers': (n) => [`(map (lambda (x) (+ x (^ 2 65000))) (enumerate 1 ${n}))`],
  'kept integers': (n) => [`(let ((b (^ 2 65000))) (length (map (lambda (x) (+ x b)) (enumerate 1 ${n}))))`],
  powers: (n) => [`(map (lambda (x) (length (int-to-str 10 (^ 7 (+ x 20000))))) (enumerate 1 ${n}))`],
  'decimal quotients': (n) => [
    `(fold (lambda (a x) (/ (+ a (/ 1.0 3.0)) 7.123)) ${'9'.repeat(9000)}.1 (enumerate 1 ${n}))`,
  ],
  'decimal products': (n) => [`(fold (lambda (a x) (* (* a 0.1) 10.01)) ${'9'.repeat(9000)}.123 (enumerate 1 ${n}))`],
  'sorted texts': (n) => [
    `(sort (map (lambda (x) (concat [(concat (make-list 1000 "a")) (int-to-str 10 x)])) (enumerate ${n} 1)))`,
  ],
  'distinct lists': (n) => [`(distinct (map (lambda (x) [[x] [x]]) (enumerate 1 ${n})))`],
  'distinct decimals': (n) => [`(distinct (map (lambda (x) (* 1.0 x)) (enumerate 1 ${n})))`],
  'long format': (n) => [`(format (concat (make-list ${n} "{}")) (make-list ${n} (make-list 100 "ab")))`],
  'long names': (n) => [`(let ((${'a'.repeat(n)} 1)) ${'a'.repeat(n)})`],
  'let of many': (n) => [
    `(let* (${Array.from({ length: n }, (_, at) => `(v${at} ${at ? `v${at - 1}` : 1})`).join(' ')}) v${n - 1})`,
  ],
  'looked-up variables': (n) => [
    `(let* ((z 1) ${Array.from({ length: 1000 }, (_, at) => `(v${at} 1)`).join(' ')}) (fold (lambda (a x) (+ a z)) 0 (enumerate 1 ${n})))`,
  ],
  'many definitions': (n) => [
    `(module d G (defcap G () true) ${Array.from({ length: n }, (_, at) => `(defun f${at} () ${at ? `(f${at - 1})` : 1})`).join('')})`,
    `(d.f${n - 1})`,
  ],
  'many needs': (n) => [
    `(module d G (defcap G () true) (defconst z 1) ${Array.from({ length: n }, (_, at) => `(defconst c${at} z)`).join('')})`,
  ],
  'recursive definitions': (n) => [
    `(module d G (defcap G () true) ${Array.from({ length: n }, (_, at) => `(defun f${at} () (f${(at + 1) % n}))`).join('')})`,
  ],
  'many modules': (n) => [
    Array.from(
      { length: Math.min(n, 300) },
      (_, at) => `(module d${at} G (defcap G () true) (defun f () ${at ? `(d${at - 1}.f)` : 1}))`,
    ).join(''),
    `(d${Math.min(n, 300) - 1}.f)`,
  ],
  'large object literal': (n) => [`{${Array.from({ length: n }, (_, at) => `"k${at}":${at}`).join(',')}}`],
  'growing object': (n) => [
    `(fold (lambda (o x) (+ o {(int-to-str 10 x):x})) {} (enumerate 1 ${n}))`,
    `(fold (lambda (o x) (+ {"a":x} o)) {${Array.from({ length: Math.min(n, 20_000) }, (_, at) => `"k${at}":1`).join(',')}} (enumerate 1 ${n}))`,
  ],
  'removed fields': (n) => [
    `(let ((o {${Array.from({ length: 5000 }, (_, at) => `"k${at}":1`).join(',')}})) (map (lambda (x) (length (remove "a" o))) (enumerate 1 ${n})))`,
  ],
  'long symbols': (n) => [`[${"'a ".repeat(n)}]`],
  'many comments': (n) => [`${';\n'.repeat(n)}1`],
  'many forms': (n) => [`${'1 '.repeat(n)}`],
  'open brackets': (n) => ['('.repeat(n), '['.repeat(n), `${'(not '.repeat(n)}true${')'.repeat(n)}`],
  'deep conditions': (n) => [
    `${'(if true '.repeat(Math.min(n, 190))}1${' 2)'.repeat(Math.min(n, 190))}`,
    `(cond ${'(false 1) '.repeat(n)} 2)`,
  ],
  'long docs': (n) => [`(module d G @doc "${'x'.repeat(n)}" (defcap G () true))`],
  'composed capabilities': (n) => [MODULE, `(m.listed (enumerate 1 ${n}))`],
  'capabilities in a loop': (n) => [MODULE, `(map (m.nest) (enumerate 1 ${n}))`, `(map (m.once) (enumerate 1 ${n}))`],
  'acquired capabilities': (n) => [MODULE, `(map (lambda (x) (test-capability (m.C x))) (enumerate 1 ${n}))`],
  'announced capabilities': (n) => [MODULE, `(map (m.announced) (enumerate 1 ${n}))`],
  'managed capabilities': (n) => [MODULE, `(map (m.managed) (enumerate 1 ${n}))`],
  'large capability': (n) => [MODULE, `(map (lambda (x) (m.once (make-list 1000 x))) (enumerate 1 ${n}))`],
  'user guards': (n) => [
    MODULE,
    `(map (m.guarded) (enumerate 1 ${n}))`,
    `(enforce-guard (fold (lambda (g x) (m.g2 g)) (m.g2 1) (enumerate 1 ${n})))`,
  ],
  'event flood': (n) => [MODULE, `(map (m.e) (enumerate 1 ${n}))`, '(env-events true)'],
  'large events': (n) => [
    MODULE,
    `(let ((l (make-list 1000 1))) (map (lambda (x) (m.e l)) (enumerate 1 ${n})))`,
    '(env-events true)',
  ],
  'table flood': (n) => [
    MODULE,
    `(map (lambda (x) (m.w (int-to-str 10 x))) (enumerate 1 ${n}))`,
    '(keys m.t)',
    '(select m.t (where "a" (= 1)))',
    '(fold-db m.t (lambda (k o) true) (lambda (k o) k))',
  ],
  'keys in a loop': (n) => [
    MODULE,
    '(map (lambda (x) (m.w (int-to-str 10 x))) (enumerate 1 5000))',
    `(map (lambda (x) (length (keys m.t))) (enumerate 1 ${n}))`,
    `(map (lambda (x) (txlog m.t 0)) (enumerate 1 ${n}))`,
  ],
  'many transactions': (n) => [
    MODULE,
    '(commit-tx)',
    `${'(begin-tx)(m.w "a")(commit-tx)'.repeat(Math.min(n, 300))}(keylog m.t "a" 0)(txids m.t 0)`,
  ],
  'flow of a large argument': (n) => [MODULE, `(m.q (enumerate 1 ${n}))`],
  'nested flows': (n) => [MODULE, `(m.r (enumerate 1 ${n}))`],
  'flows in a loop': (n) => [MODULE, `(map (lambda (x) (try 1 (m.p x))) (enumerate 1 ${n}))`],
  'try in a loop': (n) => [
    `(map (lambda (x) (try x (enforce false "a"))) (enumerate 1 ${n}))`,
    `(map (lambda (x) (try x (at 5 []))) (enumerate 1 ${n}))`,
  ],
  'failing far inside': (n) => [
    MODULE,
    `(let ((l (make-list ${n} "abc"))) (map (lambda (x) (try 1 (enforce (m.f l x) "a"))) (enumerate 1 ${n})))`,
  ],
  'enforce-one': (n) => [`(enforce-one "a" [${'(enforce false "b") '.repeat(n)} true])`],
  'gas log': (n) => [
    '(env-gasmodel "table")(env-gaslimit 1000000000)(env-gaslog)',
    `(fold (lambda (a x) (+ a x)) 0 (enumerate 1 ${n}))`,
    '(env-gaslog)',
  ],
  'expectations in a loop': (n) => [`(map (lambda (x) (expect "a" x (+ x 1))) (enumerate 1 ${n}))`],
  'printed values': (n) => [
    `(map (lambda (x) (print (make-list 1000 "a"))) (enumerate 1 ${n}))`,
    `(let ((l (make-list 1000 (make-list 900 "ab")))) (map (lambda (x) (print l)) (enumerate 1 ${n})))`,
  ],
  'loaded files': () => ['(load "self.repl")', '(load "self.pact")', '(load "coin.repl")'],
  'loads in a loop': (n) => [`(map (lambda (x) (load "fungible-v2.pact")) (enumerate 1 ${Math.min(n, 50)}))`],
  'imports in a loop': (n) => [MODULE, `${'(use m) '.repeat(Math.min(n, 20_000))}`],
  'cyclic modules': (n) => [
    ...Array.from(
      { length: 3 },
      (_, at) => `(module c${at} G (defcap G () true) (defun f (x) (c${(at + 1) % 3}.f x)))`,
    ),
    '(interface i (defun f (x r:module{i})))',
    '(module a G (defcap G () true) (implements i) (defun f (x r:module{i}) (r::f x r)))',
    '(module b G (defcap G () true) (implements i) (defun f (x r:module{i}) (a.f x r)))',
    '(a.f 1 b)(b.f 1 a)',
    `(map (lambda (x) (try 1 (a.f x b))) (enumerate 1 ${n}))`,
  ],
  'upgraded module': (n) => [`${'(module d G (defcap G () true) (defun f () 1))'.repeat(Math.min(n, 300))}`],
  'big keysets': (n) => [
    `(env-data {"k":{"keys":(make-list ${Math.min(n, 20_000)} "${'a'.repeat(64)}"),"pred":"keys-all"}})`,
    `(map (lambda (x) (create-principal (read-keyset "k"))) (enumerate 1 ${n}))`,
  ],
  'many signatures': (n) => [
    `(env-sigs [${'{"key":"a","caps":[]} '.repeat(Math.min(n, 10_000))}])(env-data {"k":["a" "b"]})`,
    `(map (lambda (x) (try 1 (enforce-keyset (read-keyset "k")))) (enumerate 1 ${n}))`,
  ],
  'time formats': (n) => [
    `(map (lambda (x) (format-time (time "2016-07-22T12:00:00Z") "${'%A %v %Z'.repeat(100)}")) (enumerate 1 ${n}))`,
  ],
  'parsed times': (n) => [
    `(map (lambda (x) (try x (parse-time "${'%A '.repeat(50)}" "${'Monday '.repeat(50)}"))) (enumerate 1 ${n}))`,
  ],
  'searched texts': (n) => [
    `(let ((a (concat (make-list 100000 "ab"))) (b (concat [(concat (make-list 50000 "ab")) "c"]))) (map (lambda (x) (contains b a)) (enumerate 1 ${n})))`,
  ],
  hashes: (n) => [`(let ((l (make-list 100000 1))) (map (lambda (x) (hash l)) (enumerate 1 ${n})))`],
  'types of lists': (n) => [
    '(module d G (defcap G () true) (defun f (x:[[integer]]) 1))',
    `(let ((l (make-list 300 (make-list 300 1)))) (map (lambda (x) (d.f l)) (enumerate 1 ${n})))`,
  ],
  'large bindings': (n) => [`(bind {"a":1} {${'"a":=x,'.repeat(n)}"a":=x} x)`],
  'natives as values': (n) => [`(fold (lambda (f x) (lambda (y) (map f [y]))) (lambda (y) y) (enumerate 1 ${n}))`],
  'partial calls': (n) => [`${'(map '.repeat(Math.min(n, 150))}(+ 1)${' [1])'.repeat(Math.min(n, 150))}`],
  namespaces: (n) => [
    `(env-data {"k":["a"]})(env-keys ["a"])`,
    `(map (lambda (x) (define-namespace (format "n{}" [x]) (read-keyset "k") (read-keyset "k"))) (enumerate 1 ${n}))`,
  ],
  'read messages': (n) => [
    `(env-data {"l":(enumerate 1 ${Math.min(n, 100_000)})})`,
    `(map (lambda (x) (length (read-msg "l"))) (enumerate 1 ${n}))`,
  ],
  'described modules': (n) => [MODULE, `(map (lambda (x) (describe-module "m")) (enumerate 1 ${n}))`],
  base64: (n) => [
    `(let ((t (concat (make-list 100000 "é")))) (map (lambda (x) (base64-decode (base64-encode t))) (enumerate 1 ${n})))`,
  ],
  keccak: (n) => [`(let ((t (make-list 1000 "AAAA"))) (map (lambda (x) (hash-keccak256 t)) (enumerate 1 ${n})))`],
  'wrong arguments': (n) => [
    `(let ((l (make-list 100000 "ab"))) (map (lambda (x) (try 1 (+ l {"a":l}))) (enumerate 1 ${n})))`,
    `(let ((l (make-list 100000 "ab"))) (map (lambda (x) (try 1 (enforce l "a"))) (enumerate 1 ${n})))`,
  ],
};

/** @param draw makes the random choices @returns the inputs of a session */
export function hostileTexts(draw) {
  // Few programs ask for much, because those take long.
  const n = Math.ceil(10 ** (4.6 * draw.random() ** 1.5));
  const texts = draw.of(Object.values(HOSTILE))(n);
  return draw.random() < 0.25 ? texts.map((text) => (text.length < 5000 ? draw.mutated(text, 0.5) : text)) : texts;
}
