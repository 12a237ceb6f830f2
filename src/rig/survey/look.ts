/** Asks a node which network it serves and which blocks are its newest. */

import { within } from '../../base/system/abort.ts';
import type { Clock } from '../../base/system/clock.ts';
import type { NodeApi } from '../../node/client/node-api.ts';
import type { Skew } from '../../node/http/node-clock.ts';
import { NodeError, unlessMissing } from '../../node/http/node-error.ts';
import type { Cut, Head } from '../../protocol/ledger/cut.ts';
import { blockHash } from '../../protocol/ledger/header.ts';

/**
 * A node whose newest block is younger than this is up to date. The 20 chains of a network together have a new block
 * about every 1.5 s.
 */
export const YOUNG_MS = 60_000;

/**
 * Time limit for all requests to a node together, so that a slow node does not delay the findings about other nodes.
 */
const LOOK_MS = 30_000;

export interface Look {
  /** The network that the node serves; foreign text. */
  readonly network?: string;
  /** The version of the node's software, safe to show. */
  readonly software?: string;
  readonly cut?: Cut;
  /** Newest creation time that the function `newestBlockUs` has found, in µs since the UNIX epoch. */
  readonly newestBlockUs?: bigint;
  readonly skew?: Skew;
  /** The error because of which answers are missing; absent without an error. */
  readonly fault?: string;
}

export type LookedAt = Pick<
  NodeApi,
  'info' | 'cut' | 'header' | 'blocks' | 'hashBranch' | 'headerBranch' | 'nodeVersion' | 'skew'
>;

/**
 * @param clock this machine's clock, with which the age of blocks is computed
 * @param mostMs time limit for all requests together
 * @returns what the node has answered, with a `fault` if answers are missing
 */
export async function lookAt(
  api: LookedAt,
  clock: Clock,
  stop: AbortSignal = new AbortController().signal,
  mostMs = LOOK_MS,
): Promise<Look> {
  const look: { -readonly [Key in keyof Look]: Look[Key] } = {};
  const nowUs = clock.nowUs();
  try {
    await within(clock, mostMs, stop, async (signal) => {
      // Not every node reports its network here, and a P2P port never does.
      const info = await unlessMissing(api.info(signal));
      if (info) look.network = info.network;
      look.cut = await api.cut({}, signal);
      if (look.network === undefined && look.cut.network !== undefined) look.network = look.cut.network;
      const newest = await newestBlockUs(api, look.cut, nowUs, signal);
      if (newest !== undefined) look.newestBlockUs = newest;
    });
  } catch (error) {
    stop.throwIfAborted();
    if (isTimeout(error)) look.fault = `some answers have not come within ${mostMs / 1000} s`;
    else if (error instanceof NodeError) {
      look.fault = error.message;
      if (error.network !== undefined) look.network = error.network;
    } else throw error;
  }
  if (api.nodeVersion !== undefined) look.software = api.nodeVersion;
  if (api.skew) look.skew = api.skew;
  return look;
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

/**
 * Asks for the head of the highest chain, which is usually young. If it is not young, asks for the heads of the other
 * chains, from high to low, until one is young.
 * @returns the newest creation time of these blocks, in µs since the UNIX epoch; undefined if the node does not serve
 *   the head of the highest chain
 */
async function newestBlockUs(
  api: LookedAt,
  { heads }: Cut,
  nowUs: bigint,
  stop?: AbortSignal,
): Promise<bigint | undefined> {
  const highestFirst = [...heads].sort(([, a], [, b]) => Number(b.height - a.height));
  let newest: bigint | undefined;
  for (const [chain, head] of highestFirst) {
    const timeUs = await timeOfBlock(api, chain, head, stop);
    if (timeUs !== undefined && (newest === undefined || timeUs > newest)) newest = timeUs;
    if (newest === undefined || nowUs - newest < BigInt(YOUNG_MS) * 1000n) break;
  }
  return newest;
}

/** @returns the creation time of a block; undefined if the node serves neither the block's header nor the block */
async function timeOfBlock(
  api: LookedAt,
  chain: number,
  { height, hash }: Head,
  stop?: AbortSignal,
): Promise<bigint | undefined> {
  const header = await unlessMissing(api.header(chain, hash, stop));
  if (header) return header.creationTimeUs;
  return await unlessMissing(
    (async () => {
      for await (const { header } of api.blocks(chain, { minHeight: height, maxHeight: height }, stop)) {
        if (Buffer.compare(blockHash(header), hash) === 0) return header.creationTimeUs;
      }
      return undefined;
    })(),
  );
}
