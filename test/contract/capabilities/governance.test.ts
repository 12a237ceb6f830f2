/** The governance of a module that composes a capability, which is enforced without a grant of its own in dialect 4. */

import { checkOutcomes } from '../outcomes.ts';

const SHOP = `(module shop GOV (defcap INNER () true) (defcap GOV () (compose-capability (INNER)))
  (defschema row a:integer) (deftable rows:{row}) (defun price () 1) (defun inner () (require-capability (INNER))))`;
const TILL = `(module till G (defcap G () true) (defcap OPEN () true)
  (defun put () (with-capability (OPEN) (insert shop.rows "k" { "a": 1 })))
  (defun put-and-need () (with-capability (OPEN) (insert shop.rows "k" { "a": 1 }) (shop.inner)))
  (defun put-then-need () (put) (shop.inner)))`;
const NO_ADMIN = 'Module admin necessary for operation but has not been acquired:shop';
const SECOND = SHOP.replace('(defun price () 1)', '(defun price () 2)');

const NOT_GRANTED = 'require-capability: not granted: (shop.INNER)';
const INSERT = '(insert shop.rows "k" { "a": 1 })';
const ADMIN_5 = '(acquire-module-admin shop)';

checkOutcomes(
  [SHOP, '(create-table shop.rows)', TILL, '(begin-tx)', '(commit-tx)'],
  [
    [INSERT, '"Write succeeded"', NO_ADMIN],
    [[INSERT, '(read shop.rows "k")'], '{"a": 1}', null],
    [[INSERT, '(shop.inner)'], NOT_GRANTED, null],
    ['(till.put)', '"Write succeeded"', NO_ADMIN],
    ['(till.put-and-need)', 'true', NO_ADMIN],
    ['(till.put-then-need)', NOT_GRANTED, NO_ADMIN],
    [[SECOND, '(shop.price)'], '2'],
    [[SECOND, '(shop.inner)'], NOT_GRANTED],
    [[ADMIN_5, INSERT], null, '"Write succeeded"'],
    [[ADMIN_5, '(till.put-and-need)'], null, NOT_GRANTED],
  ],
);
