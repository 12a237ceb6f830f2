/** A node that has a little of the live network, for `pickaxe ledger`. */

import { bare, blockJson, blocks, wholeBlocks } from '../../node/client/rows.ts';
import { type Behaviour, type Seen, serve } from '../../node/client/server.ts';
import { cuts } from '../../protocol/ledger/vectors.ts';
import { pickaxe } from '../in-process.ts';

export const [first] = wholeBlocks;
export const { chain, payloadHash, height } = first.header;
export const [cut] = cuts;
export const id = 'A'.repeat(43);
export const info = { nodeVersion: 'mainnet01', nodeApiVersion: '0.0', nodeNumberOfChains: 1, nodeChains: ['0'] };
export const page = (items: readonly string[]) => ({
  body: `{"items":[${items}],"limit":${items.length},"next":null}`,
});
export const hashes = blocks.map(({ hash }) => hash);
export const peer = { id, address: { hostname: '10.1.2.3', port: 1789 } };

export const ANSWERS: readonly (readonly [RegExp, Behaviour])[] = [
  [/^\/info$/, { body: { ...info, nodeGraphHistory: [[0, [[0, []]]]] } }],
  [/^\/config$/, { body: '{"chainwebVersion":"mainnet01","minGasPrice":1.0e-8}' }],
  [/\/mainnet01\/cut$/, { body: cut }],
  [/\/peer\?/, page([JSON.stringify(peer)])],
  [/\/payload\/[\w-]{43}\/outputs/, { body: first.payload }],
  [/\/payload\/[\w-]{43}/, { body: bare(first.payload) }],
  [/\/block/, page([blockJson(first, 'chainweb')])],
  [/\/hash/, page(hashes.map((hash) => JSON.stringify(hash)))],
];

/** Starts the node. @returns a function that runs a command on it, and the requests that it got */
export async function node(answers = ANSWERS) {
  const { url, seen } = await serve((request: Seen) => {
    if (request.method === 'PUT') return { status: 204 };
    return answers.find(([path]) => path.test(request.path))?.[1];
  });
  const ask = (...args: string[]) => pickaxe('ledger', ...args, '--node', url, '--peer-url', url);
  return { ask, seen, url };
}
