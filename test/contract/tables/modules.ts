/** Modules with tables: one with a schema, and one whose rows can be anything. */

import { Transaction, type TransactionOptions } from '../transaction.ts';

/** A module without governance, whose functions everybody can call. */
export const BANK = `
  (module bank G
    (defcap G () (enforce false "not you"))
    (defschema account balance:decimal owner:string)
    (deftable accounts:{account})
    (deftable others:{account})
    (defun open (id:string) (insert accounts id { "balance": 0.0, "owner": id }))
    (defun put (id:string row:object) (write accounts id row))
    (defun change (id:string row:object) (update accounts id row))
    (defun get (id:string) (read accounts id))
    (defun all () (keys accounts))
    (defun pure-get (id:string) (enforce (= { } (read accounts id)) "no"))
    (defun tried (id:string) (try "tried" (at "owner" (read accounts id))))
    (defun tried-put (id:string) (try "tried" (open id)))
    (defun one-of (id:string) (enforce-one "no" [(= id (at "owner" (read accounts id)))]))
    (defun one-of-put (id:string) (enforce-one "no" [(= "" (open id))]))
    (defun is-owner (id:string) (enforce (= id (at "owner" (read accounts id))) "not the owner"))
    (defun guard (id:string) (create-user-guard (is-owner id))))
  (create-table accounts)`;

export function bank(options?: TransactionOptions): Transaction {
  const transaction = new Transaction(options);
  transaction.run(BANK);
  transaction.run('(open "a")');
  transaction.forget();
  return transaction;
}

/** A table without a schema, whose rows can be anything. */
export function anything(options: TransactionOptions = {}): Transaction {
  const transaction = new Transaction(options);
  transaction.run('(module m G (defcap G () true) (deftable t) (defun get (k) (at "v" (read t k)))) (create-table t)');
  return transaction;
}
