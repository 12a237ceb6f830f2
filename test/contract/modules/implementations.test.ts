/** Modules that implement interfaces, or differ from them in one part. */

import { hashOf5 } from '../hashes.ts';
import { checkOutcomes, inModule, type OutcomeRow } from '../outcomes.ts';
import { BEFORE } from './before.ts';

/** Replaces `REST` by what the interface `j` has besides `g2`. */
const withRest = (rows: readonly OutcomeRow[]) =>
  rows.map(([inputs, ...outcomes]): OutcomeRow => {
    const rest = '(defun h (a:module{i}) 1) (defcap C (x) @managed true) (defcap E () @event true)';
    return [[inputs].flat().map((code) => code.replace('REST', rest)), ...outcomes];
  });

/** What dialect 5 says of each difference. @param what the name of the definition */
const differs = (what: string, from = 'j') =>
  `Module u does not correctly implement the function ${what} from Interface ${from}`;
const differsInMeta = (name: string, from?: string) => differs(`: defcap mismatch for ${name}`, from);

checkOutcomes(
  BEFORE,
  inModule(
    withRest([
      [
        ['(interface l (defun f (a:list)))', '(U (implements l) (defun f (a:integer) 1))'],
        'Argument type mismatch for a with l: found integer, expected [<a>]',
        differs('f', 'l'),
      ],
      [['(interface l (defun f (a:list)))', '(U (implements l) (defun f (a:list) 1))', '(u.f [])'], '1'],
      [
        ['(interface l (defcap L:bool () @event))', '(U (implements l) (defcap L:string (a) 1 a))'],
        'Return type mismatch with l: found string, expected bool',
        differsInMeta('L', 'l'),
      ],
      [
        '(use i "DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g")',
        'Interfaces should not have associated hashes: i',
        `Import error for module i, hash not blessed: ${hashOf5(BEFORE[0])}`,
      ],
      [`(use i "${hashOf5(BEFORE[0])}")`, null, '"Using i"'],
      [
        '(module i G (defcap G () true))',
        'Name overlap: module i overlaps with interface  i',
        'Expected module, found interface: i',
      ],
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
      ['(interface k (defcap C (x) @managed x none))', '"Loaded interface k"', 'Module k has no such member: none'],
      [
        '(interface k (defcap C (x) @managed x N) (defconst N 1))',
        '"Loaded interface k"',
        'Module k has no such member: N',
      ],
      ['(U (implements none))', 'Interface not defined: none', 'Cannot find module:  none'],
      [
        '(U (implements m))',
        'Unexpected: module found in interface position while solving constraints',
        'Invalid Interface attempted to be used as module reference: m',
      ],
      [
        '(U (implements i))',
        'found unimplemented member while resolving model constraints: g',
        'Interface member not implemented, module u does not implement interface i member: g',
      ],
      ['(U (implements i) (defun g (a) 1))', 'Arity mismatch with i: found 1, expected 0', differs('g', 'i')],
      [
        '(U (implements i) (defcap g () true))',
        'Def type mismatch with i: found defcap, expected defun',
        differs('g', 'i'),
      ],
      ['(U (implements i) (defconst g 1))', 'found overlapping refs - please resolve: g', differs('g', 'i')],
      [
        '(U (implements i) (defun g:integer () 1))',
        'Return type mismatch with i: found integer, expected <a>',
        differs('g', 'i'),
      ],
      [['(U (implements i) (defconst X 1) (defun g () X))', '[(u.g) i.X]'], null, '[1 i]'],
      ['(U (implements i) (defconst X 1) (defun g () 1))', 'found overlapping refs - please resolve: X', null],
      [
        [
          '(interface l (defschema s a:integer))',
          '(U (implements l) (defschema s a:bool) (defconst Y:object{s} {"a": true}))',
          'u.Y',
        ],
        null,
        '{"a": true}',
      ],
      [['(U (implements j) (defun g2:integer (a:[integer]) 1) REST)', '(typeof u)'], '"module{j}"'],
      [
        '(U (implements j) (defun g2:integer (a:[string]) 1) REST)',
        'Argument type mismatch for a with j: found [string], expected [integer]',
        differs('g2'),
      ],
      [
        '(U (implements j) (defun g2:integer (a:integer) 1) REST)',
        'Argument type mismatch for a with j: found integer, expected [integer]',
        differs('g2'),
      ],
      [
        '(U (implements j) (defun g2:integer (a:list) 1) REST)',
        'Argument type mismatch for a with j: found [<a>], expected [integer]',
        differs('g2'),
      ],
      [
        '(U (implements j) (defun g2:integer (b:[integer]) 1) REST)',
        'Argument name mismatch with j: found b, expected a',
        differs('g2'),
      ],
      [
        '(U (implements j) (defun g2:string (a:[integer]) 1) REST)',
        'Return type mismatch with j: found string, expected integer',
        differs('g2'),
      ],
      [
        '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a:module{j}) 1) (defcap C (x) @managed true) (defcap E () @event true))',
        'Argument type mismatch for a with j: found module{j}, expected module{i}',
        differs('h'),
      ],
      [
        '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a) 1) (defcap C (x) @managed true) (defcap E () @event true))',
        'Argument type mismatch for a with j: found <a>, expected module{i}',
        differs('h'),
      ],
      [
        '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a:module{i}) 1) (defcap C (x) true) (defcap E () @event true))',
        'Defmeta mismatch with j: found , expected @managed',
        differsInMeta('C'),
      ],
      [
        '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a:module{i}) 1) (defcap C (x) @event true) (defcap E () @event true))',
        'Defmeta mismatch with j: found @event, expected @managed',
        differsInMeta('C'),
      ],
      [
        '(U (implements j) (defun g2:integer (a:[integer]) 1) (defun h (a:module{i}) 1) (defcap C (x) @managed true) (defcap E () true))',
        'Defmeta mismatch with j: found , expected @event',
        differsInMeta('E'),
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
        differsInMeta('C', 'k'),
      ],
      [
        [
          '(interface k (defcap C (x) @managed x mgr) (defun mgr (a b)))',
          '(U (implements k) (defcap C (x y) @managed x u.mgr true) (defun mgr (a b) 1))',
        ],
        null,
        differs('C', 'k'),
      ],
    ]),
  ),
);
