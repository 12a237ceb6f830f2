/** Arguments with which every native can be called, and a transaction in which they have values. */

import type { Dialect } from '#pickaxe/contract/dialect.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { jsonInteger } from '#pickaxe/protocol/ledger/json.js';
import { Transaction } from '../transaction.ts';

/**
 * Arguments of natives, in words: the natives first, and then arguments of the right types. A `?` follows one that can
 * be left out, and `…` stands for any number of others. A binding comes last.
 */
export const ARGUMENTS: readonly (readonly [natives: string, ...args: string[]])[] = [
  ['list', '…'],
  ['do', '1', '…'],
  ['continue', '1', '…'],
  ['compose-capability require-capability install-capability emit-event', '(m.E)'],
  ['create-user-guard', '(m.yes)'],
  ['create-capability-guard create-capability-pact-guard', '(m.E)'],
  ['enforce-verifier', '"v"'],
  ['and', 'true', 'false'],
  ['or', 'false', 'true'],
  ['and? or?', '(= 1)', '(= 2)', '1'],
  ['not', 'true'],
  ['not?', '(= 1)', '1'],
  ['if', 'true', '1', '2'],
  ['enforce', 'false', '"no"'],
  ['enforce-one', '"no"', '[false]'],
  ['pure identity show hash typeof', '1'],
  ['error', '"no"'],
  ['try', '1', '2'],
  ['constantly', '1', '2', '3?', '4?', '…'],
  ['compose', '(+ 1)', '(+ 2)', '3'],
  ['bind', '{"v": 1}', '{"v" := v} v'],
  ['yield', '{"v": 1}', '"1"?'],
  ['resume', '{"v" := v} v'],
  ['pact-id tx-hash chain-data list-modules pact-version'],
  ['define-keyset', '"k"', '(read-keyset "k")?'],
  ['describe-keyset keyset-ref-guard', '"k"'],
  ['enforce-guard enforce-keyset create-principal', '(read-keyset "k")'],
  ['keys-all keys-any keys-2', '2', '2'],
  ['create-module-guard create-pact-guard', '"g"'],
  ['validate-principal', '(read-keyset "k")', '"k:a"'],
  ['is-principal typeof-principal', '"k:a"'],
  ['at', '0', '[1]'],
  ['contains', '1', '[1]'],
  ['distinct reverse length', '[1]'],
  ['drop take', '1', '[1]'],
  ['enumerate', '1', '3', '1?'],
  ['filter', '(= 1)', '[1]'],
  ['map', '(+ 1)', '[1]'],
  ['fold', '(+)', '0', '[1]'],
  ['make-list', '1', '1'],
  ['remove', '"v"', '{"v": 1}'],
  ['sort', '["v"]?', '[{"v": 1}]'],
  ['where', '"v"', '(= 1)', '{"v": 1}'],
  ['zip', '(+)', '[1]', '[1]'],
  ['read-msg', '"s"?'],
  ['read-string', '"s"'],
  ['read-integer read-decimal', '"n"'],
  ['read-keyset', '"k"'],
  ['verify-spv', '"ETH"', '{"v": 1}'],
  ['namespace describe-namespace', '"n"'],
  ['define-namespace', '"n"', '(read-keyset "k")', '(read-keyset "k")'],
  ['describe-module', '"m"'],
  ['enforce-pact-version', '"1"', '"9"?'],
  ['static-redeploy', '"m"'],
  ['acquire-module-admin', 'm'],
  ['-', '2', '2?'],
  ['+ * / ^ log mod & | xor shift = != < <= > >=', '2', '2'],
  ['ln exp sqrt abs negate dec ~', '2'],
  ['round floor ceiling', '1.5', '0?'],
  ['create-table describe-table keys', 'm.t'],
  ['fold-db', 'm.t', '(lambda (k r) true)', '(lambda (k r) k)'],
  ['insert update write', 'm.t', '"a"', '{"v": 1}'],
  ['keylog', 'm.t', '"a"', '0'],
  ['read', 'm.t', '"a"', '["v"]?'],
  ['select', 'm.t', '["v"]?', '(constantly true)'],
  ['txids txlog', 'm.t', '0'],
  ['with-default-read', 'm.t', '"a"', '{"v": 1}', '{"v" := v} v'],
  ['with-read', 'm.t', '"a"', '{"v" := v} v'],
  ['base64-decode', '"YQ"'],
  ['base64-encode str-to-list', '"a"'],
  ['concat', '["a"]'],
  ['format', '"{}"', '[1]'],
  ['hash-keccak256', '["YQ"]'],
  ['hash-poseidon poseidon-hash-hack-a-chain', '1', '2?', '3?', '4?', '5?', '6?', '7?', '8?'],
  ['hyperlane-message-id hyperlane-encode-token-message', '{"v": 1}'],
  ['hyperlane-decode-token-message', '"AA"'],
  ['point-add', '"g1"', '{"x": 1, "y": 2}', '{"x": 1, "y": 2}'],
  ['scalar-mult', '"g1"', '{"x": 1, "y": 2}', '3'],
  ['pairing-check', '[]', '[]'],
  ['validate-keypair', '"a"', '"b"'],
  ['decrypt-cc20p1305', '"a"', '"b"', '"c"', '"d"', '"e"', '"f"'],
  ['int-to-str', '10', '1'],
  ['is-charset', '0', '"a"'],
  ['str-to-int', '10?', '"1"'],
  ['time', '"2020-01-01T00:00:00Z"'],
  ['parse-time', '"%Y"', '"2020"'],
  ['format-time', '"%Y"', '(time "2020-01-01T00:00:00Z")'],
  ['add-time', '(time "2020-01-01T00:00:00Z")', '1'],
  ['diff-time', '(time "2020-01-01T00:00:00Z")', '(time "2020-01-01T00:00:00Z")'],
  ['minutes hours days', '1'],
];

const MODULE = `
  (module m G
    (defcap G () true)
    (defcap E () @event true)
    (defun yes () true)
    (defschema s v:integer)
    (deftable t:{s}))
  (create-table m.t)
  (write m.t "a" {"v": 1})`;

/** @returns a transaction with the module, the table and the data that the arguments name */
export function transactionWithModule(dialect: Dialect): Transaction {
  const transaction = new Transaction({ dialect, environment: { data: { k: ['a'], s: 'x', n: jsonInteger(1) } } });
  transaction.run(MODULE);
  return transaction;
}

/** Whether the dialect has the native. */
export function has(dialect: Dialect, name: string): boolean {
  return [undefined, dialect].includes(NATIVES.get(name)?.dialect);
}
