/** Modules that are loaded, names that they use and that others import from them, and what is refused. */

import { describe, expect, it } from 'vitest';
import { hashText } from '#pickaxe/contract/values/hash.js';
import { lastOf } from '../dialogue.ts';
import { hashOf5 } from '../hashes.ts';
import { checkOutcomes, inModule } from '../outcomes.ts';
import { BEFORE } from './before.ts';

const HASH5 = hashOf5(...BEFORE);

checkOutcomes(
  BEFORE,
  inModule([
    ['(use m [])', 'empty imports are only allowed if a module hash is referenced'],
    [`(use m "${hashText(BEFORE[2])}" [])`, '"Using m"'],
    [`(use m "${HASH5}" [])`, null, '"Using m"'],
    [['(namespace "")', `(U (use m "${HASH5}") (defun y () (h)))`, '(u.y)'], null, '2'],
    ['(use m [f])', '"Using m"'],
    ['(use m [f K s])', '"Using m"'],
    [
      '(use m [z f nothing])',
      'imported name not found: z',
      'Invalid imports, module or interface m does not implement the following members: [nothing, z]',
    ],
    [
      '(use i [X g])',
      '"Using i"',
      'Invalid imports, module or interface i does not implement the following members: [g]',
    ],
    ['(use m [C])', 'cannot import capabilities: C', '"Using m"'],
    ['(use m [t])', 'invalid import - only function, schema, and constant symbols allowed: t', '"Using m"'],
    ['(use none)', 'Module none not found', 'Cannot find module:  none'],
    ['(use m "DldRwCblQ7")', null, 'Invalid blessed hash, incorrect format: DldRwCblQ7'],
    ['(U (bless "DldRwCblQ7"))', null, 'Invalid blessed hash, incorrect format: DldRwCblQ7'],
    ['(use i)', '"Using i"'],
    [
      '(use m "DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g")',
      `Module m does not match specified hash: DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g, ${hashText(BEFORE[2])}`,
      `Import error for module m, hash not blessed: ${HASH5}`,
    ],
    [['(begin-tx)', '(commit-tx)', '(use m [f])', '(f)'], '1'],
    [['(begin-tx)', '(commit-tx)', '(use m [f])', '(h)'], 'Cannot resolve h', 'Unbound variable h'],
    [['(begin-tx)', '(commit-tx)', '(use m)', '(h)'], '2'],
    [['(begin-tx)', '(commit-tx)', '(use i)', '(g)'], 'Cannot resolve g', 'Unbound variable g'],
    [['(begin-tx)', '(commit-tx)', '(use i)', 'X'], 'i'],
    [['(U (use m [f]) (defun y () (f)))', '(u.y)'], '1'],
    [['(begin-tx)', '(commit-tx)', '(U (use m [f]) (defun y () (h)))'], 'Cannot resolve "h"', 'Unbound variable h'],
    [['(begin-tx)', '(commit-tx)', '(U (defun y () (h)))'], 'Cannot resolve "h"', 'Unbound variable h'],
    [['(module m G (defcap G () true))', '(m.f)'], 'Cannot resolve m.f', 'Unbound variable m.f'],
    [
      '(module u NONE (defcap G () true))',
      'Unknown module governance reference',
      'Invalid governance. Must be a 0-argument defcap or a keyset. Found u.NONE',
    ],
    [
      '(module u G (defcap G (a) true))',
      `"Loaded module u, hash ${hashText('(module u G (defcap G (a) true))')}"`,
      'Invalid governance. Must be a 0-argument defcap or a keyset. Found u.G',
    ],
    [
      '(module u f (defun f () true))',
      'Invalid module governance, must be defcap',
      'Invalid governance. Must be a 0-argument defcap or a keyset. Found u.f',
    ],
    ['(module u "none" (defun f () true))', "No such keyset: 'none", "Cannot find keyset in database: 'none"],
    ['(U (defun f () 1) (defun f () 2))', 'definition name conflict: f', 'Duplicate definition: u.f'],
    [
      '(U (defun map () 1))',
      'definitions cannot overlap with native names: map',
      'Variable map shadows native with the same name',
    ],
    ['(U (defun f () nothing))', 'Cannot resolve "nothing"', 'Unbound variable nothing'],
    [
      '(U (defun a () (b)) (defun b () (a)))',
      'Recursion detected: [u.a, u.b]',
      'Recursive cycle detected in Module u in the following functions: [a, b]',
    ],
    [
      '(U (defun a () (a)))',
      'Recursion detected: [u.a]',
      'Recursive cycle detected in Module u in the following functions: [a]',
    ],
    [['(U (defconst A B) (defconst B C) (defconst C 7))', 'u.A'], '7'],
    [
      '(U (defconst A:string 1))',
      'Type error: expected string, found integer',
      'Runtime typecheck failure, argument is integer , but expected type string',
    ],
    ['(U (defconst A (enforce false "no")))', 'no'],
    [['(U (defconst ME u))', 'u.ME'], 'u'],
    [['(U (defun y () u.x) (defconst x 5))', '(u.y)'], '5'],
    [
      [
        '(define-namespace "n" (sig-keyset) (sig-keyset))',
        '(namespace "n")',
        '(U (defun y () n.u.x) (defun z () u.x) (defconst x 5) (defconst ME u) (defconst FULL n.u))',
        '[(n.u.y) (u.z) u.ME n.u.FULL]',
      ],
      '[5 5 n.u n.u]',
    ],
    ['(namespace "none")', "namespace: 'none' not defined", 'Namespace not found: none'],
    [['(U (defun f () (bind { "a": 1 } { "a" := b } b)))', '(u.f)'], '1'],
    [['(U (defun f () (let* ((a 1) (b a)) b)))', '(u.f)'], '1'],
    [['(U (defun f () (map (lambda (a) a) [1])))', '(u.f)'], '[1]'],
    [['(U (defun f (r:module{i}) (r::g)))', '(u.f m)'], '1'],
    ['(U (defun f (a) (none.g a)))', 'Cannot resolve "none.g"', 'Unbound variable none.g'],
    [['(U (defun f () (m.g)))', '(u.f)'], '1'],
  ]),
);

/** Definitions, each with one name that nothing has. */
const UNKNOWN = [
  '(defconst A:{none} 1)',
  '(defconst A none)',
  '(defschema s2 a:{none})',
  '(deftable t2:{none})',
  '(defun f (a:object{none}) 1)',
  '(defun f (a:[object{none}]) 1)',
  '(defun f (a:module{none}) 1)',
  '(defun f:object{none} () 1)',
  '(defcap C (a) @managed a none true)',
  '(defpact p () (step none))',
  '(defpact p () (step-with-rollback 1 none) (step 1))',
  '(defun f () [1 none])',
  '(defun f () { "a": none })',
  '(defun f () (+ 1 none))',
  '(defun f () (none 1))',
  '(defun f () (bind { "a": 1 } { "a" := b } none))',
  '(defun f () (bind { "a": 1 } { "a" := b:{none} } b))',
  '(defun f () (let ((a none)) a))',
  '(defun f () (let ((a:{none} 1)) a))',
  '(defun f () (let ((a 1)) none))',
  '(defun f () (map (lambda (a) none) [1]))',
  '(defun f () (map (lambda (a:{none}) a) [1]))',
  '(defun f () (cond (none 1) 2))',
  '(defun f () (cond (true none) 2))',
  '(defun f () (cond (true 1) none))',
  '(defun f () (with-capability (none) 1))',
  '(defun f () (with-capability (G) none))',
  '(defun f () (none::g))',
];

describe('a name that nothing has is refused', () => {
  it.each(UNKNOWN)('%s', (definition) => {
    const module = `(module u G (defcap G () true) ${definition})`;
    expect(lastOf(4, [...BEFORE, module])).toBe('Cannot resolve "none"');
    expect(lastOf(5, [...BEFORE, module])).toBe('Unbound variable none');
  });
});
