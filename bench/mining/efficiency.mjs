// Measures what mining costs compared with hashing: the hashrate while mining ÷ the bare kernel's rate, per processor
// second of the hashing threads, with the same number of threads. Mining and the bare kernel take turns, so that
// changes of the machine's speed affect both.
//
//   node bench/mining/efficiency.mjs [--rounds 5] [--seconds 8] [--warm-up 3] [--threads N] [--kernel NAME] [--out FILE]
//
// The whole miner runs against a mock node in another process, with about a block per second, another miner's block
// every few seconds, and update streams that end every 5 s. It runs only on Linux, because it reads the scheduler's
// statistics.

import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { median, save } from '../lib/figures.mjs';
import { startKernelThreads } from '../lib/kernel-threads.mjs';
import { miningRate } from '../lib/mining-rate.mjs';
import { startMockProcess } from '../lib/mock-process.mjs';
import { miningRounds } from './mining-rounds.mjs';

const { values, rounds, ms, warmUpMs, kernel, threads, newEngine } = await miningRounds();

async function mining(engine) {
  const node = await startMockProcess({ difficulty: 1e8, rivalMs: 3_000, streamMs: 5_000 });
  const miner = { account: 'bench', predicate: 'keys-all', publicKeys: ['0'.repeat(64)] };
  const source = new NodeSource({ url: node.url, network: 'development', miner });
  let accepted = 0;
  const finish = async () => {
    accepted = (await node.report()).stats.accepted;
  };
  const adjust = (rate) => node.setDifficulty(rate);
  const rates = await miningRate({ source, engine, ms, warmUpMs, adjust, finish });
  await node.close();
  return { ...rates, accepted };
}

async function bareKernel(kernel, threads) {
  const { runRound, close } = await startKernelThreads(kernel, threads);
  const result = await runRound(ms);
  await close();
  return result;
}

const rows = [];
for (let i = 0; i < rounds; i++) {
  const mined = await mining(newEngine());
  const bare = await bareKernel(kernel, threads);
  const MHs = (rate) => Number((rate / 1e6).toFixed(2));
  rows.push({
    'mining MH/s per CPU second': MHs(mined.rate),
    'kernel MH/s per CPU second': MHs(bare.rate),
    ratio: Number((mined.rate / bare.rate).toFixed(4)),
    'mining MH/s': MHs(mined.wallRate),
    'kernel MH/s': MHs(bare.wallRate),
    'wall ratio': Number((mined.wallRate / bare.wallRate).toFixed(4)),
    blocks: mined.accepted,
  });
}
console.log(`kernel ${kernel}, ${threads} threads`);
console.table(rows);
const result = {
  ratio: median(rows.map(({ ratio }) => ratio)),
  wallRatio: median(rows.map((row) => row['wall ratio'])),
};
console.log(`median ratio ${result.ratio} per processor second, ${result.wallRatio} by the wall clock`);
save(values.out, { bench: 'efficiency', kernel, threads, rounds: rows, ...result });
process.exit(0);
