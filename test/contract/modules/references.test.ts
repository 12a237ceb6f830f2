/** References to modules name the interfaces of the module, in the order of networks, on which hashes depend. */

import { checkOutcomes } from '../outcomes.ts';

/** A module of the main network's names, and a value whose hash a public marketplace of generation 4 fixes. */
const COIN = [
  '(interface fungible-v2 (defconst A 1))',
  '(interface fungible-xchain-v1 (defconst B 1))',
  '(module coin G (implements fungible-v2) (implements fungible-xchain-v1) (defcap G () true))',
];
const MARKET = `{ 'marketplace-name: "BestMarket", 'marketplace-account: "r.user.best-market", 'shared-rate: 0.0,
  'min-fee: 0.0, 'currency: coin, 'fee-rate: 0.1, 'max-fee: 0.2 }`;

const NAMESPACES = `(env-data {"k": []}) (define-namespace "b" (read-keyset "k") (read-keyset "k"))
  (define-namespace "a" (read-keyset "k") (read-keyset "k"))`;
const INTERFACES = ['(interface pear (defconst A 1))', '(interface apple (defconst B 1))'];

checkOutcomes(COIN, [
  [`(hash ${MARKET})`, '"cxOEJ6ABlJGJw3lVSgBAVbGFQtFLoTE6onRisjM2Y70"', null],
  ['(typeof coin)', '"module{fungible-xchain-v1,fungible-v2}"', '"module{fungible-v2, fungible-xchain-v1}"'],
  [
    '(at "interfaces" (describe-module "coin"))',
    '["fungible-xchain-v1" "fungible-v2"]',
    '["fungible-v2" "fungible-xchain-v1"]',
  ],
]);

checkOutcomes(
  [
    ...INTERFACES,
    ...NAMESPACES.split('\n'),
    '(namespace "b")',
    '(interface pear (defconst C 1))',
    '(namespace "a")',
    '(interface pear (defconst D 1))',
  ],
  [
    [
      [
        '(namespace "a")',
        `(module m G (defcap G () true) (implements b.pear) (implements apple) (implements a.pear) (implements apple))`,
        '(typeof m)',
      ],
      '"module{apple,a.pear,apple,b.pear}"',
      '"module{apple, a.pear, b.pear}"',
    ],
  ],
);

checkOutcomes(INTERFACES, [
  [
    '(module m G (defcap G () true) (implements none) (implements nothing))',
    'Interface not defined: nothing',
    'Cannot find module:  none',
  ],
]);

checkOutcomes(INTERFACES, [
  [
    [
      '(module m G (defcap G () true) (implements pear))',
      '(module s G (defcap G () true) (defschema row r) (deftable t:{row}))',
      '(create-table s.t)',
      '(write s.t "old" {"r": m})',
      '(module m G (defcap G () true) (implements apple))',
      '(let ((old (at "r" (read s.t "old")))) [(= old m) (= m old) (contains old [m]) (length (distinct [m old]))])',
    ],
    '[false false false 2]',
    '[true true true 1]',
  ],
]);
