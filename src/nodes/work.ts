/** Asks a node once whether it gives work to a miner. */

import type { Trust } from '../net/trust.ts';
import { NodeClock } from '../node/clock.ts';
import { NodeError } from '../node/errors.ts';
import { NodeHttp } from '../node/http.ts';
import { nodeLimits } from '../node/limits.ts';
import type { MinerIdentity } from '../node/miner-identity.ts';
import { getWork } from '../node/mining.ts';
import { nodeAddress } from '../node/url.ts';
import { systemClock } from '../system/clock.ts';

export interface WorkQuestion {
  /** As for mining: a URL without a path gets that of document 1. */
  readonly url: string;
  readonly network: string;
  readonly trust: Trust;
  readonly miner: MinerIdentity;
  readonly userAgent: string;
  /** Whether only strangers have named the node, as `NodeHttpOptions` has it. */
  readonly isStranger?: boolean;
}

/** @returns why the node gives no work; undefined when it does */
export async function whyNoWork(
  question: WorkQuestion,
  stop: AbortSignal = new AbortController().signal,
): Promise<string | undefined> {
  const { url, network, trust, miner, userAgent, isStranger = false } = question;
  const clock = systemClock;
  const address = nodeAddress(url, network);
  const http = new NodeHttp({
    address,
    trust,
    userAgent,
    isStranger,
    nodeClock: new NodeClock(clock),
    clock,
    limits: nodeLimits,
  });
  try {
    await getWork(http, miner, stop);
    return undefined;
  } catch (error) {
    if (error instanceof NodeError) return error.message;
    throw error;
  } finally {
    await http.close();
  }
}
