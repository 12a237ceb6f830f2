/** The oldest blocks of the mock node, one of each chain. They have no proof of work. */

import { targetForDifficulty } from '../../protocol/chain/target.ts';
import type { Graph } from '../../protocol/ledger/graphs.ts';
import { encodeHeader } from '../../protocol/ledger/header.ts';
import type { ChainState } from '../execution/chain-state.ts';
import type { Transactions } from '../execution/transactions.ts';
import { codeOf, graphFor, type LedgerSettings } from '../options.ts';
import { type Random, randomBytes } from '../random.ts';
import { StateError } from '../state-error.ts';
import { type Block, blockOf } from './block-store.ts';
import { Chains } from './chains.ts';
import { firstPayload, PayloadMaker } from './payloads.ts';

interface FirstBlocks {
  readonly graph: Graph;
  /** The network's number in headers. */
  readonly version: number;
  readonly height: bigint;
  /** The creation time: µs since the UNIX epoch. */
  readonly timeUs: bigint;
  /** The target: 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** @returns the first state of a chain */
  readonly stateOf: (chain: number) => ChainState;
}

/** Makes the oldest block of each chain. The hashes of the parents are random, because the node has no lower blocks. */
export function makeFirstBlocks(first: FirstBlocks, random: Random): Block[] {
  const parents = first.graph.map(() => Uint8Array.from(randomBytes(random, 32)));
  return first.graph.map((neighbours, chain) => {
    const payload = firstPayload(first.stateOf(chain));
    const header = {
      featureFlags: 0n,
      creationTimeUs: first.timeUs,
      parent: parents[chain],
      adjacents: neighbours.map((other) => ({ chain: other, hash: parents[other] })),
      target: first.target,
      payloadHash: payload.payloadHash,
      chain,
      weight: first.height,
      height: first.height,
      version: first.version,
      epochStartUs: first.timeUs,
      nonce: 0n,
    };
    return blockOf(encodeHeader(header), payload);
  });
}

/** Makes the oldest blocks from their headers. @throws StateError or LedgerFormatError if they are of another one */
function savedFirstBlocks(headers: readonly Uint8Array[], { graph, version, stateOf }: FirstBlocks): Block[] {
  return graph.map((_, chain) => {
    const payload = firstPayload(stateOf(chain));
    const block = headers[chain] && blockOf(headers[chain], payload);
    const isOwn = block?.header.chain === chain && block.header.version === version;
    if (!isOwn || Buffer.compare(block.header.payloadHash, payload.payloadHash) !== 0) {
      throw new StateError(`its first block of chain ${chain} is another one`);
    }
    return block;
  });
}

interface ChainsContext {
  /** The headers of the first blocks of a saved state, without their hashes. */
  readonly saved?: readonly Uint8Array[] | undefined;
  readonly transactions: Transactions;
  readonly random: Random;
  readonly stateOf: (chain: number) => ChainState;
  /** The node's clock: µs since the UNIX epoch. */
  readonly nowUs: bigint;
}

export function makeChains(settings: LedgerSettings, context: ChainsContext): Chains {
  const { transactions, random, stateOf, nowUs, saved } = context;
  const graph = graphFor(settings.chains);
  const first = {
    graph,
    version: codeOf(settings.network),
    height: BigInt(settings.firstHeight),
    timeUs: firstTimeUs(settings, nowUs),
    target: targetForDifficulty(settings.difficulty),
    stateOf,
  };
  return new Chains({
    graph,
    first: saved ? savedFirstBlocks(saved, first) : makeFirstBlocks(first, random),
    payloads: new PayloadMaker(settings, transactions, random),
    random,
    retargets: settings.retargets,
  });
}

function firstTimeUs({ firstBlockTimeMs, firstBlockAgeMs }: LedgerSettings, nowUs: bigint): bigint {
  return firstBlockTimeMs === undefined ? nowUs - BigInt(firstBlockAgeMs) * 1000n : BigInt(firstBlockTimeMs) * 1000n;
}
