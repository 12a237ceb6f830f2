// Measures what mining on a pool costs compared with mining on a node: the hashrate on a mock pool ÷ the hashrate on a
// mock node, per processor second of the hashing threads. Both take turns, so that changes of the machine's speed
// affect both.
//
//   node bench/mining/pool.mjs [--rounds 5] [--seconds 8] [--warm-up 3] [--threads N] [--kernel NAME] [--no-goals] [--out FILE]
//
// The pool and the node are other processes. The pool sends a job every half second, as busy ones do, and gets a share
// per second; the node has about a block per second. Both have another miner's block every three seconds. The exit code
// is 1 when the ratio is below the goal, or the pool did not accept every share that was not stale. It runs only on
// Linux.

import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { PoolSource } from '#pickaxe/miner/source/pool/pool-source.js';
import { median, save } from '../lib/figures.mjs';
import { miningRate } from '../lib/mining-rate.mjs';
import { startMockPoolProcess } from '../lib/mock-pool-process.mjs';
import { startMockProcess } from '../lib/mock-process.mjs';
import { miningRounds } from './mining-rounds.mjs';

const GOAL = 0.98;
const CUT_MS = 3_000;
const JOB_MS = 500;

const { values, rounds, ms, warmUpMs, kernel, threads, newEngine } = await miningRounds({
  goals: { type: 'boolean', default: true },
});

async function onPool(engine) {
  const pool = await startMockPoolProcess({ difficulty: 1e15, shareDifficulty: 1e8, refreshMs: JOB_MS, cutMs: CUT_MS });
  const source = new PoolSource({ url: pool.url, user: 'bench.rig', password: 'x' });
  const rates = await miningRate({ source, engine, ms, warmUpMs, adjust: (rate) => pool.setShareDifficulty(rate) });
  const shares = await pool.report();
  await pool.close();
  return { ...rates, shares };
}

async function onNode(engine) {
  const node = await startMockProcess({ difficulty: 1e8, rivalMs: CUT_MS });
  const miner = { account: 'bench', predicate: 'keys-all', publicKeys: ['0'.repeat(64)] };
  const source = new NodeSource({ url: node.url, network: 'development', miner });
  const rates = await miningRate({ source, engine, ms, warmUpMs, adjust: (rate) => node.setDifficulty(rate) });
  await node.close();
  return rates;
}

const MHs = (rate) => Number((rate / 1e6).toFixed(2));
const rows = [];
for (let round = 0; round < rounds; round++) {
  // The second turn has the warmer chip, so the order changes.
  const order = round % 2 === 0 ? [onPool, onNode] : [onNode, onPool];
  const results = new Map();
  for (const mine of order) results.set(mine, await mine(newEngine()));
  const [pool, node] = [results.get(onPool), results.get(onNode)];
  const { accepted, stale, wrong, low, duplicate } = pool.shares;
  rows.push({
    'pool MH/s per CPU second': MHs(pool.rate),
    'node MH/s per CPU second': MHs(node.rate),
    ratio: Number((pool.rate / node.rate).toFixed(4)),
    'wall ratio': Number((pool.wallRate / node.wallRate).toFixed(4)),
    jobs: pool.works,
    shares: accepted,
    stale,
    refused: wrong + low + duplicate,
  });
}
console.log(`kernel ${kernel}, ${threads} threads`);
console.table(rows);
const result = {
  ratio: median(rows.map(({ ratio }) => ratio)),
  wallRatio: median(rows.map((row) => row['wall ratio'])),
  refused: rows.reduce((sum, { refused }) => sum + refused, 0),
};
console.log(`median ratio ${result.ratio} per processor second, ${result.wallRatio} by the wall clock; goal ${GOAL}`);
save(values.out, { bench: 'pool', goal: GOAL, kernel, threads, rounds: rows, ...result });
const isMissed = values.goals && result.ratio < GOAL;
if (isMissed) console.error(`MISSED: the ratio is ${result.ratio}, the goal is at least ${GOAL}`);
process.exit(isMissed || result.refused > 0 ? 1 : 0);
