/** Looks at several nodes of one network, and judges them. */

import type { Cut } from '../ledger/cut.ts';
import { commonBlocks } from './branches.ts';
import { isOther, type Judgement, judge, type Seen } from './judge.ts';
import { type Look, type LookedAt, lookAt } from './look.ts';

/** A node to look at. */
export interface Candidate {
  /** Safe to show. */
  readonly name: string;
  readonly isConfigured: boolean;
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
  const seen = candidates.map(({ isConfigured }, i): Seen => {
    return { look: looks[i], isConfigured, commonBlock: blocks[i], noWork: work[i]?.reason };
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
  const followers = candidates.flatMap(({ api, isConfigured }, i) => {
    const { cut, network: served } = looks[i];
    return typeof api !== 'string' && cut && !isOther(served, network)
      ? [{ api, isConfigured, cut: cut satisfies Cut, i }]
      : [];
  });
  const found = await commonBlocks(followers, stop);
  const blocks: (string | undefined)[] = candidates.map(() => undefined);
  for (const [n, { i }] of followers.entries()) blocks[i] = found[n];
  return blocks;
}
