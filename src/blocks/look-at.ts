/**
 * Asks one node for the state of blocks: one request for its cut, one per chain and stretch of heights, and a second one per stretch
 * where other blocks have the heights of ours on the chain.
 */

import type { Block } from './book.ts';
import type { Head, LedgerView } from './ledger-view.ts';
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
  /** The hash of the block in its place on the chain; undefined when the node did not tell. */
  readonly there: string | undefined;
}

/** @returns which blocks the node keeps, orphans included; undefined when nobody needs to know, or it does not answer */
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

/** @returns the blocks of one chain, divided where many heights lie between two of them: the highest first, each upwards */
function stretchesOf(blocks: readonly Block[]): Block[][] {
  const stretches: Block[][] = [];
  for (const block of blocks.toSorted((a, b) => Number(a.height - b.height))) {
    const last = stretches.at(-1);
    if (last && block.height - last[0].height < STRETCH) last.push(block);
    else stretches.push([block]);
  }
  return stretches.reverse();
}
