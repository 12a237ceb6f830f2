/** Blocks whose answers a node loses, from the solution to the block's final state. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { blocks } from '#pickaxe/app/composition/sidecars.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Submitter } from '#pickaxe/miner/source/submitter.js';
import type { FaultInput } from '#pickaxe/mock-node/server/faults.js';
import { eventually, mine } from '../../miner/source/follow.ts';
import { followNode, miner, nodesOf } from '../../miner/source/node/node.ts';
import { idleMiner } from './sidecars/fakes.ts';

const startNode = nodesOf('chainweb');

/** Mines one block, whose answer is lost by these faults, with the block log beside it. */
async function mined(faults: FaultInput[]) {
  const { node, url } = await startNode({ reward: '2.5' });
  const { source, follower } = followNode(url);
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { running, recorded } = idleMiner();
  const end = await blocks({
    settings: { log: true, settledDepth: 6, folder },
    node: { urls: [url], network: 'development', insecureTls: false },
    ledger: { dialect: 'auto' },
    account: miner.account,
    speed: 10_000,
  })!(running);
  onTestFinished(async () => end());
  const { emit } = running.events;
  const submitter = new Submitter({ source, emit, clock: systemClock, isStale: () => false });
  const work = await follower.work();
  node.server.faults = faults;
  submitter.submit(mine(work), { name: 'cpu', isRelay: false }, follower.stop);
  await submitter.settled();
  expect(recorded.of('verdict')).toMatchObject([{ outcome: 'unknown' }]);
  await eventually(() => expect(recorded.of('block-state')).toMatchObject([{ state: 'unanswered' }]));
  return { node, work, recorded, running };
}

test('a block that the node took is found on its chain and earns its reward', async () => {
  const { node, work, recorded, running } = await mined([{ endpoint: 'solved', kind: 'lost-answer', times: 1 }]);
  node.ledger.advance(work.chain);
  await eventually(() =>
    expect(recorded.of('block-state').at(-1)).toMatchObject({ state: 'won', previous: 'unanswered' }),
  );
  expect(recorded.of('block-state').at(-1)).toMatchObject({ reward: '2.5', fees: '0.0' });
  expect(node.ledger.stats.accepted).toBe(1);
  expect(running.tally.summary().acceptedBlocks).toMatchObject({ won: 1, orphaned: 0, unanswered: 0, lost: 0 });
});

test('a block that the node has never seen is lost, and is no orphan', async () => {
  const { node, work, recorded, running } = await mined([
    { endpoint: 'solved', kind: 'drop', times: 1 },
    { endpoint: 'solved', kind: 'status', status: 404, text: 'No associated Payload' },
  ]);
  for (let i = 0; i < 2; i++) node.ledger.advance(work.chain);
  await eventually(() => expect(recorded.of('block-state').at(-1)).toMatchObject({ state: 'lost' }));
  expect(node.ledger.stats.submissions).toBe(0);
  expect(running.tally.summary().acceptedBlocks).toMatchObject({ won: 0, orphaned: 0, unanswered: 0, lost: 1 });
});
