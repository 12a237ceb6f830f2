/** Interfaces, and a module that implements one of them. */

export const BEFORE: readonly string[] = [
  '(interface i (defconst X i) (defun g ()))',
  '(interface j (defun g2:integer (a:[integer])) (defun h (a:module{i})) (defcap C (x) @managed) (defcap E () @event))',
  '(module m G (defcap G () true) (defun f () 1) (defun h () 2) (defconst K 3) (defcap C () true) ' +
    '(defschema s a:integer) (deftable t:{s}) (implements i) (defun g () 1))',
];
