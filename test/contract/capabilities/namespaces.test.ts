/** Managers of capabilities, and keysets, modules and guards of namespaces. */

import { checkOutcomes } from '../outcomes.ts';

const KEYS = '(env-data {"k": ["a"], "j": ["b"]}) (env-keys ["a" "b"])';
const MODULE = `(module m G (defcap G () true) (defcap C (x) true) (defcap B (a:bool) @managed a once true)
  (defun once (managed asked) (enforce managed "spent") false) (defun any (managed asked) false)
  (defcap A (a:bool) @managed a any true) (defun b (x) (with-capability (B x) (+ 7 0)))
  (defun a (x) (with-capability (A x) (+ 7 0))) (defun emit-c () (emit-event (C 1)))
  (defcap T (a b c) @managed b sum true) (defun sum (m r) (- m r))
  (defun t (a b c) (with-capability (T a b c) (+ 7 0))))`;
const NAMESPACE = '(define-namespace "n" (read-keyset "k") (read-keyset "j"))';

checkOutcomes(
  [KEYS, MODULE, NAMESPACE],
  [
    ['(m.emit-c)', 'emit-event: must be managed or event defcap', null],
    [['(install-capability (m.B true))', '(m.b true)'], '7'],
    [['(install-capability (m.B true))', '(m.b true)', '(m.b true)'], 'spent'],
    [['(install-capability (m.A true))', '(m.a true)', '(m.a true)', '(m.a false)'], '7'],
    [['(install-capability (m.T 1 5 2))', '(m.t 1 2 2)', '(m.t 1 9 2)'], '7'],
    [['(install-capability (m.T 1 5 2))', '(m.t 1 2 3)'], 'Managed capability not installed: (m.T 1 2 3)'],
    [['(install-capability (m.T 1 5 2))', '(m.t 2 2 2)'], 'Managed capability not installed: (m.T 2 2 2)'],
    [['(namespace "n")', '(define-keyset "n.x" (read-keyset "k"))'], '"Keyset defined"', null],
    [['(namespace "n")', '(define-keyset "n" (read-keyset "k"))'], 'Mismatching keyset namespace', null],
    [['(namespace "n")', '(define-keyset "o.x" (read-keyset "k"))'], 'Mismatching keyset namespace', null],
    [['(namespace "n")', '(define-keyset "x" (read-keyset "k"))'], 'Mismatching keyset namespace', null],
    [['(namespace "n")', '(define-keyset "n.x.y" (read-keyset "k"))'], 'Mismatching keyset namespace', null],
    [
      ['(namespace "n")', '(env-keys ["b"])', '(define-keyset "n.x" (read-keyset "k"))'],
      'Keyset failure (keys-all): [a]',
      null,
    ],
    [
      ['(namespace "n")', '(define-keyset "n.x" (read-keyset "k"))', '(namespace "")', '(enforce-guard "n.x")'],
      'true',
      null,
    ],
    [
      ['(env-exec-config ["RequireKeysetNs"])', '(define-keyset "n.x" (read-keyset "k"))'],
      null,
      'Cannot define keyset outside of a namespace',
    ],
    [
      ['(env-exec-config ["RequireKeysetNs"])', '(namespace "n")', '(define-keyset "n.x" (read-keyset "k"))'],
      null,
      '"Keyset write success"',
    ],
    [
      ['(env-exec-config ["RequireKeysetNs"])', '(namespace "n")', '(define-keyset "n" (read-keyset "k"))'],
      null,
      'Error defining keyset, namespace mismatch, expected n',
    ],
    [
      ['(env-exec-config ["RequireKeysetNs"])', '(namespace "n")', '(define-keyset "o.x" (read-keyset "k"))'],
      null,
      'Error defining keyset, namespace mismatch, expected n',
    ],
    [
      ['(env-exec-config ["RequireKeysetNs"])', '(namespace "n")', '(define-keyset "n.x.y" (read-keyset "k"))'],
      null,
      'Error defining keyset, namespace mismatch, expected n',
    ],
    [
      [
        '(env-exec-config ["RequireKeysetNs"])',
        '(namespace "n")',
        '(env-keys ["b"])',
        '(define-keyset "n.x" (read-keyset "k"))',
      ],
      null,
      'Keyset failure (keys-all): [a...]',
    ],
    [
      ['(namespace "n")', '(env-keys ["b"])', '(define-keyset "n.x" (read-keyset "k"))'],
      null,
      '"Keyset write success"',
    ],
    [
      '(describe-namespace "n")',
      '{"admin-guard": KeySet {keys: [b],pred: keys-all},"namespace-name": "n","user-guard": KeySet {keys: [a],pred: keys-all}}',
    ],
    [
      ['(namespace "n")', '(env-keys ["b"])', '(interface i (defun f ()))'],
      'Keyset failure (keys-all): [a]',
      'Keyset failure (keys-all): [a...]',
    ],
    [['(namespace "n")', '(interface i (defun f ()))', '(typeof n.i)'], '"module{}"'],
    [['(namespace "n")', '(interface i (defun f ()))', '(namespace "")', '(typeof n.i)'], '"module{}"'],
    [['(namespace "n")', '(module p G (defcap G () true) (defun f () 3))', '(namespace "")', '(n.p.f)'], '3'],
    [
      ['(begin-tx)', '(namespace "n")', '(module p G (defcap G () true) (defun f () 3))', '(commit-tx)', '(p.f)'],
      'Cannot resolve p.f',
      'Unbound variable p.f',
    ],
    [
      [
        '(begin-tx)',
        '(namespace "n")',
        '(module p G (defcap G () true) (defun f () 3))',
        '(commit-tx)',
        '(namespace "n")',
        '(p.f)',
      ],
      '3',
    ],
    [['(namespace "n")', '(module p G (defcap G () true) (defun f () (m.sum 3 1)))', '(n.p.f)'], '2'],
    [['(env-keys ["b"])', '(define-namespace "n" (read-keyset "j") (read-keyset "j"))'], '"Namespace defined: n"'],
    [
      ['(env-keys ["a"])', '(define-namespace "n" (read-keyset "j") (read-keyset "j"))'],
      'Keyset failure (keys-all): [b]',
      'Keyset failure (keys-all): [b...]',
    ],
    [
      '(define-namespace "" (read-keyset "j") (read-keyset "j"))',
      'invalid namespace name format: ',
      'native execution failure, define-namespace failed with message: invalid namespace format',
    ],
    ['(define-namespace "a%-b" (read-keyset "j") (read-keyset "j"))', '"Namespace defined: a%-b"'],
    [
      '(define-namespace "1a" (read-keyset "j") (read-keyset "j"))',
      'invalid namespace name format: 1a',
      'native execution failure, define-namespace failed with message: invalid namespace format',
    ],
    ['(create-principal (read-keyset "k"))', '"w:iSiq5jyE2H6gmFZNHgOtgT8Qet1HTlau3ShjScDAPqQ:keys-all"'],
    ['(validate-principal (read-keyset "k") (create-principal (read-keyset "k")))', 'true'],
    ['(validate-principal (read-keyset "k") "k:a")', 'false'],
    ['(validate-principal (read-keyset "j") (create-principal (read-keyset "k")))', 'false'],
    ['(is-principal (create-principal (read-keyset "k")))', 'true'],
    ['(is-principal "k:a")', 'false'],
    ['(is-principal "x")', 'false'],
    ['(typeof-principal (create-principal (read-keyset "k")))', '"w:"'],
    ['(typeof-principal "x")', '""'],
  ],
);
