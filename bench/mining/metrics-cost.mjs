// Measures what requests over HTTP cost: the hashrate while metrics and status are requested ÷ the hashrate without, in
// turns.
//
//   node bench/mining/metrics-cost.mjs [--rounds 8] [--seconds 5] [--every-ms 1000] [--warm-up 10] [--out FILE]
//
// `pickaxe mine` runs on the CPU, against a mock node in another process. Every --every-ms it gets requests for
// /metrics and /api/v1/status, like those of Prometheus and the web page (which come every 15 s and every 2 s). Each
// round is with, without, without, with, so that a drift of the machine's speed affects both. On a busy machine that
// ratio says little, so the processor time of the miner's main thread is compared, too, and the difference is given as
// a fraction of the time of all hashing threads. It runs only on Linux, because it reads the scheduler's statistics.

import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BuiltPickaxe, HTTP_URL } from '../lib/built-pickaxe.mjs';
import { median, printHeading, printTable, save } from '../lib/figures.mjs';
import { startMockProcess } from '../lib/mock-process.mjs';
import { mainThreadMs } from '../lib/process-cpu.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '5' },
    'every-ms': { type: 'string', default: '1000' },
    // In this time kernels are chosen and code is compiled.
    'warm-up': { type: 'string', default: '10' },
    out: { type: 'string' },
  },
});
const [rounds, seconds, everyMs, warmUp] = ['rounds', 'seconds', 'every-ms', 'warm-up'].map((name) =>
  Number(values[name]),
);
const KEY = '0'.repeat(64);

printHeading();
const node = await startMockProcess({ difficulty: 2 ** 40, rivalMs: 3_000 });
const mine = ['mine', '--node', node.url, '--network', 'development', '--public-key', KEY];
const miner = new BuiltPickaxe([...mine, '--devices', 'cpu', '--http', '0']);
const url = await miner.logged(HTTP_URL);
const status = async () => (await fetch(`${url}/api/v1/status`)).json();
await sleep(1000 * warmUp);
while ((await status()).hashes === 0) await sleep(100);

let answers = 0;
const turns = [];
for (let round = 0; round < rounds; round++) {
  const turn = [];
  for (const asked of [true, false, false, true]) turn.push({ asked, ...(await measure(asked)) });
  turns.push(turn);
}
await miner.stop();
await node.close();

/** @returns the mean of a round's two turns of one kind */
const mean = (turn, asked, figure) =>
  turn.filter((each) => each.asked === asked).reduce((sum, each) => sum + each[figure], 0) / 2;
const rows = turns.map((turn) => {
  const [withMHs, withoutMHs] = [true, false].map((asked) => mean(turn, asked, 'hashesPerSecond') / 1e6);
  const [withMs, withoutMs] = [true, false].map((asked) => mean(turn, asked, 'mainMs'));
  return { withMHs, withoutMHs, ratio: withMHs / withoutMHs, withMs, withoutMs };
});
printTable(
  ['MH/s, asked', 'not asked', 'ratio', 'ms of the main thread a second, asked', 'not asked'],
  rows.map((row) => Object.values(row).map((value) => value.toFixed(3))),
);
const ratio = median(rows.map((row) => row.ratio));
const addedMs = median(rows.map(({ withMs, withoutMs }) => withMs - withoutMs));
const threads = availableParallelism();
const percent = addedMs / (10 * threads);
console.log(`hashrate while it is asked ÷ while not: median ${ratio.toFixed(4)}`);
console.log(`asked every ${everyMs} ms, it takes ${addedMs.toFixed(2)} ms of CPU more a second: `);
console.log(`${percent.toFixed(3)} % of what ${threads} hashing threads have`);
save(values.out, { bench: 'metrics-cost', everyMs, threads, rows, ratio, addedMs, percent, answers });
process.exit(0);

/** Measures one turn: the hashrate, and the fraction of a second that the miner's main thread needs. */
async function measure(asked) {
  const before = { ...(await status()), mainMs: mainThreadMs(miner.pid), ms: performance.now() };
  const endMs = before.ms + 1000 * seconds;
  // On a busy machine a short turn may end before a thread has reported anything.
  while (performance.now() < endMs || (await status()).hashes === before.hashes) {
    await sleep(Math.max(Math.min(everyMs, endMs - performance.now()), 1));
    if (!asked || performance.now() >= endMs) continue;
    for (const path of ['/metrics', '/api/v1/status']) await (await fetch(url + path)).text();
    answers++;
  }
  const tookS = (performance.now() - before.ms) / 1000;
  const mainMs = (mainThreadMs(miner.pid) - before.mainMs) / tookS;
  return { hashesPerSecond: ((await status()).hashes - before.hashes) / tookS, mainMs };
}
