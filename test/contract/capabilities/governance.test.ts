/** The governance of a module that composes a capability, which is enforced without a grant of its own in dialect 4. */

import { describe } from 'vitest';
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

describe('signatures that are limited to a capability', () => {
  const KEEPER = `(module keeper GOV (defcap GOV () (enforce-guard (read-keyset "k")))
    (defschema row a:integer) (deftable rows:{row}) (defun guard () (create-module-guard "g")))`;
  const USER = `(module user G (defcap G () true)
    (defcap IN-GUARD () (enforce-guard (keeper.guard))) (defun in-guard () (with-capability (IN-GUARD) "yes"))
    (defcap COMPOSED () (compose-capability (IN-GUARD))) (defun composed () (with-capability (COMPOSED) "yes"))
    (defcap OUTER () true) (defun held () (with-capability (OUTER) (enforce-guard (keeper.guard)) "yes"))
    (defcap MANAGED (n) @managed n left true) (defun left (a b) (enforce-guard (read-keyset "k")) (- a b))
    (defun managed () (with-capability (MANAGED 1) "yes"))
    (defun within () (with-capability (OUTER) (managed))))`;
  const ADMIN = `(module admin G (defcap G () true) (defcap C () (acquire-module-admin keeper))
    (defun get () (with-capability (C) (read keeper.rows "a"))))`;
  const signed = (capability: string) => `(env-sigs [{ "key": "k", "caps": [${capability}] }])`;
  const refused = ['Keyset failure (keys-all): [k]', 'Keyset failure (keys-all): [k...]'] as const;

  // For dialect 4, some counts of signatures are those of its own rules, which are tried elsewhere.
  checkOutcomes(
    [
      '(env-data { "k": ["k"] })',
      KEEPER,
      USER,
      '(env-keys ["k"])',
      '(create-table keeper.rows)',
      '(begin-tx)',
      '(commit-tx)',
    ],
    [
      [[signed('(user.IN-GUARD)'), '(user.in-guard)'], '"yes"'],
      [[signed('(user.COMPOSED)'), '(user.composed)'], '"yes"'],
      [[signed('(keeper.GOV)'), '(user.in-guard)'], refused[0], '"yes"'],
      [[signed('(user.G)'), '(user.in-guard)'], ...refused],
      [[signed('(user.OUTER)'), '(user.held)'], null, refused[1]],
      [[signed('(user.MANAGED 1)'), '(user.managed)'], '"yes"'],
      [[signed('(user.OUTER) (user.MANAGED 1)'), '(user.within)'], '"yes"'],
      [['(install-capability (user.MANAGED 1))', signed('(user.OUTER)'), '(user.within)'], null, refused[1]],
      [[ADMIN, signed('(admin.C)'), '(admin.get)'], null, 'No value found in table keeper_rows for key: a'],
    ],
  );
});

describe('the governance for acquire-module-admin, which only dialect 5 has', () => {
  const governed = (meta: string) => `(module shop GOV (defcap GOV () ${meta} true)
    (defun in-gov (m:module{caller}) (with-capability (GOV) (m::admin))))`;
  const BEFORE = '(interface caller (defun admin ()))';
  const OTHER = `(module other G (defcap G () true) (implements caller)
    (defun admin () (acquire-module-admin shop)))`;
  const ACQUIRED = '"Module admin for module shop acquired"';

  checkOutcomes(
    [BEFORE],
    [
      [
        [governed(''), '(begin-tx)', '(commit-tx)', '(acquire-module-admin shop)'],
        'Cannot resolve acquire-module-admin',
        ACQUIRED,
      ],
      [
        [
          governed('@event'),
          '(begin-tx)',
          '(commit-tx)',
          '(env-events true)',
          '(acquire-module-admin shop)',
          '(map (at "name") (env-events true))',
        ],
        null,
        '["shop.GOV"]',
      ],
      [
        [governed('@managed'), '(begin-tx)', '(commit-tx)', '(acquire-module-admin shop)'],
        null,
        'Managed capability not installed: (shop.GOV)',
      ],
      [
        [
          governed('@managed'),
          '(begin-tx)',
          '(commit-tx)',
          '(env-sigs [{ "key": "k", "caps": [(shop.GOV)] }])',
          '(acquire-module-admin shop)',
        ],
        null,
        ACQUIRED,
      ],
      [[governed(''), OTHER, '(begin-tx)', '(commit-tx)', '(shop.in-gov other)'], null, ACQUIRED],
      [
        [
          governed('@event'),
          OTHER,
          '(begin-tx)',
          '(commit-tx)',
          '(env-events true)',
          '(shop.in-gov other)',
          '(length (env-events true))',
        ],
        null,
        '1',
      ],
    ],
  );
});

describe('compose-capability of a capability of another module', () => {
  const OTHERS = `(module others GOV (defcap GOV () (enforce false "no admin")) (defcap C () true)
    (defcap NO () (enforce false "its body runs")) (defun need () (require-capability (C)) "yes"))`;
  const COMPOSER = `(module composer G (defcap G () true) (defcap D () (compose-capability (others.C)))
    (defcap E () (compose-capability (others.NO)))
    (defun d () (with-capability (D) (others.need))) (defun e () (with-capability (E) 1))
    (defun c () (with-capability (others.C) 1)))`;

  checkOutcomes(
    [OTHERS, COMPOSER, '(begin-tx)', '(commit-tx)'],
    [
      ['(composer.d)', 'no admin', '"yes"'],
      ['(composer.e)', 'no admin', 'its body runs'],
      ['(composer.c)', 'no admin', 'Module admin necessary for operation but has not been acquired:others'],
    ],
  );
});
