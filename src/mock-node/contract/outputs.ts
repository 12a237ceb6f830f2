/** Finds the outputs of commands in the blocks of a chain. */

import { type ExactJsonObject, encodeBase64url, jsonInteger, parseExactJsonBytes } from '../../ledger/json.ts';
import type { Block } from '../ledger/block-store.ts';
import type { Chains } from '../ledger/chains.ts';

export interface FoundOutput {
  readonly block: Block;
  /** Index among the block's transactions. */
  readonly index: number;
}

/** @returns the place where a command ran, on the branch of the chain's tip */
export function findOutput(chains: Chains, chain: number, requestKey: string): FoundOutput | undefined {
  const store = chains.blocksOf(chain);
  const height = store.tip.payload.state.heightOf(requestKey);
  const block = height === undefined ? undefined : store.canonical(height);
  const index = block?.payload.outputs.findIndex((output) => objectIn(output).reqKey === requestKey) ?? -1;
  return block && index >= 0 ? { block, index } : undefined;
}

/** @returns the output with a node's metadata about its block */
export function resultJson({ block, index }: FoundOutput): ExactJsonObject {
  const { header, id, payload } = block;
  const metaData = {
    blockTime: jsonInteger(header.creationTimeUs),
    prevBlockHash: encodeBase64url(header.parent),
    blockHash: id,
    blockHeight: jsonInteger(header.height),
  };
  return { ...objectIn(payload.outputs[index]), metaData };
}

function objectIn(output: Uint8Array): ExactJsonObject {
  return parseExactJsonBytes(output) as ExactJsonObject;
}
