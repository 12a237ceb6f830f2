/** What `pickaxe tx` finds out about commands before it asks a node. */

import { expect, it } from 'vitest';
import { readBatch } from '#pickaxe/cli/coins/tx/command-files.js';
import { commandJson, requestKeyOfCmd } from '#pickaxe/protocol/ledger/command/command.js';

function batchOf(meta: object, chain: number | null = null) {
  const payload = { exec: { code: '(+ 1 1)', data: null } };
  const cmd = JSON.stringify({ networkId: 'mainnet01', payload, signers: [], meta, nonce: '' });
  const text = commandJson({ cmd, hash: requestKeyOfCmd(cmd), sigs: [] });
  return readBatch({ file: 'command.json', text }, { chain, signed: true });
}

const META = { chainId: '3', sender: 's', gasLimit: 1000, gasPrice: 1e-8, ttl: 600, creationTime: 1_700_000_000 };

it('a command ends with its time to live, also where wallets have written that in other ways', () => {
  const endsMs = 1_700_000_600_000;
  expect(batchOf(META)).toMatchObject({ chain: 3, network: 'mainnet01', endsMs });
  expect(batchOf({ ...META, ttl: '600' }).endsMs).toBe(endsMs);
  expect(batchOf({ ...META, creationTime: 1_700_000_000.29 }).endsMs).toBe(endsMs);
});

it('it is not known when a command ends whose metadata are not public ones', () => {
  expect(batchOf({ chainId: '3' })).toMatchObject({ chain: 3, endsMs: undefined });
  expect(batchOf({ ...META, ttl: 'soon' }).endsMs).toBeUndefined();
});

it.each(['', 'x', '3x', '-1', '1.5', '1e3', '0x1', ' 3', '1234567890', 3, null, ['3']])(
  'a command whose chain is %j names none: the user has to',
  (chainId) => {
    expect(() => batchOf({ ...META, chainId })).toThrow('command.json names no chain: add --chain N.');
    expect(batchOf({ ...META, chainId }, 7).chain).toBe(7);
  },
);

it.each([
  ['0', 0],
  ['19', 19],
  ['999999999', 999_999_999],
])('a command for chain %j needs no other word, and takes none that differs', (chainId, chain) => {
  expect(batchOf({ ...META, chainId }).chain).toBe(chain);
  expect(batchOf({ ...META, chainId }, chain).chain).toBe(chain);
  expect(() => batchOf({ ...META, chainId }, 7)).toThrow(`is for chain ${chain}, not for chain 7: leave --chain out.`);
});
