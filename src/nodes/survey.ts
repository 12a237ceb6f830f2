/** Looks at several nodes of one network, and judges them. */

import type { Cut } from '../ledger/cut.ts';
import { blockHash } from '../ledger/header.ts';
import { encodeBase64url } from '../ledger/json.ts';
import { NodeError } from '../node/errors.ts';
import { isOther, type Judgement, judge, type Seen } from './judge.ts';
import { type Look, type LookedAt, lookAt, unlessMissing } from './look.ts';

/** A node to look at. */
export interface Candidate {
  /** Safe to show. */
  readonly name: string;
  /** Its client, or why there is none. */
  readonly api: LookedAt | string;
  /** Asks it for work, where a miner is known. @returns why it gives none */
  readonly whyNoWork?: (() => Promise<string | undefined>) | undefined;
}

export interface Surveyed extends Judgement {
  readonly candidate: Candidate;
  readonly look: Look;
  /** Undefined when it was not asked. */
  readonly givesWork?: boolean;
}

/**
 * @param network the wanted one, as `judge` has it
 * @param nowUs our clock, in µs since 1970
 * @returns what there is to say about each node, in the same order
 */
export async function survey(
  candidates: readonly Candidate[],
  network: string,
  nowUs: bigint,
  stop?: AbortSignal,
): Promise<Surveyed[]> {
  const looks = await Promise.all(candidates.map((each) => lookOf(each, nowUs, stop)));
  const blocks = await blocksOf(candidates, looks, network, stop);
  // Who does not answer is not asked for work either: the reason would be the same.
  const work = await Promise.all(
    candidates.map(async ({ whyNoWork }, i) =>
      whyNoWork && looks[i].fault === undefined ? { reason: await whyNoWork() } : undefined,
    ),
  );
  const seen = candidates.map((_, i): Seen => {
    return { look: looks[i], commonBlock: blocks[i], noWork: work[i]?.reason };
  });
  return judge(seen, network, nowUs).map((judgement, i) => {
    const asked = work[i] && { givesWork: work[i].reason === undefined };
    return { ...judgement, ...asked, candidate: candidates[i], look: looks[i] };
  });
}

async function lookOf({ api }: Candidate, nowUs: bigint, stop?: AbortSignal): Promise<Look> {
  return typeof api === 'string' ? { fault: api } : await lookAt(api, nowUs, stop);
}

async function blocksOf(
  candidates: readonly Candidate[],
  looks: readonly Look[],
  network: string,
  stop?: AbortSignal,
): Promise<(string | undefined)[]> {
  const followers = candidates.flatMap(({ api }, i) => {
    const { cut, network: served } = looks[i];
    return typeof api !== 'string' && cut && !isOther(served, network) ? [{ api, cut: cut satisfies Cut, i }] : [];
  });
  const found = await commonBlocks(followers, stop);
  const blocks: (string | undefined)[] = candidates.map(() => undefined);
  for (const [n, { i }] of followers.entries()) blocks[i] = found[n];
  return blocks;
}

/* Finds out which nodes follow the same branch of the ledger. */

/** Nodes differ in the last blocks for seconds; this deep, all must have the same. */
const DEPTH = 6n;

export interface Follower {
  readonly api: LookedAt;
  readonly cut: Cut;
}

/**
 * Compares the nodes' blocks at one height, on the lowest chain that all have. Half of these are at least that
 * far: one that is years behind would choose a height at which no fork shows.
 * @returns for each node its block there, 43 characters; undefined where the node does not know or does not say
 */
async function commonBlocks(
  followers: readonly Follower[],
  stop?: AbortSignal,
): Promise<readonly (string | undefined)[]> {
  const chains = [...(followers[0]?.cut.heads.keys() ?? [])];
  const chain = chains.find((each) => followers.every(({ cut }) => cut.heads.has(each)));
  if (chain === undefined) return followers.map(() => undefined);
  const height = median(followers.map(({ cut }) => cut.heads.get(chain)!.height)) - DEPTH;
  if (height < 0n) return followers.map(() => undefined);
  return await Promise.all(
    followers.map(async ({ api, cut }) => {
      const head = cut.heads.get(chain);
      return head && head.height >= height ? await ancestorAt(api, chain, head.hash, height, stop) : undefined;
    }),
  );
}

/** @returns the higher one where two are in the middle */
function median(heights: readonly bigint[]): bigint {
  return heights.toSorted((a, b) => Number(a - b))[Math.floor(heights.length / 2)];
}

/** @returns the ancestor of a block at a height, 43 characters */
async function ancestorAt(
  api: LookedAt,
  chain: number,
  hash: Uint8Array,
  height: bigint,
  stop?: AbortSignal,
): Promise<string | undefined> {
  const bounds = { upper: [hash], lower: [] };
  const range = { minHeight: height, maxHeight: height };
  try {
    const found =
      (await unlessMissing(first(api.hashBranch(chain, bounds, range, stop)))) ??
      (await unlessMissing(first(api.headerBranch(chain, bounds, range, stop)).then((it) => it && blockHash(it))));
    return found && encodeBase64url(found);
  } catch (error) {
    if (error instanceof NodeError) return undefined;
    throw error;
  }
}

async function first<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}
