/** What the interpreter's specification says of each function, as sentences with code that shows them. */

import { describe } from 'vitest';
import { hashText } from '#pickaxe/contract/values/hash.js';
import { hashOf5 } from '../hashes.ts';
import { checkOutcomes, type OutcomeRow } from '../outcomes.ts';

export const MODULE = `(module m G (defcap G () true)
  (defcap EVENT (x) @event true)
  (defcap SIGNED (x) (enforce-guard (read-keyset "ks")))
  (defcap MANAGED (x) @managed true)
  (defun emit (x) (emit-event (EVENT x)))
  (defun signed (x) (with-capability (SIGNED x) "yes"))
  (defun managed (x) (with-capability (MANAGED x) "yes"))
  (defun policy (ns admin) (= ns "allowed"))
  (defpact flow (n) (step-with-rollback (yield { "n": n }) "undone") (step (resume { "n" := n } n))))`;
export const HASH4 = hashText(MODULE);
export const HASH5 = hashOf5(MODULE);
export const ID = hashText('a');
export const KEYSET = '(env-data { "ks": { "keys": ["alice"], "pred": "keys-all" } })';
export const NATIVES = '(env-enable-repl-natives true)';

/**
 * @param name a function
 * @param sentences what the specification says of it: code, and what the interpreter prints for it in both dialects
 */
export function says(name: string, sentences: Readonly<Record<string, readonly OutcomeRow[]>>): void {
  describe(name, () => {
    for (const [sentence, rows] of Object.entries(sentences)) describe(sentence, () => checkOutcomes([], rows));
  });
}
