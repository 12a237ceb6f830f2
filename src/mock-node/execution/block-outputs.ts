/** The outputs of commands in the blocks of a chain: finds them, and proves them to other chains (SPV). */

import { parseCommandResult } from '../../protocol/ledger/command/results.ts';
import { distance } from '../../protocol/ledger/graphs.ts';
import { blockLeaves, HEADER_LEAF } from '../../protocol/ledger/header.ts';
import {
  type ExactJsonObject,
  encodeBase64url,
  jsonInteger,
  parseExactJsonBytes,
  stringifyExactJson,
} from '../../protocol/ledger/json.ts';
import { type MerkleStep, merklePath } from '../../protocol/ledger/merkle.ts';
import { outputLeaves } from '../../protocol/ledger/payload.ts';
import { encodeSpvProof } from '../../protocol/ledger/spv-proof.ts';
import type { Block } from '../ledger/block-store.ts';
import type { Chains } from '../ledger/chains.ts';

interface FoundOutput {
  readonly block: Block;
  /** Index of the command among the block's transactions. */
  readonly index: number;
}

/** @returns where a command has run in a canonical block of the chain; undefined if no kept block contains it */
export function findOutput(chains: Chains, chain: number, requestKey: string): FoundOutput | undefined {
  const store = chains.blocksOf(chain);
  const height = store.tip.payload.state.heightOf(requestKey);
  const block = height === undefined ? undefined : store.canonical(height);
  const index = block?.payload.outputs.findIndex((output) => objectIn(output).reqKey === requestKey) ?? -1;
  return block && index >= 0 ? { block, index } : undefined;
}

/** @returns the output and the metadata of its block, as in a node's answers */
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

/** What became of a command in a block. */
export interface CommandEvent {
  readonly type: 'command';
  readonly requestKey: string;
  readonly chain: number;
  readonly height: bigint;
  readonly gas: number;
  /** `success` and the value, or `failure` and the message. */
  readonly outcome: string;
}

/** @returns an event for each command of a block, in order */
export function commandEvents(block: Block): CommandEvent[] {
  const { chain, height } = block.header;
  return [...block.payload.outputs.keys()].map((index) => {
    const { reqKey: requestKey, gas, result } = parseCommandResult(resultJson({ block, index }));
    const { status } = result;
    const outcome = `${status} ${status === 'success' ? stringifyExactJson(result.data) : result.error.message}`;
    return { type: 'command', requestKey, chain, height, gas, outcome };
  });
}

function objectIn(output: Uint8Array): ExactJsonObject {
  return parseExactJsonBytes(output) as ExactJsonObject;
}

/** @returns the height that the target chain must reach before an output of this block can be proven to it */
export function heightNeeded(chains: Chains, block: Block, target: number): bigint {
  return block.header.height + BigInt(distance(chains.graph, block.header.chain, target));
}

/**
 * @returns the encoded proof: the Merkle path from the output to a block of the target chain that builds on the
 *   output's block; undefined while the target chain is too low
 */
export function makeProof(chains: Chains, { block, index }: FoundOutput, target: number): string | undefined {
  if (chains.heightOf(target) < heightNeeded(chains, block, target)) return undefined;
  const { payload, header } = block;
  const position = index + 1; // The coinbase comes first.
  const steps: MerkleStep[] = [
    ...merklePath(outputLeaves(payload), position),
    { side: 'left', hash: payload.transactionsHash },
    ...merklePath(blockLeaves(header), HEADER_LEAF.payloadHash),
    ...stepsBetween(chains, block, target),
  ];
  return encodeSpvProof({ targetChain: target, output: payload.outputs[index], position: BigInt(position), steps });
}

/**
 * @returns the Merkle steps from the hash of `block` to the hash of the first block on the target chain that builds on
 *   `block`
 */
function stepsBetween(chains: Chains, block: Block, target: number): MerkleStep[] {
  const { graph } = chains;
  const steps: MerkleStep[] = [];
  let { chain, height } = block.header;
  while (chain !== target) {
    const nearer = graph[chain].find((other) => distance(graph, other, target) < distance(graph, chain, target))!;
    height += 1n;
    const next = chains.blocksOf(nearer).canonical(height)!;
    const leaf = HEADER_LEAF.adjacents + next.header.adjacents.findIndex((adjacent) => adjacent.chain === chain);
    steps.push(...merklePath(blockLeaves(next.header), leaf));
    chain = nearer;
  }
  return steps;
}
