/** What installing an interface prints, and which modules implement it. */

import { describe, expect, it } from 'vitest';
import { dialogue, lastOf } from '../dialogue.ts';

it('an installed interface is named, in dialect 5 with its hash', () => {
  const code = '(interface i (defun f ()))';
  expect(dialogue(4).say(code)).toBe('"Loaded interface i"');
  const { say } = dialogue(5);
  const printed = say(code);
  expect(printed).toMatch(/^"Loaded interface i, hash [\w-]{43}"$/);
  expect(printed).toContain(JSON.parse(say('(at "hash" (describe-module "i"))')));
});

const OTHERS = `(interface k (defconst K:integer 1)) (interface l (defconst L:integer 1))
  (module o G (defcap G:bool () true) (defschema s x:integer))`;

/** Installs a module that implements an interface. Both have these definitions. */
const install = (wanted: string, found: string) =>
  lastOf(4, [OTHERS, `(interface i ${wanted})`, `(module m G (defcap G:bool () true) (implements i) ${found})`]);

describe('a module implements an interface', () => {
  it.each([
    ['(defun f:integer (a:string b))', '(defun f:integer (a:string b) 1)'],
    ['(defun f ())', '(defun f () 1)'],
    ['(defun f:[integer] (a:[[string]]))', '(defun f:[integer] (a:[[string]]) [1])'],
    ['(defpact p:integer ())', '(defpact p:integer () (step 1))'],
    ['(defcap C:bool ())', '(defcap C:bool () true)'],
    ['(defcap C:bool () @event)', '(defcap C:bool () @event true)'],
    ['(defcap C:bool (a:integer) @managed)', '(defcap C:bool (a:integer) @managed true)'],
    [
      '(defcap C:bool (a:integer) @managed)',
      '(defun mgr:integer (a:integer b:integer) 1) (defcap C:bool (a:integer) @managed a mgr true)',
    ],
    ['(defschema s x:integer) (defun f:object{s} ())', '(defun f:object{i.s} () { "x": 1 })'],
    ['(defconst ONE:integer 1)', ''],
    ['(defschema s x:integer)', ''],
    ['(defun f:integer (a:module{k,l}))', '(defun f:integer (a:module{l,k}) 1)'],
    ['(defun f:integer (a:object))', '(defun f:integer (a:object) 1)'],
  ])('%s with %s', (wanted, found) => {
    expect(install(wanted, found)).toMatch(/^"Loaded module m, hash /);
  });
});

describe('a module is refused', () => {
  const mismatch = (what: string, found: string, expected: string) =>
    `${what} mismatch with i: found ${found}, expected ${expected}`;

  it.each([
    ['(defun f ())', '', 'found unimplemented member while resolving model constraints: f'],
    ['(defconst X:integer 1)', '(defconst X:integer 1)', 'found overlapping refs - please resolve: X'],
    ['(defconst X:integer 1)', '(defun X:integer () 1)', 'found overlapping refs - please resolve: X'],
    ['(defschema s x:integer)', '(defschema s x:integer)', 'found overlapping refs - please resolve: s'],
    ['(defun f:integer ())', '(defconst f:integer 1)', 'found overlapping refs - please resolve: f'],
    ['(defun f:bool ())', '(defcap f:bool () true)', mismatch('Def type', 'defcap', 'defun')],
    ['(defun f:integer ())', '(defun f:string () "a" "b")', mismatch('Return type', 'string', 'integer')],
    ['(defun f:integer ())', '(defun f () 1)', mismatch('Return type', '<a>', 'integer')],
    ['(defun f ())', '(defun f:integer () 1)', mismatch('Return type', 'integer', '<a>')],
    ['(defun f:[integer] ())', '(defun f:[string] () [])', mismatch('Return type', '[string]', '[integer]')],
    ['(defun f:[integer] ())', '(defun f:integer () 1)', mismatch('Return type', 'integer', '[integer]')],
    ['(defun f (a))', '(defun f () 1)', mismatch('Arity', '0', '1')],
    ['(defun f (a))', '(defun f (b) 1)', mismatch('Argument name', 'b', 'a')],
    [
      '(defun f (a b:bool))',
      '(defun f (a b) 1)',
      mismatch('Argument type', '<a>', 'bool').replace(' with', ' for b with'),
    ],
    ['(defcap C:bool () @event)', '(defcap C:bool () true)', mismatch('Defmeta', '', '@event')],
    ['(defcap C:bool ())', '(defcap C:bool () @event true)', mismatch('Defmeta', '@event', '')],
    ['(defcap C:bool () @managed)', '(defcap C:bool () @event true)', mismatch('Defmeta', '@event', '@managed')],
    [
      '(defun mgr:integer (a:integer b:integer)) (defcap C:bool (a:integer) @managed a mgr)',
      '(defun mgr:integer (a:integer b:integer) 1) (defcap C:bool (a:integer) @managed true)',
      mismatch('Defmeta', '@managed', '@managed a mgr'),
    ],
    [
      '(defschema s x:integer) (defun f:object{s} ())',
      '(defun f:object{o.s} () { "x": 1 })',
      mismatch('Return type', 'object:{o.s}', 'object:{s}'),
    ],
    [
      '(defschema s x:integer) (defun f:object{s} ())',
      '(defun f:object () { "x": 1 })',
      mismatch('Return type', 'object:*', 'object:{s}'),
    ],
    [
      '(defun f:integer (a:module{k}))',
      '(defun f:integer (a:module{l}) 1)',
      mismatch('Argument type', 'module{l}', 'module{k}').replace(' with', ' for a with'),
    ],
  ])('for %s it has %s', (wanted, found, message) => {
    expect(install(wanted, found)).toBe(message);
  });
});
