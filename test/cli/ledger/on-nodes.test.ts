/** What a command that asks nodes says of their errors, with the remedy of each. */

import { describe, expect, it } from 'vitest';
import type { Loaded } from '#pickaxe/app/config/load.js';
import { onNodes, sayNodes } from '#pickaxe/cli/ledger/on-nodes.js';
import { SendRefusedError } from '#pickaxe/node/client/commands.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { pretendedIo } from '../pretended-io.ts';

const SETTINGS = { node: { urls: ['http://127.0.0.1:9'], insecureTls: false }, ledger: { dialect: 'auto' as const } };

/** @returns the exit code and what is said when the command ends with this error */
async function saidOf(fault: unknown, stop?: AbortSignal) {
  const io = pretendedIo(stop && { stop });
  const code = await onNodes(SETTINGS, io, () => Promise.reject(fault));
  return [code, io.stderr];
}

const refused = (reason: string, more: object = {}) => {
  const hash = 'A'.repeat(43);
  const text = `Transaction ${hash} at index 0 failed with: ${reason}`;
  return new SendRefusedError(new NodeError('refused', 'It is refused.', { text, ...more }));
};

describe('a refusal has its remedy', () => {
  const TTL = 'Build the command again: its time to live is over.';
  const FUTURE = 'The creation time is ahead of the last block: wait a minute and send the same file again.';
  const PRICE = 'Build it again with the gas price (publicMeta.gasPrice) that the node wants.';
  const COINS = 'Has the account that pays for gas enough coins on this chain, and has its key signed for GAS?';
  const SIGNED = 'See with pickaxe tx show who has signed.';
  const PLACE = 'Is the command for this network and chain? pickaxe tx show tells.';

  it.each([
    ['Transaction TTL is over', TTL],
    ['Transaction time to live is zero', TTL],
    ['It is Expired', TTL],
    ['The creation time is in the future', FUTURE],
    ['The gas price is too low', PRICE],
    ['Attempt to buy gas failed', COINS],
    ['A signature is wrong', SIGNED],
    ['wrong number of sigs', SIGNED],
    ['another network', PLACE],
    ['another chain', PLACE],
    ['something else', undefined],
  ])('%s', async (reason, remedy) => {
    const rest = remedy === undefined ? '' : ` ${remedy}`;
    expect(await saidOf(refused(reason))).toEqual([1, `error: It is refused.${rest}\n`]);
    const untaken = refused(reason, { mayHaveBeenTaken: false });
    expect(await saidOf(untaken)).toEqual([1, `error: It is refused. Nothing was sent.${rest}\n`]);
  });
});

it('another error of a node has no remedy, and a missing side has one', async () => {
  expect(await saidOf(new NodeError('unreachable', 'Nobody is there.'))).toEqual([1, 'error: Nobody is there.\n']);
  expect(await saidOf(new NodeError('no such side', 'It is missing.'))).toEqual([
    1,
    'error: It is missing. Its service URL is --node, and its P2P URL is --peer-url.\n',
  ]);
});

it('what is no error of a node goes on, unless the user has ended the command', async () => {
  const fault = new Error('a fault');
  await expect(saidOf(fault)).rejects.toBe(fault);
  expect(await saidOf(fault, AbortSignal.abort())).toEqual([130, '']);
});

describe('where the nodes are configured', () => {
  const said = (layer: string, path: string, always?: boolean) => {
    const lines: string[] = [];
    const origins = new Map([[path, { layer, where: 'somewhere' }]]);
    const config = { node: { urls: ['http://one', 'http://two'], insecureTls: false }, ledger: {} };
    sayNodes({ config, origins } as unknown as Loaded, { say: (line) => void lines.push(line) }, always);
    return lines;
  };

  it.each(['node.urls', 'ledger.peer-url'])('is said, unless flags name them: %s', (path) => {
    expect(said('project', path)).toEqual(['the node is http://one, http://two (somewhere)']);
    expect(said('flag', path)).toEqual([]);
    expect(said('flag', path, true)).toEqual(['the node is http://one, http://two (somewhere)']);
  });
});
