/** A mock node and a source on it, closed after each test. */

import { onTestFinished } from 'vitest';
import { NodeSource, type NodeSourceContext, type NodeSourceOptions } from '#pickaxe/miner/source/node/node-source.js';
import type { NodeLimits } from '#pickaxe/node/http/request-limits.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { Recorder } from '../../../fakes.ts';
import { MockNode, type OtherOptions } from '../../../mock-node/node.ts';
import { Follower } from '../follow.ts';

const key = '0123456789abcdef'.repeat(4);
export const miner = { account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] } as const;

/** Solutions within a few hundred hashes, and the same choices each time. */
const EASY: OtherOptions = { difficulty: 100, seed: 7 };

/**
 * Faults are tried again sooner than in the world. All else that happens by itself takes longer than a test waits, so
 * that what should happen at once cannot be brought about by a time limit instead. A test of such a limit sets it.
 */
const LONG_MS = 600_000;
const QUICK: Partial<NodeLimits> = {
  workTimeoutMs: LONG_MS,
  solvedTimeoutMs: LONG_MS,
  solvedAfterMs: LONG_MS,
  pollMs: LONG_MS,
  refreshMs: LONG_MS,
  hurryMs: LONG_MS,
  expiryMs: LONG_MS,
  maxStreamMs: LONG_MS,
  noStreamsPauseMs: LONG_MS,
  fetchPauses: { firstMs: 20, mostMs: 200 },
  submitPauses: { firstMs: 20, mostMs: 200 },
  streamPauses: { firstMs: 20, mostMs: 1_000 },
};

/** @returns what starts nodes that serve this alone */
export function nodesOf(dialect: Dialect) {
  return (options: OtherOptions = {}) => startNode(dialect, options);
}

async function startNode(dialect: Dialect, options: OtherOptions): Promise<{ node: MockNode; url: string }> {
  const node = new MockNode({ dialect, ...EASY, ...options });
  onTestFinished(() => node.close());
  const { url } = await node.start();
  return { node, url };
}

export function followNode(
  url: string,
  limits: Partial<NodeLimits> = {},
  options: Partial<NodeSourceOptions> = {},
  others: Partial<NodeSourceContext> = {},
): { source: NodeSource; follower: Follower; recorder: Recorder } {
  const recorder = new Recorder();
  const surroundings = { emit: recorder.listen, limits: { ...QUICK, ...limits }, ...others };
  const source = new NodeSource({ url, network: 'development', miner, ...options }, surroundings);
  const follower = new Follower(source);
  onTestFinished(() => follower.end());
  return { source, follower, recorder };
}
