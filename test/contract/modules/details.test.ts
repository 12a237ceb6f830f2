/** The texts that dialect 4 prints for the bare names of functions. */

import { describe, expect, it } from 'vitest';
import { lastOf } from '../dialogue.ts';

const MODULE = `(module m G
  (defcap G () true)
  (defschema s x y:integer)
  (defconst LIST [1 [2]])
  (defun f (a) a)
  (defun documented:integer (a:integer b:[string]) "Says something." (let ((x 1) (y:integer 2)) (+ x y)))
  (defun binds (o) (bind o { "a" := a, "b" := b:integer } (map (lambda (z) z) [a])))
  (defcap EVENT:bool (a) @event true)
  (defcap MANAGED:bool (a:integer) @managed a mgr true)
  (defun mgr:integer (a:integer b:integer) 0)
  (defpact flow () (step 1) (step (cond (true []) 2)))
  (defun last () (f f)))`;

const on = (...inputs: string[]) => lastOf(4, [MODULE, ...inputs]);

describe('the name of a function', () => {
  it.each([
    ['m.f', '(defun m.f:<f> (a:<g>))'],
    ['m.documented', '(defun m.documented:integer (a:integer b:[string]) Says something.)'],
    ['m.binds', '(defun m.binds:<i> (o:<j>))'],
    ['m.EVENT', '(defcap m.EVENT:bool (a:<p>) @event)'],
    ['m.MANAGED', '(defcap m.MANAGED:bool (a:integer) @managed a mgr)'],
    ['m.flow', '(defpact m.flow:<q> ())'],
    ['m.last', '(defun m.last:<s> ())'],
  ])('%s stands for its details outside of all brackets', (name, text) => {
    expect(on(name)).toBe(`"${text}"`);
    expect(on(`(expect "d" "${text}" ${name})`)).toBe('"Expect: success: d"');
  });

  it.each(['m.f', '(m.f m.f)', '(m.last)', '[m.f]'])('is refused on a node: %s', (code) => {
    expect(on('(env-simulate-onchain true)', code)).toBe('Cannot display function details in non-repl context');
  });

  it('is refused as a value, unless the version is older than 4.7', () => {
    expect(on('(m.f m.f)')).toBe('Cannot display function details in non-repl context');
    expect(on('(env-exec-config ["DisableFlow47"])', '(m.f m.f)')).toBe('"(defun m.f:<f> (a:<g>))"');
  });
});

describe('the name of a native', () => {
  it('stands for its types outside of all brackets', () => {
    expect(lastOf(4, ['not'])).toBe('"native `not`\n\nType:\nx:bool -> bool"');
    expect(lastOf(4, ['commit-tx'])).toBe('"native `commit-tx`\n\nType:\n -> string"');
  });

  it('is no value', () => {
    expect(on('(m.f +)')).toBe('Invalid type in value location: defun');
    const message = 'Cannot display native function details in non-repl context';
    expect(lastOf(4, ['(env-simulate-onchain true)', '+'])).toBe(message);
  });

  it('is a value in dialect 5', () => {
    expect(lastOf(5, ['(map not [true])'])).toBe('[false]');
  });
});
