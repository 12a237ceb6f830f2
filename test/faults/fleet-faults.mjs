// Measures what faults of a fleet cost: whether every solution of a rig gets a verdict, and how soon all rigs have new
// work again.
//
//   node test/faults/fleet-faults.mjs [--scenarios none,coordinator-1,…] [--seconds 15] [--rigs 4] [--no-goals] [--json]
//     [--out FILE]
//
// Each scenario starts a fleet: three clustered NATS servers, two coordinators on a mock node, and rigs with a hashing
// thread each, all built programs in processes of their own. In some scenarios each coordinator has a node of its own,
// which knows only the payloads of the works that it has issued. Solutions are so easy that the fleet finds some each
// second. After --seconds comes the fault, and the fleet ends --seconds after it is over. The counts come from the
// lines that the rigs print (`solution`, `verdict`); for rigs that were killed, from those of the coordinators, too.
// `pending`: the rig was killed before it had a verdict, and no coordinator had the solution. `lost`: a solution of a
// rig that lives has no verdict. `missed`: a living rig has dropped a solution while its chain had no block of that
// height.
// `takeover`: from the kill, or from the end of a fault that leaves nothing to take over, until the last rig has new
// work; where a node stands still or lags, from then on until no rig gets old work. Fails (exit 1) when a solution is
// lost, missed or rejected, the node has accepted one twice, or a takeover takes more than 5 s, or two minutes where a
// node stands still or lags. Loopback only.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { startCoordinator, startRig } from '../../bench/fleet/fleet-members.mjs';
import { startCluster } from '../../bench/fleet/nats-cluster.mjs';
import { printHeading, printTable, save } from '../../bench/lib/figures.mjs';
import { MockNode } from '../../bench/lib/mock-node.mjs';
import { until } from '../../bench/lib/until.mjs';
import { startHoldingProxy } from './lib/holding-proxy.mjs';
import { startNodeView } from './lib/node-view.mjs';

const SPLIT_MS = 15_000;
const FROZEN_MS = 15_000;
const STILL_MS = 120_000;
const LAG_MS = 30_000;
const AWAY_MS = 60_000;
const RESTART_MS = 2_000;
const SERVERS = 3;
const NAMES = ['north', 'south'];
/** Other miners' blocks, on any of 20 chains. */
const RIVAL_MS = 500;
/** Mean time between two solutions of the whole fleet. */
const SOLUTION_SECONDS = 0.4;
const FIRST_DIFFICULTY = 2 ** 23;
const MOST_TAKEOVER_S = 5;
const MOST_TAKEOVER_FROM_STILL_S = 120;
/** A line that was on its way when a process was killed does not come from the process that takes over. */
const IN_FLIGHT_MS = 100;
/** Work that became old within this time may have been on its way, and so may the first of two solutions. */
const ON_THE_WAY_MS = 2_000;
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
    fault: frozen,
  },
  coordinators: {
    what: `kill -9 of both coordinators, and a restart after ${RESTART_MS / 1_000} s`,
    async fault({ coordinators, restart }) {
      await killed(coordinators.slice());
      await sleep(RESTART_MS);
      restart(0);
      restart(1);
      return systemClock.monotonicMs();
    },
  },
  'own-node-frozen': {
    what: `a node each: the first coordinator stands still for ${FROZEN_MS / 1_000} s`,
    hasOwnNodes: true,
    fault: frozen,
  },
  'own-node-killed': {
    what: `a node each: kill -9 of the first coordinator, and a restart after ${RESTART_MS / 1_000} s`,
    hasOwnNodes: true,
    async fault({ coordinators, restart }) {
      const atMs = await killed([coordinators[0]]);
      await sleep(RESTART_MS);
      restart(0);
      return atMs;
    },
  },
  'own-node-still': {
    what: `a node each: the first one stands still for ${STILL_MS / 1_000} s`,
    hasOwnNodes: true,
    mostTakeoverSeconds: MOST_TAKEOVER_FROM_STILL_S,
    async fault({ views: [first] }) {
      const atMs = systemClock.monotonicMs();
      first.standStill();
      await sleep(STILL_MS);
      first.goOn();
      return atMs;
    },
  },
  'own-node-behind': {
    what: `a node each: the first one is ${LAG_MS / 1_000} s behind for ${STILL_MS / 1_000} s`,
    hasOwnNodes: true,
    mostTakeoverSeconds: MOST_TAKEOVER_FROM_STILL_S,
    async fault({ views: [first] }) {
      const atMs = systemClock.monotonicMs();
      first.fallBehind(LAG_MS);
      await sleep(STILL_MS);
      first.goOn();
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

/** The first coordinator stays connected, and does nothing. */
async function frozen({ coordinators: [first] }) {
  const atMs = systemClock.monotonicMs();
  first.freeze();
  await sleep(FROZEN_MS);
  first.thaw();
  return atMs;
}

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

if (!values.json) printHeading();
const results = [];
for (const scenario of values.scenarios.split(',')) results.push(await run(scenario));
const result = { bench: 'fleet-faults', seconds, rigs: Number(values.rigs), results };
if (values.json) console.log(JSON.stringify(result));
else {
  printTable(
    [
      'fault',
      'found',
      ...OUTCOMES,
      'pending',
      'lost',
      'missed',
      'at the node',
      'twice',
      'takeover, s',
      'next accepted, s',
    ],
    results.map(({ scenario, found, pending, lost, missed, node, takeoverSeconds, acceptedSeconds, ...counts }) => [
      SCENARIOS[scenario].what,
      found,
      ...OUTCOMES.map((outcome) => counts[outcome]),
      pending,
      lost,
      missed,
      node.accepted,
      node.doubled,
      takeoverSeconds?.toFixed(1) ?? '–',
      acceptedSeconds?.toFixed(1) ?? '–',
    ]),
  );
}
save(values.out, result);
const faults = results.flatMap(({ scenario, accepted, rejected, lost, missed, node, takeoverSeconds, exitCodes }) =>
  [
    [accepted === 0, 'no solution was accepted'],
    [lost > 0, `${lost} solutions were lost`],
    [missed > 0, `${missed} solutions were given up although the node still wanted them`],
    [rejected > 0, `${rejected} solutions were rejected`],
    [node.doubled > 0, `the node has accepted ${node.doubled} solutions twice`],
    [
      takeoverSeconds > (SCENARIOS[scenario].mostTakeoverSeconds ?? MOST_TAKEOVER_S),
      `the last rig had new work after ${takeoverSeconds} s`,
    ],
    [exitCodes.some((code) => code !== 0), `members have ended with ${exitCodes}`],
  ].flatMap(([isBad, what]) => (isBad ? [`${scenario}: ${what}`] : [])),
);
for (const fault of faults) console.error(`FAILED: ${fault}`);
process.exit(faults.length === 0 || values['no-goals'] ? 0 : 1);

async function run(scenario) {
  const cluster = await startCluster(SERVERS);
  /** When each block came, by its chain and height. */
  const blocksMs = new Map();
  const onEvent = ({ type, chain, height }) => {
    if (type === 'block') blocksMs.set(`${chain}/${height}`, systemClock.monotonicMs());
  };
  const options = { difficulty: FIRST_DIFFICULTY, rivalMs: RIVAL_MS, lateSolutions: 'refuse' };
  const node = new MockNode(options, { onEvent });
  const { url } = await node.start();
  const proxy = await startHoldingProxy(Number(new URL(cluster.urls[0]).port));
  const { hasOwnNodes, mostTakeoverSeconds } = SCENARIOS[scenario];
  const views = hasOwnNodes ? await Promise.all(NAMES.map(() => startNodeView(url))) : [];
  // Nodes of different miners never issue the same payload.
  const start = (i) =>
    startCoordinator(NAMES[i], { nats: cluster.urls, node: views[i]?.url ?? url, key: String(i).repeat(64) });
  const coordinators = NAMES.map((_, i) => start(i));
  const ended = [];
  const restart = (i) => {
    ended.push(coordinators[i]);
    coordinators[i] = start(i);
  };
  const rigs = Array.from({ length: Number(values.rigs) }, (_, i) => {
    // The first rig of this scenario can use only the proxy.
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
  const atMs = await SCENARIOS[scenario].fault({ cluster, coordinators, restart, rigs, proxy, node, views });
  await sleep(1_000 * seconds);
  const living = rigs.filter(({ isKilled }) => !isKilled);
  const exitCodes = await Promise.all(living.map((rig) => rig.stop()));
  const left = coordinators.filter(({ isKilled }) => !isKilled);
  exitCodes.push(...(await Promise.all(left.map((coordinator) => coordinator.stop()))));
  proxy.close();
  for (const view of views) view.close();
  await node.close();
  await cluster.close();
  const { records } = node.ledger.stats;
  const accepted = records.filter(({ outcome }) => outcome === 'accepted');
  return {
    scenario,
    ...countsOf(rigs, [...ended, ...coordinators]),
    missed: missedOf(living, blocksMs),
    node: { accepted: accepted.length, doubled: accepted.filter(({ duplicate }) => duplicate).length },
    exitCodes,
    ...(atMs !== undefined && takeover(living, atMs)),
    ...(mostTakeoverSeconds && { takeoverSeconds: leftAfter(living, atMs, blocksMs) }),
  };
}

/** @returns how many verdicts other than `accepted` came while the chain had, and soon got, no block of that height */
function missedOf(rigs, blocksMs) {
  const others = rigs.flatMap((rig) => rig.of('verdict').filter(({ outcome }) => outcome !== 'accepted'));
  return others.filter(({ chain, height, atMs }) => !(blocksMs.get(`${chain}/${height}`) <= atMs + ON_THE_WAY_MS))
    .length;
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

/** @returns seconds from a moment until a rig has got work for a block that its chain had already, for the last time */
function leftAfter(rigs, sinceMs, blocksMs) {
  const isOld = ({ chain, height, atMs }) => blocksMs.get(`${chain}/${height}`) < atMs - ON_THE_WAY_MS;
  const old = rigs.flatMap((rig) => rig.of('work').filter((work) => work.atMs > sinceMs && isOld(work)));
  return Math.max(0, ...old.map(({ atMs }) => atMs - sinceMs)) / 1_000;
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
