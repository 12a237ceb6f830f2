/** Asks nodes about blocks, with one request per chain and stretch of heights, and about the rewards of blocks. */

import type { Clock } from '../../base/system/clock.ts';
import { parseHeader } from '../../protocol/ledger/header.ts';
import { LedgerFormatError } from '../../protocol/ledger/json.ts';
import type { PayloadWithOutputs, Proven } from '../../protocol/ledger/payload.ts';
import type { LedgerHead } from '../client/ledger-reader.ts';
import type { TrackedBlock } from './block-index.ts';
import { type ProvenReward, proveReward, RewardFault } from './block-reward.ts';
import type { BlockLook } from './confirmations.ts';

/** Heights closer than this share a request, since their hashes fit into one page of a node's answer. */
const STRETCH = 500n;

interface Looks {
  /** The node's looks by block hash. Blocks about which it did not answer have no entry. */
  readonly looks: ReadonlyMap<string, BlockLook>;
  /** The first fault, for people. The answers about other chains remain valid. */
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

/** Asks about young blocks first, because nodes may no longer have old ones. */
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
  /** The hash of the block at this height on the node's chain; undefined when the node did not give it. */
  readonly there: string | undefined;
}

/**
 * @returns the hashes that the node keeps, orphans included; undefined if no block needs them or the node does not
 *   answer
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

/** A block in the place of the head decides nothing yet, and an orphaned block stays orphaned whoever keeps it. */
function isAskedFor({ height, standing }: TrackedBlock, head: LedgerHead): boolean {
  return height < head.height && standing.state !== 'orphaned';
}

/** @returns one chain's blocks in stretches of at most `STRETCH` heights; highest stretch first, each ascending */
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
 * One node's view of the ledger. Hashes are block hashes: 43 characters of base64url. Every method throws an Error for
 * people if the node does not answer properly.
 */
export interface LedgerView {
  readonly node: string;
  /** The network's name in the settings. Blocks of other networks are not asked about. */
  readonly network: string;
  /** The heads of the node's cut, by chain. */
  heads(stop: AbortSignal): Promise<ReadonlyMap<number, LedgerHead>>;
  /**
   * @param upper the hash of the block whose ancestors are requested; it counts as one of them
   * @returns the hashes of the ancestors at heights from `from` to `to`, both included, by height
   */
  ancestors(
    chain: number,
    upper: string,
    from: bigint,
    to: bigint,
    stop: AbortSignal,
  ): Promise<ReadonlyMap<bigint, string>>;
  /** @returns the hashes of all blocks at heights from `from` to `to` that the node keeps, orphans included */
  keptHashes(chain: number, from: bigint, to: bigint, stop: AbortSignal): Promise<ReadonlySet<string>>;
  /**
   * @returns undefined if the node does not have the payload yet, or any more
   * @throws Error whose cause is a LedgerFormatError if the node's payload is not the one of that hash
   */
  payloadWithOutputs(
    chain: number,
    payloadHash: Uint8Array,
    height: bigint,
    stop: AbortSignal,
  ): Promise<Proven<PayloadWithOutputs> | undefined>;
}

/* The search for a payload that proves what a block has earned. */

/** Waits between two searches for the same payload, which nodes may not have yet. The wait doubles each time. */
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 3_600_000;

interface Wait {
  readonly waitMs: number;
  readonly untilMs: number;
}

/** Both are absent if no node has the payload, or if it is too early to search again. */
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

  /** Like `seekReward`, but does nothing if the nodes were asked about this block a short time ago. */
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
      // A node that does not answer is asked again later, like one without the payload.
      const what = faultOf(error);
      if (what !== undefined) fault ??= `${view.node}: ${what}`;
    }
  }
  return fault === undefined ? {} : { fault };
}

/** @returns the fault of the payload that a node gave; undefined if it gave no payload */
function faultOf(error: unknown): string | undefined {
  if (error instanceof RewardFault) return error.message;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof LedgerFormatError ? `the payload is not the one in our header: ${cause.message}` : undefined;
}
