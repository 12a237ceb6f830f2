// A mock node that records when a work went stale: when its parent was no longer the tip of its chain.

import { MockNode } from '../../../bench/lib/mock-node.mjs';
import { nowMs } from './timed-records.mjs';

/** @param options of the mock node */
export async function startWatchedNode(options) {
  /** When each block came, by its chain and height. */
  const blocksMs = new Map();
  const onEvent = (event) => {
    if (event.type === 'block') blocksMs.set(`${event.chain}/${event.height}`, nowMs());
  };
  // The target is so easy that a miner solves it within milliseconds.
  const node = new MockNode({ chains: 4, difficulty: 100, ...options }, { onEvent });
  const { url } = await node.start();
  const staleFromMs = ({ chain, height }) => blocksMs.get(`${chain}/${height}`) ?? Number.POSITIVE_INFINITY;
  return {
    node,
    url,
    staleFromMs,
    /** Whether a miner is on work that was not stale when the miner began with it. */
    isFresh: ({ work, atMs }) => work !== undefined && staleFromMs(work) > atMs,
    advanceAll() {
      for (let chain = 0; chain < node.ledger.settings.chains; chain++) node.ledger.advance(chain);
    },
  };
}
