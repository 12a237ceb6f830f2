// A mock node in another process, so that its processor time is not counted as the miner's.
//
// The child gets { options, chain } as its first argument and sends { url }. The message { cut: true } makes a New Cut.
// The message { report: true } is answered with the times of all New Cuts, in ms of the machine's monotonic clock.

import { fileURLToPath } from 'node:url';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { startForked } from './forked.mjs';
import { MockNode } from './mock-node.mjs';

/** Milliseconds on the clock that all processes and threads of a machine share. */
export const nowMs = systemClock.monotonicMs;

/** @param chain the only chain of the work that is issued. Without it, the node chooses one each time */
export async function startMockProcess(options, chain) {
  const { send, ...node } = await startForked(fileURLToPath(import.meta.url), { options, chain });
  return { ...node, cut: () => send({ cut: true }), setDifficulty: (difficulty) => send({ difficulty }) };
}

/**
 * Time before the neighbouring chains get their blocks. In it the miner moves all threads to its new work, and needs
 * every core.
 */
const NEIGHBOURS_MS = 50;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { options, chain } = JSON.parse(process.argv[2]);
  const onEvent = ({ type }) => {
    if (type === 'work' && chain !== undefined) setTimeout(letNeighboursGoOn, NEIGHBOURS_MS);
  };
  const node = new MockNode(options, { onEvent });
  const { ledger } = node;
  if (chain !== undefined) ledger.pickChain = () => chain;
  /**
   * The next work needs the next blocks of the neighbouring chains. On a real network others find them; here nobody
   * waits.
   */
  function letNeighboursGoOn() {
    const { chains } = ledger;
    for (const other of chains.graph[chain]) ledger.advanceTo(other, chains.heightOf(chain) + 1n);
  }
  const { url } = await node.start();
  const cutsMs = [];
  let isCutting = false;
  // The time of a New Cut is that of its announcement: on a real network the block is found before.
  ledger.follow((update, on) => {
    if (!isCutting || update !== 'New Cut' || (chain !== undefined && on !== chain)) return;
    isCutting = false;
    cutsMs.push(nowMs());
  });
  process.on('message', ({ cut, difficulty, report }) => {
    if (cut) {
      isCutting = true;
      ledger.advance(chain);
    }
    if (difficulty) ledger.difficulty = difficulty;
    if (report) process.send({ cutsMs, stats: { ...ledger.stats, records: [] } });
  });
  process.on('disconnect', () => node.close().then(() => process.exit(0)));
  process.send({ url });
}
