/**
 * Asks one node for the state of blocks: one request for its cut, one per chain and stretch of heights, and a second
 * one per stretch in which the chain has other blocks at the heights of ours.
 */

import { parseHeader } from '../ledger/header.ts';
import { LedgerFormatError } from '../ledger/json.ts';
import type { PayloadWithOutputs, Proven } from '../ledger/payload.ts';
import type { Clock } from '../system/clock.ts';
import type { Block } from './block-index.ts';
import { type ProvenReward, proveReward, RewardFault } from './reward.ts';
import type { Look } from './states.ts';

/** Blocks closer than this are asked for together: their hashes fit in one page of a node's answer. */
const STRETCH = 500n;

export interface Looks {
  /** By the blocks' hashes. A block about which the node does not answer has no entry. */
  readonly looks: ReadonlyMap<string, Look>;
  /** What was wrong with the first answer that failed, for people. The other chains' answers count all the same. */
  readonly fault?: string;
}

/** Asks a node about blocks of its network. Never throws for what the node does. */
export async function lookAt(view: LedgerView, blocks: readonly Block[], stop: AbortSignal): Promise<Looks> {
  const looks = new Map<string, Look>();
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

function byChain(blocks: readonly Block[]): Map<number, Block[]> {
  const chains = new Map<number, Block[]>();
  for (const block of blocks) chains.set(block.chain, [...(chains.get(block.chain) ?? []), block]);
  return chains;
}

/** Young blocks come first, because nodes may no longer have old ones. */
async function* lookAtChain(
  view: LedgerView,
  head: Head,
  blocks: readonly Block[],
  stop: AbortSignal,
): AsyncGenerator<readonly [string, Look], void> {
  const { node } = view;
  for (const { hash, height } of blocks) if (height > head.height) yield [hash, { node, says: 'not-yet' }];
  for (const stretch of stretchesOf(blocks.filter(({ height }) => height <= head.height))) {
    const [from, to] = [stretch[0].height, stretch[stretch.length - 1].height];
    const ancestors = await view.ancestors(stretch[0].chain, head.hash, from, to, stop);
    const found = stretch.map((block) => ({ block, there: ancestors.get(block.height) }));
    const kept = await keptOf(view, head, found, stop);
    for (const { block, there } of found) {
      const { hash, height } = block;
      const depth = Number(head.height - height);
      if (there === hash) yield [hash, { node, says: 'ours', depth }];
      else if (there !== undefined) {
        const keepsOurs = isAskedFor(block, head) ? kept?.has(hash) : undefined;
        yield [hash, { node, says: 'another', depth, winner: there, ...(keepsOurs !== undefined && { keepsOurs }) }];
      }
    }
  }
}

interface FoundBlock {
  readonly block: Block;
  /** The hash of the block in its place on the chain; undefined when the node did not say. */
  readonly there: string | undefined;
}

/**
 * @returns which blocks the node keeps, orphans included; undefined when nobody needs to know, or it does not answer
 */
async function keptOf(
  view: LedgerView,
  head: Head,
  found: readonly FoundBlock[],
  stop: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const isReplaced = ({ block, there }: FoundBlock) => there !== undefined && there !== block.hash;
  const asked = found.filter((each) => isReplaced(each) && isAskedFor(each.block, head)).map(({ block }) => block);
  if (asked.length === 0) return undefined;
  const [first, last] = [asked[0], asked[asked.length - 1]];
  try {
    return await view.keptHashes(first.chain, first.height, last.height, stop);
  } catch {
    return undefined;
  }
}

/** A block that was kept once is not asked for again. */
function isAskedFor({ height, standing }: Block, head: Head): boolean {
  return height < head.height && standing.state !== 'orphaned';
}

/**
 * @returns the blocks of one chain, divided where many heights lie between two of them: the highest first, each upwards
 */
function stretchesOf(blocks: readonly Block[]): Block[][] {
  const stretches: Block[][] = [];
  for (const block of blocks.toSorted((a, b) => Number(a.height - b.height))) {
    const last = stretches.at(-1);
    if (last && block.height - last[0].height < STRETCH) last.push(block);
    else stretches.push([block]);
  }
  return stretches.reverse();
}

/* What the follower asks of one node. `LedgerReader` of `node/` has these methods, and pretended nodes in tests. */

export interface Head {
  readonly height: bigint;
  /** The block hash: 43 characters of base64url. */
  readonly hash: string;
}

/**
 * One node's view of the ledger. Hashes are block hashes in base64url, 43 characters. Every method throws an Error that
 * says what happened when the node cannot be reached or does not answer as it must.
 */
export interface LedgerView {
  /** The node's name, as it is shown. */
  readonly node: string;
  /** The network's name, as the settings have it: blocks of other networks are not asked for. */
  readonly network: string;
  /** The heads of the node's cut, by chain. */
  heads(stop: AbortSignal): Promise<ReadonlyMap<number, Head>>;
  /**
   * @param upper the hash of the block whose ancestors are asked for; it counts as one of them
   * @returns the hashes of the ancestors whose heights are from `from` to `to`, by height
   */
  ancestors(
    chain: number,
    upper: string,
    from: bigint,
    to: bigint,
    stop: AbortSignal,
  ): Promise<ReadonlyMap<bigint, string>>;
  /** @returns the hashes of all blocks of the heights from `from` to `to` that the node keeps, orphans included */
  keptHashes(chain: number, from: bigint, to: bigint, stop: AbortSignal): Promise<ReadonlySet<string>>;
  /**
   * @returns undefined when the node does not have the payload, or not yet
   * @throws Error with a LedgerFormatError as its cause when what the node has is not this payload
   */
  payloadWithOutputs(
    chain: number,
    payloadHash: Uint8Array,
    height: bigint,
    stop: AbortSignal,
  ): Promise<Proven<PayloadWithOutputs> | undefined>;
}

/*
 * Seeks a payload that proves what a block has earned. Nodes may not have it yet, or may give a false one: they are
 * asked again.
 */

/** Between two searches for the same payload. The wait doubles each time. */
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 3_600_000;

interface Wait {
  readonly waitMs: number;
  readonly untilMs: number;
}

/** Both are absent while no node has the payload, and while it is too early to search again. */
export interface Found {
  readonly reward?: ProvenReward;
  /** What a node gave in place of the payload, with the node's name, for people. */
  readonly fault?: string;
}

export class RewardSearch {
  readonly #clock: Clock;
  /** By the block's hash. */
  readonly #waits = new Map<string, Wait>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Asks the nodes as `seekReward` does, unless they were asked a short time ago. */
  async seek(block: Block, views: readonly LedgerView[], stop: AbortSignal): Promise<Found> {
    const nowMs = this.#clock.monotonicMs();
    const earlier = this.#waits.get(block.hash);
    if (earlier && nowMs < earlier.untilMs) return {};
    const found = await seekReward(block, views, stop);
    const waitMs = earlier ? Math.min(2 * earlier.waitMs, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
    if (found.reward) this.forget(block);
    else this.#waits.set(block.hash, { waitMs, untilMs: nowMs + waitMs });
    return found;
  }

  forget({ hash }: Pick<Block, 'hash'>): void {
    this.#waits.delete(hash);
  }
}

/** Asks one node after the other, until one has a payload that proves the reward. Never throws for what nodes do. */
export async function seekReward(block: Block, views: readonly LedgerView[], stop: AbortSignal): Promise<Found> {
  const { payloadHash } = parseHeader(block.header);
  let fault: string | undefined;
  for (const view of views) {
    try {
      const payload = await view.payloadWithOutputs(block.chain, payloadHash, block.height, stop);
      if (payload) return { reward: proveReward(block, payload) };
    } catch (error) {
      // A node that does not answer is asked again, like one that does not have the payload.
      const what = faultOf(error);
      if (what !== undefined) fault ??= `${view.node}: ${what}`;
    }
  }
  return fault === undefined ? {} : { fault };
}

/** @returns what is wrong with the payload that a node gave; undefined when it gave none */
function faultOf(error: unknown): string | undefined {
  if (error instanceof RewardFault) return error.message;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof LedgerFormatError ? `the payload is not the one in our header: ${cause.message}` : undefined;
}
