/** A chain of a network of one chain, whose target every hash meets. */

import { rootsOf } from '#pickaxe/mock-node/ledger/block-store.js';
import type { Block } from '#pickaxe/node/client/blocks.js';
import { weightAbove } from '#pickaxe/protocol/ledger/difficulty.js';
import { type BlockHeader, blockHash } from '#pickaxe/protocol/ledger/header.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { provePayload } from '#pickaxe/protocol/ledger/payload.js';

export const EASIEST = new Uint8Array(32).fill(0xff);
const text = (json: unknown) => new TextEncoder().encode(JSON.stringify(json));
const miner = { account: 'k:miner', predicate: 'keys-all', 'public-keys': [] };
const event = { name: 'TRANSFER', module: { name: 'coin', namespace: null }, params: ['', miner.account, 1.5] };

/** @returns the next block, which is right but for the changes; without a parent, the first block */
export function blockAbove(parent: BlockHeader | undefined, changes: Partial<BlockHeader> = {}): Block {
  const parentHash = parent ? blockHash(parent) : new Uint8Array(32);
  const coinbase = { reqKey: encodeBase64url(parentHash), result: { status: 'success', data: '' }, events: [event] };
  const content = { transactions: [], outputs: [], minerData: text(miner), coinbase: text(coinbase) };
  const roots = rootsOf(content);
  const payload = provePayload({ ...content, ...roots }, roots.payloadHash);
  const header: BlockHeader = {
    featureFlags: 0n,
    creationTimeUs: (parent?.creationTimeUs ?? 0n) + 30_000_000n,
    parent: parentHash,
    adjacents: [],
    target: EASIEST,
    payloadHash: payload.payloadHash,
    chain: 0,
    weight: parent ? weightAbove(parent, changes.target ?? EASIEST) : 0n,
    height: (parent?.height ?? -1n) + 1n,
    version: 1,
    epochStartUs: 0n,
    nonce: 7n,
    ...changes,
  };
  return { header, payload };
}
