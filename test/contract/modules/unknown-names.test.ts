/** Names that nothing defines, in each place of a module in which a name can stand. */

import { describe, expect, it } from 'vitest';
import { Transaction } from '../transaction.ts';

/** Expressions with a place for a name, which is written `NAME`. */
const EXPRESSIONS = [
  'NAME',
  '[1 NAME]',
  '{ "a": NAME }',
  '(NAME 1)',
  '(+ 1 NAME)',
  '(bind { "a": NAME } { "a" := b } b)',
  '(bind { "a": 1 } { "a" := b } NAME)',
  '(let ((b NAME)) b)',
  '(let ((b 1)) NAME)',
  '(let* ((b 1) (c NAME)) b)',
  '(map (lambda (b) NAME) [1])',
  '(cond (NAME 1) 2)',
  '(cond (true NAME) 2)',
  '(cond (false 1) (true NAME) 2)',
  '(cond (true 1) NAME)',
  '(with-capability (NAME) 1)',
  '(with-capability (G) NAME)',
  '(if true NAME 1)',
  '(try NAME 1)',
];

const DEFINITIONS = [
  '(defconst K NAME)',
  '(defun f:{NAME} () 1)',
  '(defun f (a:{NAME}) 1)',
  '(defun f (a:[{NAME}]) 1)',
  '(defun f (a:module{NAME}) 1)',
  '(defschema s a:{NAME})',
  '(deftable t:{NAME})',
  '(defcap C (a:integer) @managed a NAME true)',
  '(defcap C () NAME)',
  '(defpact p () (step NAME) (step 1))',
  '(defpact p () (step 1) (step NAME))',
  '(defpact p () (step-with-rollback 1 NAME) (step 1))',
];

const module = (body: string) => `(module m G (defcap G () true) ${body})`;

describe.each([4, 5] as const)('in dialect %i, a module is not loaded with an unknown name in', (dialect) => {
  const fault = (body: string) => new Transaction({ dialect }).faultOf(module(body)).message;

  it.each(EXPRESSIONS.map((expression) => `(defun f (a) ${expression})`).concat(DEFINITIONS))('%s', (text) => {
    expect(fault(text.replace('NAME', 'unknown'))).toMatch(/unknown/);
    expect(fault(text.replace('NAME', 'stranger.unknown'))).toMatch(/stranger/);
  });

  // A parameter hides no member of another module.
  it.each(EXPRESSIONS)('%s, in which a parameter has the last part of the name', (expression) => {
    expect(fault(`(defun f (unknown) ${expression.replace('NAME', 'stranger.unknown')})`)).toMatch(/stranger/);
  });
});
