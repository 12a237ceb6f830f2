/** Modules that implement interfaces, or differ from them in one part. */

import { checkOutcomes, inModule, type OutcomeRow } from '../outcomes.ts';
import { BEFORE } from './before.ts';

/** Replaces `REST` by what the interface `j` has besides `g2`. */
const withRest = (rows: readonly OutcomeRow[]) =>
  rows.map(([inputs, ...outcomes]): OutcomeRow => {
    const rest = '(defun h (a:module{i}) 1) (defcap C (x) @managed true) (defcap E () @event true)';
    return [[inputs].flat().map((code) => code.replace('REST', rest)), ...outcomes];
  });

checkOutcomes(
  BEFORE,
  inModule(
    withRest([
      [
        ['(interface l (defun f (a:list)))', '(U (implements l) (defun f (a:integer) 1))'],
        'Argument type mismatch for a with l: found integer, expected [<a>]',
      ],
      [['(interface l (defun f (a:list)))', '(U (implements l) (defun f (a:list) 1))', '(u.f [])'], '1'],
      ['(use i "DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g")', 'Interfaces should not have associated hashes: i'],
      ['(module i G (defcap G () true))', 'Name overlap: module i overlaps with interface  i'],
      [
        '(interface i (defun x ()))',
        'Existing interface found (interfaces cannot be upgraded)',
        'Interface cannot be upgraded: i',
      ],
      [
        '(interface m (defun x ()))',
        'Existing interface found (interfaces cannot be upgraded)',
        'Interface cannot be upgraded: m',
      ],
      ['(U (implements none))', 'Interface not defined: none'],
      ['(U (implements m))', 'Unexpected: module found in interface position while solving constraints'],
      ['(U (implements i))', 'found unimplemented member while resolving model constraints: g'],
      ['(U (implements i) (defun g (a) 1))', 'Arity mismatch with i: found 1, expected 0'],
      ['(U (implements i) (defcap g () true))', 'Def type mismatch with i: found defcap, expected defun'],
      ['(U (implements i) (defconst g 1))', 'found overlapping refs - please resolve: g'],
      ['(U (implements i) (defun g:integer () 1))', 'Return type mismatch with i: found integer, expected <a>'],
      ['(U (implements i) (defconst X 1) (defun g () 1))', 'found overlapping refs - please resolve: X'],
      [['(U (implements j) (defun g2:integer (a:[integer]) 1) REST)', '(typeof u)'], '"module{j}"'],
      [
        '(U (implements j) (defun g2:integer (a:[string]) 1) REST)',
        'Argument type mismatch for a with j: found [string], expected [integer]',
      ],
      [
        '(U (implements j) (defun g2:integer (a:integer) 1) REST)',
        'Argument type mismatch for a with j: found integer, expected [integer]',
      ],
      [
        '(U (implements j) (defun g2:integer (a:list) 1) REST)',
        'Argument type mismatch for a with j: found [<a>], expected [integer]',
      ],
      [
        '(U (implements j) (defun g2:integer (b:[integer]) 1) REST)',
        'Argument name mismatch with j: found b, expected a',
      ],
      [
        '(U (implements j) (defun g2:string (a:[integer]) 1) REST)',
        'Return type mismatch with j: found string, expected integer',
      ],
      [
        '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a:module{j}) 1) (defcap C (x) @managed true) (defcap E () @event true))',
        'Argument type mismatch for a with j: found module{j}, expected module{i}',
      ],
      [
        '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a) 1) (defcap C (x) @managed true) (defcap E () @event true))',
        'Argument type mismatch for a with j: found <a>, expected module{i}',
      ],
      [
        '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a:module{i}) 1) (defcap C (x) true) (defcap E () @event true))',
        'Defmeta mismatch with j: found , expected @managed',
      ],
      [
        '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a:module{i}) 1) (defcap C (x) @event true) (defcap E () @event true))',
        'Defmeta mismatch with j: found @event, expected @managed',
      ],
      [
        '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a:module{i}) 1) (defcap C (x) @managed true) (defcap E () true))',
        'Defmeta mismatch with j: found , expected @event',
      ],
      [
        [
          '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a:module{i}) 1) (defcap C (x) @managed x mgr true) (defun mgr (a b) 1) (defcap E () @event true))',
          '(typeof u)',
        ],
        '"module{j}"',
      ],
      [
        [
          '(interface k (defcap C (x) @managed x mgr) (defun mgr (a b)))',
          '(U (implements k) (defcap C (x) @managed true) (defun mgr (a b) 1))',
        ],
        'Defmeta mismatch with k: found @managed, expected @managed x mgr',
      ],
    ]),
  ),
);
