// Measures a stratum server under load: 1,000 sessions on one server process.
//
//   node bench/stratum/stratum.mjs [--sessions 1000] [--cuts 40] [--seconds 20] [--short] [--no-goals] [--json] [--out FILE]
//
// The result: the time from a New Cut at the node to the notify of the last session, and from the first session's to
// the last one's, while no shares come and while they do; how many shares a second the server takes; memory and
// processor time; how many sessions had the nonce1 of another (from the share log, which names each session with
// shares); and the answers to shares. The clients are in the process of the benchmark, really hash, and take new
// targets with the next job, at once, or late. Fails (exit 1) when the 99th percentile of the last notify is above 100
// ms, a nonce1 was doubled, or a share was refused. Loopback only. Linux only: it reads /proc.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printHeading, printTable, quantiles, save } from '../lib/figures.mjs';
import { until } from '../lib/until.mjs';
import { answersOf, HABITS, StratumClient } from './stratum-client.mjs';
import { sharesIn, startStratumServer } from './stratum-server.mjs';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string' },
    cuts: { type: 'string' },
    seconds: { type: 'string' },
    short: { type: 'boolean', default: false },
    'no-goals': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const usual = values.short ? { sessions: 100, cuts: 5, seconds: 2 } : { sessions: 1_000, cuts: 40, seconds: 20 };
const [sessions, cuts, seconds] = ['sessions', 'cuts', 'seconds'].map((name) => Number(values[name] ?? usual[name]));

const MOST_LAST_NOTIFY_MS = 100;
/** Number of sessions that connect at once: a server's queue of waiting connections is finite. */
const AT_ONCE = 100;
/** After a New Cut that comes this long after the last one, a node's work is fetched at once. */
const SPACING_MS = 500;
/** How long the sessions have until the first New Cut, for code to be compiled. */
const WARM_UP_MS = 2_000;
/** 215 hashes a share, at first. */
const SUGGESTED = 5e-8;
const NONCES_A_TURN = 200;

if (!values.json) printHeading();
const server = await startStratumServer();
const emptyMib = server.rssMib();
const clients = await connectAll();
await sleep(WARM_UP_MS);
const quiet = await cutAll();

const mining = { on: true };
const mined = mineAll(mining);
await sleep(WARM_UP_MS);
const before = { answers: total(), mainMs: server.mainMs(), ms: performance.now() };
const [busy] = await Promise.all([cutAll(), sleep(1_000 * seconds)]);
const tookSeconds = (performance.now() - before.ms) / 1_000;
const sharesPerSecond = (total() - before.answers) / tookSeconds;
const mainPercent = (server.mainMs() - before.mainMs) / (10 * tookSeconds);
mining.on = false;
await mined;
await until(() => clients.every(({ waiting, isOpen }) => waiting === 0 || !isOpen));

const rssMib = server.rssMib();
const rssPeakMib = server.rssPeakMib();
const lost = clients.filter(({ isOpen }) => !isOpen).length;
const answers = answersOf(clients);
const latencies = clients.flatMap(({ latencies }) => latencies);
const retargets = clients.reduce((sum, client) => sum + client.retargets, 0);
for (const { socket } of clients) socket.destroy();
const ledger = await server.close();
const begun = ledger.filter(({ type }) => type === 'session').map(({ nonce1 }) => nonce1);
const doubledNonce1 = begun.length - new Set(begun).size;
const unwritten = sharesIn(ledger) - Object.values(answers).reduce((a, b) => a + b, 0);
const { accepted = 0, '21 stale': stale = 0, ...refused } = answers;
const result = {
  bench: 'stratum',
  sessions,
  cuts,
  lastNotifyMs: { quiet: quantiles(quiet.last), busy: quantiles(busy.last) },
  fanOutMs: { quiet: quantiles(quiet.fanOut), busy: quantiles(busy.fanOut) },
  shares: { perSecond: sharesPerSecond, answerMs: quantiles(latencies), accepted, stale, refused },
  retargets,
  mainPercent,
  memoryMib: { empty: emptyMib, full: rssMib, peak: rssPeakMib },
  doubledNonce1,
  ledgerLinesLost: unwritten === 0 ? 0 : -unwritten,
  sessionsLost: lost,
};
if (values.json) console.log(JSON.stringify(result));
else print(result);
save(values.out, result);

const faults = [
  ...(result.lastNotifyMs.quiet.p99 > MOST_LAST_NOTIFY_MS ? ['the last notify came late'] : []),
  ...(doubledNonce1 > 0 ? [`${doubledNonce1} sessions had the nonce1 of another`] : []),
  ...(Object.keys(refused).length > 0 ? [`shares were refused: ${JSON.stringify(refused)}`] : []),
  ...(lost > 0 ? [`${lost} sessions were lost`] : []),
  ...(unwritten !== 0 ? ['the ledger has another number of shares'] : []),
];
for (const fault of faults) console.error(`FAILED: ${fault}`);
process.exit(faults.length === 0 || values['no-goals'] ? 0 : 1);

async function connectAll() {
  const all = [];
  while (all.length < sessions) {
    const some = Array.from({ length: Math.min(AT_ONCE, sessions - all.length) }, (_, i) => {
      return new StratumClient(server.port, { habit: HABITS[(all.length + i) % HABITS.length] });
    });
    for (const [i, client] of some.entries()) client.login(`rig${all.length + i}`, { suggest: SUGGESTED });
    await until(() => some.every(({ cleanMs }) => cleanMs > 0));
    all.push(...some);
  }
  return all;
}

/**
 * Makes New Cuts.
 * @returns for each of them, how long the last notify took, in ms, and how much longer than the first one
 */
async function cutAll() {
  const [last, fanOut] = [[], []];
  const { cutsMs: earlier } = await server.node.report();
  for (let cut = 0; cut < cuts; cut++) {
    const before = clients.map(({ cleanJobs }) => cleanJobs);
    server.node.cut();
    await until(() => clients.every(({ cleanJobs, isOpen }, i) => cleanJobs > before[i] || !isOpen));
    const { cutsMs } = await server.node.report();
    const cutMs = cutsMs[earlier.length + cut];
    const times = clients.filter(({ isOpen }) => isOpen).map(({ cleanMs }) => cleanMs);
    last.push(Math.max(...times) - cutMs);
    fanOut.push(Math.max(...times) - Math.min(...times));
    await sleep(SPACING_MS);
  }
  return { last, fanOut };
}

/** Each client in turn tries some nonces, while none of its shares waits for an answer. */
async function mineAll(mining) {
  while (mining.on) {
    for (const client of clients) {
      if (client.waiting === 0) client.mine(NONCES_A_TURN);
      // Other clients must read their messages soon, as many machines would.
      if (client.nonce1 % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function total() {
  return Object.values(answersOf(clients)).reduce((sum, count) => sum + count, 0);
}

function print({ lastNotifyMs, fanOutMs, shares, memoryMib, ...rest }) {
  const ms = ({ p50, p99, most, n }) => [p50.toFixed(1), p99.toFixed(1), most.toFixed(1), n];
  printTable(
    ['ms', 'p50', 'p99', 'most', 'n'],
    [
      ['New Cut → last notify', ...ms(lastNotifyMs.quiet)],
      ['the same while shares come', ...ms(lastNotifyMs.busy)],
      ['first notify → last notify', ...ms(fanOutMs.quiet)],
      ['the same while shares come', ...ms(fanOutMs.busy)],
      ['share → answer', ...ms(shares.answerMs)],
    ],
  );
  printTable(
    ['what', 'figure'],
    [
      ['sessions', rest.sessions],
      ['shares a second', shares.perSecond.toFixed(0)],
      ['accepted, stale after a New Cut', `${shares.accepted}, ${shares.stale}`],
      ['refused', JSON.stringify(shares.refused)],
      ['targets sent', rest.retargets],
      ['main thread', `${rest.mainPercent.toFixed(0)} % of a core`],
      ['memory (RSS), without and with sessions', `${memoryMib.empty.toFixed(0)} → ${memoryMib.full.toFixed(0)} MiB`],
      ['sessions with the nonce1 of another', rest.doubledNonce1],
      ['sessions lost', rest.sessionsLost],
    ],
  );
}
