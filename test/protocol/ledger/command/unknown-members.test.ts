/** Members of a command that pickaxe does not know, but that the signatures cover. */

import { expect, it } from 'vitest';
import { unknownMembers } from '#pickaxe/protocol/ledger/command/command-payload.js';

const SIGNER = { pubKey: 'a', clist: [{ name: 'coin.GAS', args: [{ any: 1 }] }] };
const PLAIN = {
  networkId: 'development',
  payload: { exec: { code: '1', data: { whatever: [{ it: 'is' }] } }, cont: null },
  signers: [SIGNER, { ...SIGNER, scheme: null, addr: 'b' }],
  meta: { chainId: '0', sender: 's', gasLimit: 1, gasPrice: 1, ttl: 1, creationTime: 1 },
  nonce: 'n',
};

const found = (command: unknown) => unknownMembers(JSON.stringify(command)).map(({ path, value }) => [path, value]);

it.each<[string, unknown, ReadonlyArray<readonly [string, unknown]>]>([
  ['only known ones', PLAIN, []],
  ['one at the top', { ...PLAIN, verifiers: 'v' }, [['verifiers', 'v']]],
  [
    'false, a text and an object',
    { ...PLAIN, a: false, b: '', c: {} },
    [
      ['a', false],
      ['b', ''],
      ['c', {}],
    ],
  ],
  [
    'a list',
    { ...PLAIN, a: ['x'], b: [null] },
    [
      ['a', ['x']],
      ['b', [null]],
    ],
  ],
  ['nothing in them', { ...PLAIN, a: null, b: [] }, []],
  [
    'one in the message',
    { ...PLAIN, payload: { exec: { code: '1', data: null, more: 'm' } } },
    [['payload.exec.more', 'm']],
  ],
  ['another kind of message', { ...PLAIN, payload: { call: 'c' } }, [['payload.call', 'c']]],
  [
    'one of the second signer',
    { ...PLAIN, signers: [SIGNER, { ...SIGNER, weight: 'w' }] },
    [['signers.1.weight', 'w']],
  ],
  [
    'one of a capability',
    { ...PLAIN, signers: [{ pubKey: 'a', clist: [{ name: 'x', args: [], until: 'u' }] }] },
    [['signers.0.clist.0.until', 'u']],
  ],
  ['one in the metadata', { ...PLAIN, meta: { ...PLAIN.meta, tip: 't' } }, [['meta.tip', 't']]],
  ['one with the name of a method', { ...PLAIN, toString: 'x' }, [['toString', 'x']]],
  ['values where objects would be', { payload: 7, signers: 'all', meta: null }, []],
])('with %s', (_, command, unknown) => {
  expect(found(command)).toEqual(unknown);
});
