// A mock node with a script of faults in another process, which counts what a miner asks it each second.
//
// The child gets { options, faults } as its first argument and sends { url }. The message { difficulty } sets the
// difficulty. The message { report: true } is answered with the counts so far.

import { fileURLToPath } from 'node:url';
import { startForked } from '../../../bench/lib/forked.mjs';
import { MockNode } from '../../../bench/lib/mock-node.mjs';

/** @param faults the script of faults, as the mock node's options have it */
export async function startCountedNode(options, faults = []) {
  const { send, ...node } = await startForked(fileURLToPath(import.meta.url), { options, faults });
  return { ...node, setDifficulty: (difficulty) => send({ difficulty }) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { options, faults } = JSON.parse(process.argv[2]);
  const node = new MockNode(options);
  node.server.faults = faults;
  const { ledger, server } = node;
  const { url } = await node.start();
  const perSecond = { work: [], updates: [] };
  let before = { ...server.stats.requests };
  setInterval(() => {
    const now = { ...server.stats.requests };
    for (const endpoint of Object.keys(perSecond)) perSecond[endpoint].push(now[endpoint] - before[endpoint]);
    before = now;
  }, 1_000);
  process.on('message', ({ difficulty, report }) => {
    if (difficulty) ledger.difficulty = difficulty;
    if (!report) return;
    const { submissions, accepted, rejected, stale, duplicates, orphaned, workIssued, rivalBlocks } = ledger.stats;
    // A solution whose answer was lost is sent again, and rightly so. It must not count twice.
    const doubled = ledger.stats.records.filter(({ outcome, duplicate }) => outcome === 'accepted' && duplicate).length;
    const reasons = ledger.stats.records.filter(({ outcome }) => outcome === 'rejected').map(({ reason }) => reason);
    process.send({
      ledger: { submissions, accepted, rejected, stale, duplicates, doubled, orphaned, workIssued, rivalBlocks },
      reasons: [...new Set(reasons)],
      requests: { ...server.stats.requests },
      perSecond,
    });
  });
  process.on('disconnect', () => node.close().then(() => process.exit(0)));
  process.send({ url });
}
