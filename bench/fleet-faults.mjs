// What faults of a fleet cost: whether every solution that a rig has found gets a verdict, and how soon all rigs have
// new work again.
//
//   node bench/fleet-faults.mjs [--scenarios none,coordinator-1,…] [--seconds 15] [--rigs 4] [--no-goals] [--json]
//     [--out FILE]
//
// Each scenario starts a fleet: three clustered NATS servers, two coordinators on a mock node, and rigs with a hashing
// thread each, all built programs in processes of their own. Solutions are so easy that the fleet finds some each
// second. After --seconds comes the fault, and the fleet ends --seconds after it is over. The counts come from the
// lines that the rigs print (`solution`, `verdict`); for rigs that were killed, from those of the coordinators, too.
// `pending`: the rig was killed before it had a verdict, and no coordinator had the solution. `lost`: a solution of a
// rig that lives has no verdict. `takeover`: from the kill, or from the end of a fault that leaves nothing to take
// over, until the last rig has new work. Fails (exit 1) when a solution is lost, the node has accepted one twice, or a
// takeover takes more than 5 s. Loopback only.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { systemClock } from '#pickaxe/system/clock.js';
import { printHeading, printTable, save } from './lib/figures.mjs';
import { startCoordinator, startRig } from './lib/fleet-members.mjs';
import { startHoldingProxy } from './lib/holding-proxy.mjs';
import { startCluster, until } from './lib/nats-cluster.mjs';

const SPLIT_MS = 15_000;
const FROZEN_MS = 15_000;
const AWAY_MS = 60_000;
const RESTART_MS = 2_000;
const SERVERS = 3;
/** Other miners' blocks, on any of 20 chains. */
const RIVAL_MS = 500;
/** Mean time between two solutions of the whole fleet. */
const SOLUTION_SECONDS = 0.4;
const FIRST_DIFFICULTY = 2 ** 23;
const MOST_TAKEOVER_S = 5;
/** A line that was on its way when a process was killed is not from the one that takes over. */
const IN_FLIGHT_MS = 100;
const OUTCOMES = ['accepted', 'rejected', 'stale', 'unknown'];

const SCENARIOS = {
  none: { what: 'no fault', fault: async () => undefined },
  'coordinator-1': { what: 'kill -9 of the first coordinator', fault: ({ coordinators }) => killed([coordinators[0]]) },
  'coordinator-2': {
    what: 'kill -9 of the second coordinator',
    fault: ({ coordinators }) => killed([coordinators[1]]),
  },
  frozen: {
    what: `the first coordinator stands still for ${FROZEN_MS / 1_000} s`,
    async fault({ coordinators: [first] }) {
      const atMs = systemClock.monotonicMs();
      first.freeze();
      await sleep(FROZEN_MS);
      first.thaw();
      return atMs;
    },
  },
  server: {
    what: 'kill -9 of one of three servers',
    async fault({ cluster }) {
      const atMs = systemClock.monotonicMs();
      await cluster.kill(0);
      return atMs;
    },
  },
  rigs: {
    what: 'kill -9 of half of the rigs',
    fault: ({ rigs }) => killed(rigs.slice(0, Math.ceil(rigs.length / 2))),
  },
  split: {
    what: `the link of a rig forwards nothing for ${SPLIT_MS / 1_000} s`,
    async fault({ proxy }) {
      proxy.hold();
      await sleep(SPLIT_MS);
      proxy.release();
      return systemClock.monotonicMs();
    },
  },
  'node-away': {
    what: `the node is away for ${AWAY_MS / 1_000} s`,
    async fault({ node }) {
      await node.goAway();
      await sleep(AWAY_MS);
      await node.comeBack();
      return systemClock.monotonicMs();
    },
  },
  servers: {
    what: `kill -9 of all servers, and a restart after ${RESTART_MS / 1_000} s`,
    async fault({ cluster }) {
      for (let i = 0; i < SERVERS; i++) await cluster.kill(i);
      await sleep(RESTART_MS);
      await Promise.all(Array.from({ length: SERVERS }, (_, i) => cluster.restart(i)));
      return systemClock.monotonicMs();
    },
  },
};

/** @returns when they were killed */
async function killed(members) {
  const atMs = systemClock.monotonicMs();
  await Promise.all(members.map((member) => member.kill()));
  return atMs;
}

const { values } = parseArgs({
  options: {
    scenarios: { type: 'string', default: Object.keys(SCENARIOS).join(',') },
    seconds: { type: 'string', default: '15' },
    rigs: { type: 'string', default: '4' },
    'no-goals': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const seconds = Number(values.seconds);

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

if (!values.json) printHeading();
const results = [];
for (const scenario of values.scenarios.split(',')) results.push(await run(scenario));
const result = { bench: 'fleet-faults', seconds, rigs: Number(values.rigs), results };
if (values.json) console.log(JSON.stringify(result));
else {
  printTable(
    ['fault', 'found', ...OUTCOMES, 'pending', 'lost', 'at the node', 'twice', 'takeover, s', 'next accepted, s'],
    results.map(({ scenario, found, pending, lost, node, takeoverSeconds, acceptedSeconds, ...counts }) => [
      SCENARIOS[scenario].what,
      found,
      ...OUTCOMES.map((outcome) => counts[outcome]),
      pending,
      lost,
      node.accepted,
      node.doubled,
      takeoverSeconds?.toFixed(1) ?? '–',
      acceptedSeconds?.toFixed(1) ?? '–',
    ]),
  );
}
save(values.out, result);
const faults = results.flatMap(({ scenario, accepted, lost, node, takeoverSeconds, exitCodes }) =>
  [
    [accepted === 0, 'no solution was accepted'],
    [lost > 0, `${lost} solutions were lost`],
    [node.doubled > 0, `the node has accepted ${node.doubled} solutions twice`],
    [takeoverSeconds > MOST_TAKEOVER_S, `the last rig had new work after ${takeoverSeconds} s`],
    [exitCodes.some((code) => code !== 0), `members have ended with ${exitCodes}`],
  ].flatMap(([isBad, what]) => (isBad ? [`${scenario}: ${what}`] : [])),
);
for (const fault of faults) console.error(`FAILED: ${fault}`);
process.exit(faults.length === 0 || values['no-goals'] ? 0 : 1);

async function run(scenario) {
  const cluster = await startCluster(SERVERS);
  const node = new MockNode({ difficulty: FIRST_DIFFICULTY, rivalMs: RIVAL_MS, lateSolutions: 'refuse' });
  const { url } = await node.start();
  const proxy = await startHoldingProxy(Number(new URL(cluster.urls[0]).port));
  const coordinators = ['north', 'south'].map((name) => startCoordinator(name, { nats: cluster.urls, node: url }));
  const rigs = Array.from({ length: Number(values.rigs) }, (_, i) => {
    // The first rig of this scenario has no other way.
    const nats = scenario === 'split' && i === 0 ? [proxy.url] : cluster.urls;
    return startRig(`rig-${i + 1}`, { nats });
  });
  const rates = new Map();
  for (const rig of rigs) {
    rig.onLine(({ type, hashesPerSecond }) => {
      if (type !== 'hashrate' || !hashesPerSecond) return;
      rates.set(rig, hashesPerSecond);
      node.ledger.difficulty = SOLUTION_SECONDS * [...rates.values()].reduce((a, b) => a + b, 0);
    });
  }
  await until(() => rigs.every((rig) => rig.of('work').length > 0));
  await until(() => rigs.some((rig) => rig.of('verdict').length > 0));
  await sleep(1_000 * seconds);
  const atMs = await SCENARIOS[scenario].fault({ cluster, coordinators, rigs, proxy, node });
  await sleep(1_000 * seconds);
  const living = rigs.filter(({ isKilled }) => !isKilled);
  const exitCodes = await Promise.all(living.map((rig) => rig.stop()));
  const left = coordinators.filter(({ isKilled }) => !isKilled);
  exitCodes.push(...(await Promise.all(left.map((coordinator) => coordinator.stop()))));
  proxy.close();
  await node.close();
  await cluster.close();
  const { records } = node.ledger.stats;
  const accepted = records.filter(({ outcome }) => outcome === 'accepted');
  return {
    scenario,
    ...countsOf(rigs, coordinators),
    node: { accepted: accepted.length, doubled: accepted.filter(({ duplicate }) => duplicate).length },
    exitCodes,
    ...(atMs !== undefined && takeover(living, atMs)),
  };
}

function countsOf(rigs, coordinators) {
  const counts = { found: 0, accepted: 0, rejected: 0, stale: 0, unknown: 0, pending: 0, lost: 0, byCoordinators: 0 };
  const atCoordinators = verdictsOf(coordinators.flatMap((each) => each.of('verdict')));
  for (const rig of rigs) {
    const verdicts = verdictsOf(rig.of('verdict'));
    for (const { nonce } of rig.of('solution')) {
      counts.found++;
      const outcome = verdicts.get(nonce) ?? (rig.isKilled ? atCoordinators.get(nonce) : undefined);
      if (!verdicts.has(nonce) && outcome) counts.byCoordinators++;
      if (outcome) counts[outcome]++;
      else if (rig.isKilled) counts.pending++;
      else counts.lost++;
    }
  }
  return counts;
}

/** @returns the outcomes by nonce, of which no two are equal */
function verdictsOf(lines) {
  return new Map(lines.map(({ nonce, outcome }) => [nonce, outcome]));
}

/** @returns seconds from a moment until the last rig has new work, and until a solution found since is accepted */
function takeover(rigs, sinceMs) {
  const fromMs = sinceMs + IN_FLIGHT_MS;
  const works = rigs.map((rig) => rig.of('work').find(({ atMs }) => atMs > fromMs)?.atMs ?? Number.POSITIVE_INFINITY);
  const accepted = rigs.flatMap((rig) => {
    const found = new Set(rig.of('solution').flatMap(({ nonce, atMs }) => (atMs > fromMs ? [nonce] : [])));
    const isAccepted = ({ outcome, nonce }) => outcome === 'accepted' && found.has(nonce);
    return rig.of('verdict').find(isAccepted)?.atMs ?? [];
  });
  const seconds = (ms) => (ms - sinceMs) / 1_000;
  return { takeoverSeconds: seconds(Math.max(...works)), acceptedSeconds: seconds(Math.min(...accepted)) };
}
