// Measures how soon the rigs of a fleet have the work after a New Cut, and what that costs.

import { setTimeout as sleep } from 'node:timers/promises';
import { quantiles } from '../lib/figures.mjs';
import { cpuSeconds, rssKib } from '../lib/process-cpu.mjs';
import { until } from '../lib/until.mjs';
import { startCutFleet } from './cut-fleet.mjs';
import { startOperator, startRig } from './fleet-members.mjs';
import { startSimulatedRigs } from './simulated-rigs.mjs';

/** After a New Cut that comes this long after the last one, a node's work is fetched at once. */
const SPACING_MS = 500;
/** New Cuts that are not counted, because V8 compiles the code that they run. */
const WARM_UP_CUTS = 20;

/**
 * @param rigs number of simulated rigs
 * @param hashing number of rigs that hash
 * @param idleSeconds for how long messages are counted while no New Cut comes
 */
export async function notifyRigs({ rigs, hashing: hashingRigs, cuts, idleSeconds }) {
  const fleet = await startCutFleet();
  const { cluster, node, coordinators, reached } = fleet;
  const nats = cluster.urls;
  const operator = startOperator({ nats });
  const hashing = Array.from({ length: hashingRigs }, (_, i) =>
    startRig(`hashing-${i + 1}`, { nats, more: ['--cpu-priority', '19'] }),
  );
  const simulated = await fleet.addRigs((onHeight) =>
    startSimulatedRigs({ servers: nats, coordinators: fleet.coordinatorNames, count: rigs }, onHeight),
  );
  await until(() => hashing.every((rig) => rig.of('work').length > 0));

  const groups = {
    'NATS servers': cluster.pids(),
    coordinators: coordinators.map(({ pid }) => pid),
    'simulated rigs': [simulated.pid],
    'hashing rigs': hashing.map(({ pid }) => pid),
    operator: [operator.pid],
  };
  const look = async () => ({
    ms: performance.now(),
    counts: await cluster.counts(),
    cpu: Object.fromEntries(Object.entries(groups).map(([name, pids]) => [name, sum(pids.map(cpuSeconds))])),
  });

  const [firstOfNode] = await fleet.cutAll(WARM_UP_CUTS, SPACING_MS);
  const idleFrom = await look();
  await sleep(1_000 * idleSeconds);
  const idleTo = await look();
  const heights = await fleet.cutAll(cuts, SPACING_MS);
  const busyTo = await look();
  const memoryMib = Object.fromEntries(
    Object.entries(groups).map(([name, pids]) => [name, pids.map((pid) => Math.round(rssKib(pid) / 1024))]),
  );

  const { cutsMs } = await node.report();
  const cutMs = (height) => cutsMs[height - firstOfNode];
  const afterCut = (pick) => heights.map((height) => pick(reached.get(height)[0]) - cutMs(height));
  const hashingMs = heights.flatMap((height) => {
    const times = hashing.flatMap((rig) => rig.of('work').find((work) => work.height === height)?.atMs ?? []);
    return times.length === hashing.length ? [Math.max(...times) - cutMs(height)] : [];
  });
  const { slowConsumers, connections } = await cluster.counts();
  const rigsSeen = operator.lines.at(-1)?.rigsMining;
  for (const ended of [simulated, operator, ...hashing].map((member) => member.stop())) await ended;
  await fleet.close();
  const idle = perSecond(idleFrom, idleTo);
  const busySeconds = (busyTo.ms - idleTo.ms) / 1_000;
  const perCut = Object.fromEntries(
    Object.entries(idle).map(([name, each]) => {
      const all = busyTo.counts[name] - idleTo.counts[name];
      return [name, (all - each * busySeconds) / cuts];
    }),
  );
  const cpuPercent = Object.fromEntries(
    Object.keys(groups).map((name) => [
      name,
      {
        idle: (100 * (idleTo.cpu[name] - idleFrom.cpu[name])) / ((idleTo.ms - idleFrom.ms) / 1_000),
        cuts: (100 * (busyTo.cpu[name] - idleTo.cpu[name])) / busySeconds,
      },
    ]),
  );
  return {
    rigs,
    cuts,
    lastRigMs: quantiles(afterCut(({ lastCameMs }) => lastCameMs)),
    firstRigMs: quantiles(afterCut(({ firstCameMs }) => firstCameMs)),
    lastHashingRigMs: quantiles(hashingMs),
    perSecond: idle,
    perCut,
    memoryMib,
    cpuPercent,
    slowConsumers,
    connections,
    rigsSeen,
  };
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

const COUNTED = ['inMessages', 'outMessages', 'inBytes', 'outBytes'];

function perSecond(from, to) {
  const seconds = (to.ms - from.ms) / 1_000;
  return Object.fromEntries(COUNTED.map((name) => [name, (to.counts[name] - from.counts[name]) / seconds]));
}
