// Measures what random faults of a node cost. Two miners run at the same time on the same cores: one on a node that
// answers --percent of the requests wrongly, late or not at all, the other one on a node without faults.
//
//   node test/faults/faulty-node.mjs [--seconds 600] [--percent 6] [--sessions 10] [--difficulty 4194304] [--json]
//     [--out FILE]
//
// Both miners do everything that a rig can: each has a hashing thread, a stratum server with --sessions sessions that
// hash, an external worker, and an HTTP server that is asked for its status each second. Both nodes have 20 chains,
// another miner's block every 1.5 s and update streams that end every 4 s. A miner finds a block each five seconds, at
// that difficulty on an idle machine. The result for each: the hashrate of its thread, the verdicts of the node's
// referee on its submissions, and how often it has asked for work and for update streams in a second. The exit code is
// 1 when a submission was invalid or counted twice, when a miner has asked for work more often than docs/node.md says,
// or when --seconds is at least 120 and the hashrate beside faults is less than 0.98 of the other one.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BuiltPickaxe, HTTP_URL, STRATUM_PORT } from '../../bench/lib/built-pickaxe.mjs';
import { printHeading, printTable, quantile, save } from '../../bench/lib/figures.mjs';
import { rssKib } from '../../bench/lib/process-cpu.mjs';
import { answersOf, StratumClient } from '../../bench/stratum/stratum-client.mjs';
import { startCountedNode } from './lib/counted-node.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    percent: { type: 'string', default: '6' },
    sessions: { type: 'string', default: '10' },
    difficulty: { type: 'string', default: '4194304' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const sessions = Number(values.sessions);

/** Each kind hits an equal part of the requests. */
const KINDS = [
  { kind: 'drop' },
  { kind: 'delay', delayMs: 300 },
  { kind: 'unavailable' },
  { kind: 'wrong-length', endpoint: 'work' },
  { kind: 'garbage' },
  { kind: 'captive-portal' },
  { kind: 'lost-answer' },
  { kind: 'hang' },
  { kind: 'broken-body' },
  { kind: 'status', status: 500, text: 'Internal Server Error' },
  { kind: 'end-stream', endpoint: 'updates' },
];
const probability = Number(values.percent) / 100 / KINDS.length;
const FAULTS = KINDS.map((fault) => ({ endpoint: 'any', probability, ...fault }));

const NODE = {
  chains: 20,
  difficulty: Number(values.difficulty),
  lateSolutions: 'refuse',
  rivalMs: 1_500,
  streamMs: 4_000,
};
/**
 * Mean time between a miner's blocks. The miner waits for each answer, so with a block every second, the hashrate would
 * depend on how long lost answers are waited for.
 */
const BLOCK_SECONDS = 5;
/** Time between two searches of the sessions, which hash little. */
const SESSION_MS = 200;
const SESSION_NONCES = 200;
/** The bounds of docs/node.md: requests for work at once, and requests a second from then on. */
const [, burst, perSecond] = /\| requests for work \| (\d+) \| (\d+) a second/
  .exec(readFileSync(new URL('../../docs/node.md', import.meta.url), 'utf8'))
  .map(Number);
const LEAST_RATIO = 0.98;
const LONG_ENOUGH_S = 120;

const externalWorker = fileURLToPath(new URL('./lib/slow-external-worker.mjs', import.meta.url));

if (!values.json) printHeading();
const rigs = await Promise.all([startRig('with faults', FAULTS), startRig('without', [])]);
const results = await Promise.all(rigs.map((rig) => rig.ended()));
const [faulty, faultless] = results;
const ratio = faulty.MHs / faultless.MHs;
const result = { bench: 'faulty-node', seconds, percent: Number(values.percent), ratio, rigs: results };
if (values.json) console.log(JSON.stringify(result));
else {
  printTable(
    [
      'rig',
      'MH/s',
      'submitted',
      'accepted',
      'invalid',
      'doubled',
      'sent again',
      'stale',
      'work/s p50',
      'max',
      'streams/s p50',
      'max',
      'RSS MiB',
    ],
    results.map(({ rig, MHs, ledger, work, updates, rssMib }) => [
      rig,
      MHs.toFixed(2),
      ledger.submissions,
      ledger.accepted,
      ledger.rejected,
      ledger.doubled,
      ledger.duplicates,
      ledger.stale,
      work.p50,
      work.max,
      updates.p50,
      updates.max,
      rssMib.join(' → '),
    ]),
  );
  console.log(`hashrate with faults ÷ without: ${ratio.toFixed(3)}`);
  for (const { rig, shares, requests } of results) console.log(rig, JSON.stringify({ shares, requests }));
}
save(values.out, result);
const faults = results.flatMap(({ rig, exitCode, ledger, reasons, work }) =>
  [
    [exitCode !== 0, `ended with exit code ${exitCode}`],
    [ledger.accepted === 0, 'had no block accepted'],
    [ledger.rejected > 0, `had ${ledger.rejected} invalid submissions: ${reasons}`],
    [ledger.doubled > 0, `had ${ledger.doubled} solutions accepted twice`],
    [work.max > burst + perSecond, `asked for work ${work.max} times in a second`],
  ].flatMap(([bad, what]) => (bad ? [`the miner ${rig} ${what}`] : [])),
);
if (seconds >= LONG_ENOUGH_S && ratio < LEAST_RATIO)
  faults.push(`the hashrate is ${ratio.toFixed(3)} of the other one`);
for (const fault of faults) console.error(`FAILED: ${fault}`);
process.exit(faults.length === 0 ? 0 : 1);

async function startRig(rig, script) {
  const node = await startCountedNode({ ...NODE, seed: 1 }, script);
  const mine = ['mine', '--node', node.url, '--network', 'development', '--public-key', '0'.repeat(64), '--json'];
  const serve = [
    '--stratum-listen',
    '0',
    '--http',
    '0',
    '--external-worker',
    `"${process.execPath}" "${externalWorker}"`,
  ];
  const hash = ['--devices', 'cpu', '--threads', '1', '--duration', String(seconds)];
  const miner = new BuiltPickaxe([...mine, ...serve, ...hash]);
  const clients = [];
  const timers = [];
  const rssMib = [];
  miner.onLine(({ type, hashesPerSecond }) => {
    if (type === 'hashrate' && hashesPerSecond > 0) node.setDifficulty(hashesPerSecond * BLOCK_SECONDS);
  });
  serveSessions(Number(await miner.logged(STRATUM_PORT)));
  const url = await miner.logged(HTTP_URL);
  timers.push(setInterval(() => ask(`${url}/api/v1/status`), 1_000));
  function mineAll() {
    for (const client of clients) client.mine(SESSION_NONCES);
  }
  function serveSessions(port) {
    for (let i = 0; i < sessions; i++) {
      const client = new StratumClient(port);
      client.login(`session${i}`, { password: 'd=0.00001' });
      clients.push(client);
    }
    timers.push(setInterval(mineAll, SESSION_MS));
  }
  const sampling = setInterval(() => {
    const kib = rssKib(miner.pid);
    if (kib) rssMib.push(Math.round(kib / 1024));
  }, 1_000);
  return {
    async ended() {
      const exitCode = await miner.ended;
      for (const timer of [sampling, ...timers]) clearInterval(timer);
      const [summary] = miner.of('summary');
      const { ledger, reasons, requests, perSecond: counts } = await node.report();
      await node.close();
      const rate = (each) => ({ p50: quantile(each, 0.5), max: Math.max(...each) });
      return {
        rig,
        exitCode,
        MHs: summary ? summary.devices.cpu.hashes / summary.uptimeSeconds / 1e6 : 0,
        ledger,
        reasons,
        requests,
        work: rate(counts.work),
        updates: rate(counts.updates),
        shares: answersOf(clients),
        rssMib: [rssMib[Math.min(60, rssMib.length >> 1)], rssMib.at(-1)],
      };
    },
  };
}

async function ask(url) {
  try {
    await (await fetch(url)).arrayBuffer();
  } catch {} // The miner has just ended.
}
