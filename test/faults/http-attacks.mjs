// What clients without a token, and nodes with long answers, can do to a rig that serves HTTP: a miner on mock nodes,
// attacked from other processes.
//
//   node test/faults/http-attacks.mjs [--seconds 40] [--attacks unread,pipelined,…] [--json] [--out FILE]
//
// Each attack lasts --seconds, and so does a run without one. The result for each: how many probes on new connections
// were answered (/healthz and /metrics, or an event stream where those are attacked) during the attack, in it from 16 s
// on, and after it, and the slowest of these answers; the longest that the server kept one of the attacker's
// connections; the peak of the miner's memory; the part of a core that its main thread took; the hashrate; the blocks
// that the node accepted, and how many blocks the hashes give on average. The miner has one hashing thread, and the
// attacker has the lowest priority. Fails (exit 1) when a probe was not answered from 16 s on, or when memory grew by
// more than docs/watching.md says, with what V8 takes beside it. Loopback only. Linux only: it reads /proc.

import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printHeading, printTable, save } from '../../bench/lib/figures.mjs';
import { freshUser } from '../../bench/lib/fresh-user.mjs';
import { mainThreadMs, peakRssKib } from '../../bench/lib/process-cpu.mjs';
import { startCountedNode } from './lib/counted-node.mjs';
import { ATTACKS, startAttack } from './lib/http-attacker.mjs';
import { startWatchedMiner, statusOf } from './lib/watched-miner.mjs';

const NONE = 'none';
/** All that a rig requests by itself, except its work. */
const LONG_ANSWERS = ['cut', 'info', 'hash', 'header', 'block', 'payload', 'peers', 'local'].map((endpoint) => ({
  endpoint,
  kind: 'long-body',
}));
/**
 * Attacks by nodes: the script of faults of each configured node, and what a client asks the rig for meanwhile, twice a
 * second.
 */
const NODE_ATTACKS = {
  'long-second': {
    nodes: [[], LONG_ANSWERS],
    what: 'the second of two nodes answers all that is not mining by 33.5 MB of JSON',
  },
  'long-first': {
    nodes: [LONG_ANSWERS],
    asks: '/api/v1/balance',
    what: 'the only node does, and the balance is asked for twice a second',
  },
};
const all = { ...ATTACKS, ...NODE_ATTACKS };
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '40' },
    attacks: { type: 'string', default: Object.keys(all).join() },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const attacks = values.attacks.split(',');
const unknown = attacks.filter((name) => !(name in all));
if (unknown.length > 0) throw new Error(`no such attack: ${unknown}; there are ${Object.keys(all)}`);

/** In this time kernels are chosen and code is compiled. */
const WARM_UP_MS = 8_000;
const PROBE_MS = 500;
const PROBE_TIMEOUT_MS = 5_000;
/** After this time, a connection that does nothing has lost its place. */
const LATE_MS = 16_000;
/** The maximum of the waiting answers, and garbage that V8 has not collected: docs/watching.md. */
const MOST_GROWTH_MIB = 32 + 96;
const PROBES_AFTER = 6;
/** Mean time between blocks. */
const BLOCK_SECONDS = 0.25;
/** States of a connection in /proc/net/tcp: established, closed by the other side. */
const HELD_STATES = ['01', '08'];

/** Every run's miner belongs to this user. */
const user = freshUser();

if (!values.json) printHeading();
const results = [];
for (const attack of [NONE, ...attacks]) {
  const result = await run(attack);
  results.push(result);
  console.error(`${attack}: ${JSON.stringify(result)}`);
}
if (values.json) console.log(JSON.stringify({ bench: 'http-attacks', seconds, results }));
else {
  for (const name of attacks) console.log(`${name}: ${all[name].what}`);
  console.log();
  printTable(
    [
      'attack',
      'answered',
      'from 16 s on',
      'after',
      'slowest',
      'longest place',
      'connections',
      'RSS peak',
      'main thread',
      'MH/s',
      'accepted',
      'expected',
    ],
    results.map(
      ({ attack, probes, slowestMs, heldSeconds, opened, rssPeakMib, mainPercent, hashrate, accepted, expected }) => [
        attack,
        ...[probes.during, probes.late, probes.after].map(({ answered, asked }) => `${answered}/${asked}`),
        `${slowestMs.toFixed(0)} ms`,
        heldSeconds === null ? '' : `${heldSeconds.toFixed(0)} s`,
        opened,
        `${rssPeakMib.toFixed(0)} MiB`,
        `${mainPercent.toFixed(0)} %`,
        (hashrate / 1e6).toFixed(1),
        accepted,
        expected.toFixed(0),
      ],
    ),
  );
}
save(values.out, { bench: 'http-attacks', seconds, results });

const [{ rssPeakMib: usualMib }] = results;
const faults = results.flatMap(({ attack, probes: { late }, rssPeakMib }) => [
  ...(late.answered < late.asked ? [`${attack}: ${late.asked - late.answered} probes were not answered`] : []),
  ...(rssPeakMib > usualMib + MOST_GROWTH_MIB ? [`${attack}: RSS ${rssPeakMib.toFixed(0)} MiB`] : []),
]);
for (const fault of faults) console.error(`FAILED: ${fault}`);
process.exit(faults.length === 0 ? 0 : 1);

async function run(attack) {
  const { nodes: scripts = [[]], asks } = NODE_ATTACKS[attack] ?? {};
  const nodes = await Promise.all(scripts.map((faults) => startCountedNode({ difficulty: 2 ** 24, seed: 1 }, faults)));
  const mine = [
    ...nodes.flatMap(({ url }) => ['--node', url]),
    '--network',
    'development',
    '--public-key',
    '0'.repeat(64),
  ];
  const miner = await startWatchedMiner(mine, user);
  await sleep(WARM_UP_MS);
  const { hashesPerSecond } = await statusOf(miner);
  for (const node of nodes) node.setDifficulty(hashesPerSecond * BLOCK_SECONDS);
  const paths = attack === 'streams' ? ['/healthz', '/api/v1/events'] : ['/healthz', '/metrics'];

  const before = { ...(await statusOf(miner)), mainMs: mainThreadMs(miner.pid) };
  const beganMs = performance.now();
  const end = attack in ATTACKS ? await startAttack(attack, miner.port) : async () => 0;
  const probed = [];
  const places = new Map();
  while (performance.now() - beganMs < 1000 * seconds) {
    noteHeld(places, miner.port);
    const isLate = performance.now() - beganMs >= LATE_MS;
    if (asks) void probe(miner.port, asks);
    const askedMs = performance.now();
    const answered = await probe(miner.port, paths[probed.length % paths.length]);
    probed.push({ answered, isLate, ms: performance.now() - askedMs });
    await sleep(PROBE_MS);
  }
  const tookS = (performance.now() - beganMs) / 1000;
  const mainPercent = (mainThreadMs(miner.pid) - before.mainMs) / (10 * tookS);
  const opened = await end();
  const after = await statusOf(miner);
  const probedAfter = [];
  for (let i = 0; i < PROBES_AFTER; i++) {
    probedAfter.push({ answered: await probe(miner.port, paths[i % paths.length]) });
    await sleep(PROBE_MS);
  }
  const rssPeakMib = peakRssKib(miner.pid) / 1024;
  await miner.stop();
  await Promise.all(nodes.map((node) => node.close()));

  const counted = (all) => ({ answered: all.filter(({ answered }) => answered).length, asked: all.length });
  const held = [...places.values()].map(({ firstMs, lastMs }) => (lastMs - firstMs) / 1000);
  return {
    attack,
    probes: {
      during: counted(probed),
      late: counted(probed.filter(({ isLate }) => isLate)),
      after: counted(probedAfter),
    },
    slowestMs: Math.max(...probed.map(({ ms }) => ms)),
    heldSeconds: attack === NONE ? null : Math.max(0, ...held),
    opened,
    rssPeakMib,
    mainPercent,
    hashrate: (after.hashes - before.hashes) / (after.uptimeSeconds - before.uptimeSeconds),
    accepted: after.accepted - before.accepted,
    expected: after.expectedBlocks - before.expectedBlocks,
    refusals: miner.log.filter((line) => /refused/.test(line)),
  };
}

/** Whether a request on a new connection was answered with 200. */
async function probe(port, path) {
  const asked = request({ host: '127.0.0.1', port, path, agent: false, timeout: PROBE_TIMEOUT_MS });
  const answer = new Promise((resolve) => {
    asked.on('response', ({ statusCode }) => resolve(statusCode === 200));
    asked.on('timeout', () => resolve(false));
    asked.on('error', () => resolve(false));
  });
  asked.end();
  const answered = await answer;
  asked.destroy();
  return answered;
}

/** Notes by their inodes which connections the server has accepted and not closed. */
function noteHeld(places, port) {
  const nowMs = performance.now();
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
    const [, own = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    // Connections that wait to be accepted have no inode.
    if (!own.endsWith(local) || !HELD_STATES.includes(state) || inode === '0') continue;
    const { firstMs } = places.get(inode) ?? { firstMs: nowMs };
    places.set(inode, { firstMs, lastMs: nowMs });
  }
}
