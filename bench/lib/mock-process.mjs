// A mock node in another process, so that its processor time is not counted as the miner's.
//
// The child gets { options, chain } as its first argument and sends { url }. The message { cut: true } makes a New Cut. The message
// { report: true } is answered with the times of all New Cuts, in ms of the machine's monotonic clock.

import { fileURLToPath } from 'node:url';
import { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { systemClock } from '#pickaxe/system/clock.js';
import { startForked } from './forked.mjs';

/** Milliseconds on the clock that all processes and threads of a machine share. */
export const nowMs = systemClock.monotonicMs;

/** @param chain the only chain of the work that is issued. Without it, the node chooses one each time */
export async function startMockProcess(options, chain) {
  const { send, ...node } = await startForked(fileURLToPath(import.meta.url), { options, chain });
  return { ...node, cut: () => send({ cut: true }), setDifficulty: (difficulty) => send({ difficulty }) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { options, chain } = JSON.parse(process.argv[2]);
  const node = new MockNode(options);
  if (chain !== undefined) node.ledger.pickChain = () => chain;
  const { url } = await node.start();
  const cutsMs = [];
  process.on('message', ({ cut, difficulty, report }) => {
    if (cut) {
      cutsMs.push(nowMs());
      node.ledger.advance(chain);
    }
    if (difficulty) node.ledger.difficulty = difficulty;
    if (report) process.send({ cutsMs, stats: { ...node.ledger.stats, records: [] } });
  });
  process.on('disconnect', () => node.close().then(() => process.exit(0)));
  process.send({ url });
}
