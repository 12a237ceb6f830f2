/**
 * Asks nodes whether blocks are on their chains, and what the blocks have earned. To need few requests, it asks about
 * many heights of a chain at once.
 */

import type { Clock } from '../../base/system/clock.ts';
import { parseHeader } from '../../protocol/ledger/header.ts';
import { LedgerFormatError } from '../../protocol/ledger/json.ts';
import type { PayloadWithOutputs, Proven } from '../../protocol/ledger/payload.ts';
import type { LedgerHead } from '../client/ledger-reader.ts';
import type { TrackedBlock } from './block-index.ts';
import { type ProvenReward, proveReward, RewardFault } from './block-reward.ts';
import type { BlockLook } from './confirmations.ts';

/**
 * Maximum number of heights in a stretch. One request asks for the ancestors at all heights of a stretch, and their
 * hashes fit into one page of a node's answer.
 */
const STRETCH = 500n;

interface Looks {
  /** The node's answers by block hash. A block about which the node did not answer has no entry. */
  readonly looks: ReadonlyMap<string, BlockLook>;
  /** The first fault, for people. If it is about one chain, the answers about blocks of other chains are valid. */
  readonly fault?: string;
}

/** Asks a node about blocks of its network. Never throws for faults of the node. */
export async function lookAtBlocks(
  view: LedgerView,
  blocks: readonly TrackedBlock[],
  stop: AbortSignal,
): Promise<Looks> {
  const looks = new Map<string, BlockLook>();
  let fault: string | undefined;
  try {
    const heads = await view.heads(stop);
    for (const [chain, own] of byChain(blocks)) {
      const head = heads.get(chain);
      if (!head) continue;
      try {
        for await (const [hash, look] of lookAtChain(view, head, own, stop)) looks.set(hash, look);
      } catch (error) {
        fault ??= `chain ${chain}: ${(error as Error).message}`;
      }
    }
  } catch (error) {
    fault = (error as Error).message;
  }
  return { looks, ...(fault !== undefined && { fault }) };
}

function byChain(blocks: readonly TrackedBlock[]): Map<number, TrackedBlock[]> {
  const chains = new Map<number, TrackedBlock[]>();
  for (const block of blocks) chains.set(block.chain, [...(chains.get(block.chain) ?? []), block]);
  return chains;
}

/**
 * Asks about the highest blocks first, because a node may no longer have the lowest ones. If a request for ancestors
 * fails, the node is not asked about further blocks of this chain.
 */
async function* lookAtChain(
  view: LedgerView,
  head: LedgerHead,
  blocks: readonly TrackedBlock[],
  stop: AbortSignal,
): AsyncGenerator<readonly [string, BlockLook], void> {
  const { node } = view;
  for (const { hash, height } of blocks) if (height > head.height) yield [hash, { node, chainHas: 'not-yet' }];
  for (const stretch of stretchesOf(blocks.filter(({ height }) => height <= head.height))) {
    const [from, to] = [stretch[0].height, stretch[stretch.length - 1].height];
    const ancestors = await view.ancestors(stretch[0].chain, head.hash, from, to, stop);
    const found = stretch.map((block) => ({ block, there: ancestors.get(block.height) }));
    const kept = await keptOf(view, head, found, stop);
    for (const { block, there } of found) {
      const { hash, height } = block;
      const depth = Number(head.height - height);
      if (there === hash) yield [hash, { node, chainHas: 'ours', depth }];
      else if (there !== undefined) {
        const keepsOurs = isAskedFor(block, head) ? kept?.has(hash) : undefined;
        yield [
          hash,
          { node, chainHas: 'another', depth, winner: there, ...(keepsOurs !== undefined && { keepsOurs }) },
        ];
      }
    }
  }
}

interface Compared {
  readonly block: TrackedBlock;
  /** The hash of the block at this height on the node's chain; undefined if the node did not give it. */
  readonly there: string | undefined;
}

/**
 * @returns the hashes of the blocks that the node keeps, including orphans. Undefined if they are not needed for any
 *   block, or if the node does not answer
 */
async function keptOf(
  view: LedgerView,
  head: LedgerHead,
  found: readonly Compared[],
  stop: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const isReplaced = ({ block, there }: Compared) => there !== undefined && there !== block.hash;
  const asked = found.filter((each) => isReplaced(each) && isAskedFor(each.block, head)).map(({ block }) => block);
  if (asked.length === 0) return undefined;
  const [first, last] = [asked[0], asked[asked.length - 1]];
  try {
    return await view.keptHashes(first.chain, first.height, last.height, stop);
  } catch {
    return undefined;
  }
}

/**
 * Whether to ask the node if it keeps the block. The answer is not needed for a block at the height of the node's head,
 * because the head can still be replaced. For an orphaned block it is not needed either, because the answer would not
 * change the block's state.
 */
function isAskedFor({ height, standing }: TrackedBlock, head: LedgerHead): boolean {
  return height < head.height && standing.state !== 'orphaned';
}

/**
 * @returns the blocks of one chain in stretches of at most `STRETCH` heights. The highest stretch comes first; in a
 *   stretch, heights ascend
 */
function stretchesOf(blocks: readonly TrackedBlock[]): TrackedBlock[][] {
  const stretches: TrackedBlock[][] = [];
  for (const block of blocks.toSorted((a, b) => Number(a.height - b.height))) {
    const last = stretches.at(-1);
    if (last && block.height - last[0].height < STRETCH) last.push(block);
    else stretches.push([block]);
  }
  return stretches.reverse();
}

/**
 * One node's view of the ledger. Hashes are block hashes: 43 characters of base64url. Every method throws an Error with
 * a message for people if the node does not answer properly.
 */
export interface LedgerView {
  readonly node: string;
  /** The network's name in the settings. The node is asked only about blocks of this network. */
  readonly network: string;
  /** The heads of the node's cut, by chain. */
  heads(stop: AbortSignal): Promise<ReadonlyMap<number, LedgerHead>>;
  /**
   * @param upper the hash of the block whose ancestors are requested. The block itself counts as an ancestor
   * @returns the hashes of the ancestors at heights from `from` to `to`, both included, by height
   */
  ancestors(
    chain: number,
    upper: string,
    from: bigint,
    to: bigint,
    stop: AbortSignal,
  ): Promise<ReadonlyMap<bigint, string>>;
  /** @returns the hashes of all blocks at heights from `from` to `to` that the node keeps, including orphans */
  keptHashes(chain: number, from: bigint, to: bigint, stop: AbortSignal): Promise<ReadonlySet<string>>;
  /**
   * @returns the payload; undefined if the node does not have it, because it is too new or too old
   * @throws Error whose cause is a LedgerFormatError if the node's payload does not have that hash
   */
  payloadWithOutputs(
    chain: number,
    payloadHash: Uint8Array,
    height: bigint,
    stop: AbortSignal,
  ): Promise<Proven<PayloadWithOutputs> | undefined>;
}

/* The search for a payload that proves what a block has earned. */

/**
 * Wait after the first search for a payload, if it was not successful: nodes may not have the payload yet. The wait
 * doubles after each further search.
 */
const FIRST_WAIT_MS = 15_000;
/** Maximum wait between two searches for the same payload. */
const LONGEST_WAIT_MS = 3_600_000;

interface Wait {
  readonly waitMs: number;
  readonly untilMs: number;
}

/** The result of a search. Both fields are absent if no node gave a payload, or if it is too early to search again. */
export interface FoundReward {
  readonly reward?: ProvenReward;
  /** The fault of a payload that a node gave, with the node's name, for people. */
  readonly fault?: string;
}

export class RewardSearch {
  readonly #clock: Clock;
  readonly #waits = new Map<string, Wait>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Like `seekReward`, but does nothing during the wait after the last search for this block's payload. */
  async seek(block: TrackedBlock, views: readonly LedgerView[], stop: AbortSignal): Promise<FoundReward> {
    const nowMs = this.#clock.monotonicMs();
    const earlier = this.#waits.get(block.hash);
    if (earlier && nowMs < earlier.untilMs) return {};
    const found = await seekReward(block, views, stop);
    const waitMs = earlier ? Math.min(2 * earlier.waitMs, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
    if (found.reward) this.drop(block);
    else this.#waits.set(block.hash, { waitMs, untilMs: nowMs + waitMs });
    return found;
  }

  drop({ hash }: Pick<TrackedBlock, 'hash'>): void {
    this.#waits.delete(hash);
  }
}

/** Asks one node after another until one has a payload that proves the reward. Never throws for faults of nodes. */
export async function seekReward(
  block: TrackedBlock,
  views: readonly LedgerView[],
  stop: AbortSignal,
): Promise<FoundReward> {
  const { payloadHash } = parseHeader(block.header);
  let fault: string | undefined;
  for (const view of views) {
    try {
      const payload = await view.payloadWithOutputs(block.chain, payloadHash, block.height, stop);
      if (payload) return { reward: proveReward(block, payload) };
    } catch (error) {
      // A node that does not answer is treated like a node without the payload: it is asked again in a later search.
      const what = faultOf(error);
      if (what !== undefined) fault ??= `${view.node}: ${what}`;
    }
  }
  return fault === undefined ? {} : { fault };
}

/** @returns the fault of the payload that a node gave; undefined if the node gave no payload */
function faultOf(error: unknown): string | undefined {
  if (error instanceof RewardFault) return error.message;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof LedgerFormatError ? `the payload is not the one in our header: ${cause.message}` : undefined;
}
