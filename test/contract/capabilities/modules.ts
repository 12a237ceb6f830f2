/** A module with capabilities and guards of each kind, and the data of keysets for it. */

const DATA = `(env-data {
  "k": ["alice" "bob"], "any": {"keys": ["alice" "bob"], "pred": "keys-any"},
  "two": {"keys": ["alice" "bob" "eve"], "pred": "keys-2"}, "own": {"keys": ["alice"], "pred": "m.pred"},
  "bad": {"keys": ["alice"], "pred": "m.five"}, "none": {"keys": ["alice"], "pred": "m.nothing"},
  "short": {"keys": ["alice"], "pred": "nothing"}, "native": {"keys": ["alice"], "pred": "="},
  "long": ["12345678" "1234567" "123456789"]})`;
const MODULE = `(module m G (defcap G () true) (defun pred (count matched) (= matched 1)) (defun five (count matched) 5)
  (defcap C (x) true) (defcap D (x) (compose-capability (C x)) (compose-capability (C x)))
  (defcap E (x) @event true) (defcap MAN (a b) @managed b mgr true) (defcap ONE (a) @managed true)
  (defcap NOARG (a) @managed z mgr true) (defcap NOFUN (a) @managed a G true)
  (defun mgr (m r) (enforce (<= r m) "too much") (- m r))
  (defun in-c (x) (with-capability (C x) (require-capability (C x))))
  (defun in-d (x) (with-capability (D x) (require-capability (C x))))
  (defun after () (with-capability (C 1) 1) (require-capability (C 1)))
  (defun twice () (with-capability (C 1) (with-capability (C 1) 1) (require-capability (C 1))))
  (defun man (a b) (with-capability (MAN a b) "yes")) (defun one (a) (with-capability (ONE a) "yes"))
  (defun noarg () (with-capability (NOARG 1) 1)) (defun nofun () (with-capability (NOFUN 1) 1))
  (defcap W () (with-capability (C 1) 1)) (defun w () (with-capability (W) 1))
  (defcap I () (install-capability (ONE 1))) (defun i () (with-capability (I) 1))
  (defun composes () (compose-capability (C 1))) (defcap COMP () (composes))
  (defun comp () (with-capability (COMP) 1)) (defun need () (require-capability (C 1))) (defun other () (need))
  (defun with-other () (with-capability (C 1) (need))) (defun emit-c () (emit-event (C 1)))
  (defun emit-e (x) (emit-event (E x))) (defun emit-n () (emit-event (n.N)))
  (defun acq-n () (with-capability (n.N) 1)) (defun guard () (create-module-guard "g"))
  (defun ug (g) (enforce-guard g))  (defun cg (x) (create-capability-guard (C x)))
  (defun with-c (x g) (with-capability (C x) (enforce-guard g))) (defun v () (enforce-verifier "v"))
  (defcap V () (enforce-verifier "v")) (defun in-v () (with-capability (V) "yes"))
  (defun try-c () (try 0 (require-capability (C 1)))) (defcap FAIL () (enforce false "no"))
  (defun fails () (try 1 (with-capability (FAIL) 2))))`;
const OTHER = '(module n G (defcap G () true) (defcap N () true))';

export const CAPABILITIES: readonly string[] = [DATA, OTHER, MODULE];
