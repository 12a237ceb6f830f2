// What clients that misbehave cost the honest sessions of a stratum server.
//
//   node test/faults/stratum-misbehaviour.mjs [--sessions 200] [--seconds 15] [--attacks junk,flood,…] [--niceness 19] [--short]
//     [--no-goals] [--json] [--out FILE]
//
// Each attack lasts --seconds, and so does a time without one. The result for each: how long the pings and the shares
// of honest sessions waited for their answers, New Cut → last honest notify, how many connections the attacker opened
// and lost, the server's memory, and its processor time. The attacker is a process of its own, which runs at the lowest
// priority unless --niceness says otherwise. It comes through PROXY headers from address after address, because each is
// soon banned. The honest sessions are in the process of the benchmark. Fails (exit 1) when an honest session was lost,
// a share was refused, a line of the ledger is missing, or memory grew by more than 160 MiB. Then come the scenarios of
// lib/stratum-scenarios.mjs that --attacks names: each counts the honest miners that a server still serves after an
// attack by strangers, and fails when one was dropped or banned. Loopback only. Linux only: it reads /proc.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printHeading, printTable, quantiles, save } from '../../bench/lib/figures.mjs';
import { answersOf, StratumClient } from '../../bench/stratum/stratum-client.mjs';
import { sharesIn, startStratumServer } from '../../bench/stratum/stratum-server.mjs';
import { ATTACKS, proxied, startAttack } from './lib/stratum-attacker.mjs';
import { SCENARIOS } from './lib/stratum-scenarios.mjs';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string' },
    seconds: { type: 'string' },
    attacks: { type: 'string', default: Object.keys({ ...ATTACKS, ...SCENARIOS }).join() },
    niceness: { type: 'string', default: '19' },
    short: { type: 'boolean', default: false },
    'no-goals': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const usual = values.short ? { sessions: 20, seconds: 2 } : { sessions: 200, seconds: 15 };
const [sessions, seconds] = ['sessions', 'seconds'].map((name) => Number(values[name] ?? usual[name]));
const named = values.attacks.split(',');
const unknown = named.filter((name) => !(name in ATTACKS || name in SCENARIOS));
if (unknown.length > 0)
  throw new Error(`no such attack: ${unknown}; there are ${Object.keys({ ...ATTACKS, ...SCENARIOS })}`);
const attacks = named.filter((name) => name in ATTACKS);

const NONE = 'none';
/** Data that waits for slow readers, and garbage that V8 has not collected. */
const MOST_GROWTH_MIB = 160;
const PING_MS = 20;
const SPACING_MS = 500;
const WARM_UP_MS = 3_000;
/** 215 hashes a share. The workers ask for this difficulty. */
const PASSWORD = 'd=0.00000005';

if (!values.json) printHeading();
const server = await startStratumServer(['--stratum-proxy-protocol', '127.0.0.1']);
const honest = Array.from(
  { length: sessions },
  (_, i) => new StratumClient(server.port, { first: proxied(`10.0.0.${i % 250}`) }),
);
for (const [i, client] of honest.entries()) client.login(`rig${i}`, { password: PASSWORD });
while (honest.some(({ cleanMs }) => cleanMs === 0)) await sleep(5);
const mining = { on: true };
const mined = mineAll();
await sleep(WARM_UP_MS);
const usualMib = server.rssMib();
const results = [];
for (const attack of [NONE, ...attacks]) {
  results.push(await run(attack));
  console.error(`${attack}: ${JSON.stringify(results.at(-1))}`);
}
mining.on = false;
await mined;
while (honest.some(({ waiting, isOpen }) => isOpen && waiting > 0)) await sleep(5);
const lost = honest.filter(({ isOpen }) => !isOpen).length;
const { accepted = 0, '21 stale': stale = 0, ...refused } = answersOf(honest);
for (const { socket } of honest) socket.destroy();
const ledger = await server.close();
const scenarios = [];
for (const name of named.filter((each) => each in SCENARIOS)) {
  scenarios.push({ scenario: name, ...(await SCENARIOS[name].run(values.short)) });
  console.error(`${name}: ${JSON.stringify(scenarios.at(-1))}`);
}
const written = sharesIn(ledger, (worker) => worker.startsWith('rig'));
const total = Object.values(refused).reduce((sum, count) => sum + count, accepted + stale);
const result = {
  bench: 'stratum-misbehaviour',
  sessions,
  seconds,
  results,
  scenarios,
  honest: { accepted, stale, refused, lost, ledgerLinesLost: total - written },
};
if (values.json) console.log(JSON.stringify(result));
else print(result);
save(values.out, result);

const grown = Math.max(...results.map(({ rssMib }) => rssMib)) - usualMib;
const faults = [
  ...(lost > 0 ? [`${lost} honest sessions were lost`] : []),
  ...(Object.keys(refused).length > 0 ? [`honest shares were refused: ${JSON.stringify(refused)}`] : []),
  ...(written !== total ? [`the ledger has ${written} of ${total} shares`] : []),
  ...(grown > MOST_GROWTH_MIB ? [`memory grew by ${grown.toFixed(0)} MiB`] : []),
];
for (const { scenario, drops = 0, bans = 0, isMinerServed = true, page = 200, isWatched = true } of scenarios) {
  if (drops > 0 || bans > 0 || !isMinerServed || page !== 200 || !isWatched) faults.push(`${scenario} harmed others`);
}
for (const fault of faults) console.error(`FAILED: ${fault}`);
process.exit(faults.length === 0 || values['no-goals'] ? 0 : 1);

async function run(name) {
  const end = name === NONE ? undefined : await startAttack(name, server.port, values.niceness);
  const beganMs = performance.now();
  const mainMs = server.mainMs();
  const known = honest.map(({ latencies }) => latencies.length);
  const pings = [];
  const notifies = [];
  let cutMs = 0;
  for (let turn = 0; performance.now() - beganMs < 1_000 * seconds; turn++) {
    const client = honest[turn % honest.length];
    if (client.isOpen) pings.push(await client.ping());
    if (performance.now() - cutMs > SPACING_MS) {
      cutMs = performance.now();
      notifies.push(await cut());
    }
    await sleep(PING_MS);
  }
  const ended = await end?.();
  const tookMs = performance.now() - beganMs;
  const answers = honest.flatMap(({ latencies }, i) => latencies.slice(known[i]));
  return {
    attack: name,
    pingMs: quantiles(pings),
    shareMs: quantiles(answers),
    lastNotifyMs: quantiles(notifies),
    ...(ended ?? { opened: 0, closed: 0 }),
    rssMib: server.rssMib(),
    mainPercent: (100 * (server.mainMs() - mainMs)) / tookMs,
  };
}

/** Makes a New Cut. @returns how long the last honest notify took, in ms */
async function cut() {
  const before = honest.map(({ cleanJobs }) => cleanJobs);
  server.node.cut();
  while (!honest.every(({ cleanJobs, isOpen }, i) => cleanJobs > before[i] || !isOpen)) await sleep(1);
  const { cutsMs } = await server.node.report();
  return Math.max(...honest.map(({ cleanMs }) => cleanMs)) - cutsMs.at(-1);
}

async function mineAll() {
  while (mining.on) {
    for (const client of honest) if (client.waiting === 0) client.mine(50);
    await sleep(20);
  }
}

function print({ results, scenarios, honest }) {
  for (const name of attacks) console.log(`${name}: ${ATTACKS[name].what}`);
  console.log();
  const ms = ({ p50, p99 }) => `${p50.toFixed(1)}, ${p99.toFixed(1)}`;
  printTable(
    [
      'attack',
      'ping p50, p99 ms',
      'share p50, p99 ms',
      'last notify p50, p99 ms',
      'opened',
      'closed',
      'RSS',
      'main thread',
    ],
    results.map(({ attack, pingMs, shareMs, lastNotifyMs, opened, closed, rssMib, mainPercent }) => [
      attack,
      ms(pingMs),
      ms(shareMs),
      ms(lastNotifyMs),
      opened,
      closed,
      `${rssMib.toFixed(0)} MiB`,
      `${mainPercent.toFixed(0)} %`,
    ]),
  );
  for (const { scenario, ...figures } of scenarios)
    console.log(`${scenario}: ${SCENARIOS[scenario].what}: ${JSON.stringify(figures)}`);
  const { accepted, stale, refused, lost, ledgerLinesLost } = honest;
  console.log(
    `honest sessions: ${accepted} shares accepted, ${stale} stale, ${JSON.stringify(refused)} refused; ` +
      `${lost} sessions and ${ledgerLinesLost} lines of the ledger lost`,
  );
}
