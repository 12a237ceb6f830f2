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

describe('the letters of missing types', () => {
  it('are a to z, then aa to az and so on up to za, and then b0, c0 and so on', () => {
    const functions = Array.from({ length: 400 }, (_, i) => `(defun f${i} (a) a)`);
    const module = `(module many G (defcap G:bool () true) ${functions.join(' ')})`;
    // Each function has two.
    for (const [i, first, second] of [
      [0, 'a', 'b'],
      [12, 'y', 'z'],
      [13, 'aa', 'ab'],
      [25, 'ay', 'az'],
      [26, 'ba', 'bb'],
      [337, 'yy', 'yz'],
      [338, 'za', 'b0'],
      [339, 'c0', 'd0'],
      [350, 'y0', 'z0'],
      [351, 'a1', 'b1'],
    ] as const) {
      expect(lastOf(4, [module, `many.f${i}`])).toBe(`"(defun many.f${i}:<${first}> (a:<${second}>))"`);
    }
  });

  /** The letter of a function after another definition: `a` if that has none. */
  const after = (definition: string) => {
    const guarded = '(defcap G:bool () true) (defcap C:bool () true) (defschema row x:integer)';
    const module = `(module m G ${guarded} ${definition} (defun last () 1))`;
    const interfaces = '(interface i (defconst ONE:integer 1))';
    const text = lastOf(4, [interfaces, module, 'm.last']);
    return /<(\w+)>/.exec(text ?? '')?.[1];
  };

  it.each([
    ['', 'a'],
    ['(use i)', 'a'],
    ['(bless "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")', 'a'],
    ['(implements i)', 'a'],
    ['(deftable t:{row})', 'a'],
    ['(defconst TYPED:integer 1)', 'a'],
    ['(defconst UNTYPED 1)', 'b'],
    ['(defconst TYPED:[integer] [1 2])', 'b'],
    ['(defconst OBJECT:object { "a": [1], "b": 2 })', 'b'],
    ['(defschema s x y:integer z)', 'c'],
    ['(defun f:integer (a:integer) a)', 'a'],
    ['(defun f:integer (a:integer b) a)', 'b'],
    ['(defun f (a:integer) [a])', 'c'],
    ['(defun f:integer () (let ((x 1) (y:integer 2) (z [3])) (+ x y)))', 'd'],
    ['(defun f:integer () (let ((y:integer 2)) [y] y))', 'b'],
    ['(defun f:[integer] () (map (lambda (x:integer) x) [1]))', 'd'],
    ['(defun f:[integer] () (map (lambda (x) [x] x) [1]))', 'f'],
    ['(defun f:integer () (cond ((= [1] [1]) 1) (true (at 0 [2])) 3))', 'd'],
    ['(defun f:integer () (with-capability (C) (at 0 [1])))', 'b'],
    ['(defun f:integer (o:object) (bind o { "a" := a, "b" := b:integer } (at 0 [b])))', 'c'],
    ['(defpact p:integer () (step 1) (step 2))', 'a'],
    ['(defpact p () (step-with-rollback (at 0 [1]) (at 0 [2])) (step (at 0 [3])))', 'e'],
    ['(defpact p:integer () (step (at 0 ["a"]) 1))', 'b'],
    ['(defcap D:bool (a) @managed a mgr true) (defun mgr:integer (a:integer b:integer) 0)', 'b'],
  ])('after %s the next is %s', (definition, letter) => {
    expect(after(definition)).toBe(letter);
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
