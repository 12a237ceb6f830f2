// A mock pool in another process, so that its processor time is not counted as the miner's.
//
// The child gets the pool's options and `cutMs`, the time between other miners' blocks, as its first argument, and
// sends { url }. The message { shareDifficulty } changes what a share takes. The message { report: true } is answered
// with the pool's counts.

import { fileURLToPath } from 'node:url';
import { startForked } from './forked.mjs';
import { MockPool } from './mock-pool.mjs';

export async function startMockPoolProcess(options) {
  const { send, ...pool } = await startForked(fileURLToPath(import.meta.url), options);
  return { ...pool, setShareDifficulty: (shareDifficulty) => send({ shareDifficulty }) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { cutMs, ...options } = JSON.parse(process.argv[2]);
  const pool = new MockPool(options);
  const url = await pool.start();
  setInterval(() => pool.newCut(), cutMs);
  process.on('message', ({ shareDifficulty, report }) => {
    if (shareDifficulty) pool.setShareDifficulty(shareDifficulty);
    if (report) process.send(pool.stats);
  });
  process.on('disconnect', () => process.exit(0));
  process.send({ url });
}
