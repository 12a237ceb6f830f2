/** Code that may only read cannot write through keysets and namespaces either. */

import { describe, expect, it } from 'vitest';
import { dialogue } from '../dialogue.ts';

const KEYS = '(env-data {"k":["key"]})(env-keys ["key"])';
const NAMESPACE = `(define-namespace "n" (read-keyset "k") (read-keyset "k"))(namespace "n")`;

describe.each([4, 5] as const)('in dialect %i', (dialect) => {
  it.each([
    ['a keyset', '(define-keyset "n.other" (read-keyset "k"))', '(describe-keyset "n.other")'],
    ['a namespace', '(define-namespace "other" (read-keyset "k") (read-keyset "k"))', '(describe-namespace "other")'],
  ])('%s is not defined where code cannot write', (_, define, describe) => {
    const { fault } = dialogue(dialect, KEYS, NAMESPACE);
    const refused = dialect === 4 ? 'Illegal database access attempt (writeRow)' : 'Operation disallowed in read-only';
    expect(fault(`(try "caught" (let ((x ${define})) (enforce false "no")))`)).toContain(refused);
    expect(fault(`(module m G (defcap G () true) (defconst K ${define}))`)).toContain(
      dialect === 4 ? 'Illegal database access attempt' : 'Operation disallowed in',
    );
    expect(() => fault(describe)).not.toThrow();
  });
});

describe('in dialect 5, a predicate', () => {
  const approve = '(defcap G () true) (defun approve (count matched) true)';

  it('with a bare name is a native, not what somebody else has defined', () => {
    const { fault } = dialogue(5, `(module evil G ${approve})`, '(env-data {"k":{"keys":["key"],"pred":"approve"}})');
    expect(fault('(enforce-guard (read-keyset "k"))')).toBe('Invalid custom predicate for keyset approve');
  });

  it('of a module reads tables, but does not write them', () => {
    const { fault, say } = dialogue(
      5,
      `(module m G (defcap G () true) (defschema s v:integer) (deftable t:{s})
        (defun put (count matched) (let ((x (write t "k" {"v": 1}))) true))
        (defun looks (count matched) (with-default-read t "k" {"v": 0} {"v" := v} (= v 0))))`,
      '(create-table m.t)',
      '(env-data {"p":{"keys":["key"],"pred":"m.put"},"r":{"keys":["key"],"pred":"m.looks"}})',
    );
    expect(fault('(enforce-guard (read-keyset "p"))')).toContain('Operation disallowed in read-only');
    expect(say('(enforce-guard (read-keyset "r"))')).toBe('true');
  });
});
