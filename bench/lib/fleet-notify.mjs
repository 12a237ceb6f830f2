// Measures how soon the rigs of a fleet have the work after a New Cut, what that costs, and what they repeat.

import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from './figures.mjs';
import { cpuSeconds, startCoordinator, startOperator, startRig } from './fleet-members.mjs';
import { startMockProcess } from './mock-process.mjs';
import { startCluster, until } from './nats-cluster.mjs';
import { rssKib } from './process-cpu.mjs';
import { coverage, expectedShare } from './repeated-work.mjs';
import { startSimulatedRigs } from './simulated-rigs.mjs';

const CHAIN = 0;
/** Nobody finds a block. */
const HARD = 2 ** 60;
/** After a New Cut that comes this long after the last one, a node's work is fetched at once. */
const SPACING_MS = 500;
/** For code to be compiled. */
const WARM_UP_CUTS = 20;
/** Hashes per second of a simulated rig: it has several GPUs. */
const RATE = 25e9;
/**
 * For the repeated work, all rigs choose among few lanes, and search a part of their lane between two New Cuts. Both
 * make the share larger as if the rigs were faster by that factor.
 */
const FEW_LANES = 64;
const PART_OF_LANE = 0.02;
const REPEATED_SPACING_MS = 2_000;

/**
 * @param hashing number of rigs that hash
 * @param processes number of processes that the simulated rigs share
 * @param idleSeconds for how long messages are counted while no New Cut comes
 * @param repeatedCuts number of New Cuts for the repeated work; 0 to leave it out
 */
export async function notifyRigs({ rigs, hashing: hashingRigs, processes, cuts, idleSeconds, repeatedCuts }) {
  const cluster = await startCluster(3);
  const node = await startMockProcess({ difficulty: HARD, seed: 1 }, CHAIN);
  const nats = cluster.urls;
  const coordinators = ['north', 'south'].map((name) => startCoordinator(name, { nats, node: node.url }));
  const operator = hashingRigs > 0 ? startOperator({ nats }) : undefined;
  const hashing = Array.from({ length: hashingRigs }, (_, i) =>
    startRig(`hashing-${i + 1}`, { nats, more: ['--cpu-priority', '19'] }),
  );
  /** By height: when the first and the last rig of each process searched its work. */
  const reached = new Map();
  const onHeight = ({ height, ...times }) => reached.set(height, [...(reached.get(height) ?? []), times]);
  const simulated = await Promise.all(
    Array.from({ length: processes }, (_, i) => {
      const [from, to] = [i, i + 1].map((part) => Math.floor((part * rigs) / processes));
      const lanes = repeatedCuts > 0 ? FEW_LANES : undefined;
      const options = { servers: nats, from, count: to - from, rate: RATE, shape: 'gpu', lanes };
      return startSimulatedRigs(options, onHeight);
    }),
  );
  await until(() => hashing.every((rig) => rig.of('work').length > 0));

  const groups = {
    'NATS servers': cluster.pids(),
    coordinators: coordinators.map(({ pid }) => pid),
    'simulated rigs': simulated.map(({ pid }) => pid),
    'hashing rigs': hashing.map(({ pid }) => pid),
    operator: operator ? [operator.pid] : [],
  };
  const look = async () => ({
    ms: performance.now(),
    counts: await cluster.counts(),
    cpu: Object.fromEntries(Object.entries(groups).map(([name, pids]) => [name, sum(pids.map(cpuSeconds))])),
  });

  const isEverywhere = (height) => reached.get(height)?.length === processes;
  let height = Math.max(...[...reached.keys()].filter(isEverywhere));
  async function cut() {
    node.cut();
    height++;
    await until(() => isEverywhere(height));
  }
  async function cutAll(count, spacingMs) {
    const first = height + 1;
    for (let i = 0; i < count; i++) {
      await cut();
      await sleep(spacingMs);
    }
    return { first, count };
  }
  const warm = await cutAll(WARM_UP_CUTS, SPACING_MS);
  const idleFrom = await look();
  await sleep(1_000 * idleSeconds);
  const idleTo = await look();
  const measured = await cutAll(cuts, SPACING_MS);
  const busyTo = await look();
  const memoryMib = Object.fromEntries(
    Object.entries(groups).map(([name, pids]) => [name, pids.map((pid) => Math.round(rssKib(pid) / 1024))]),
  );
  const repeated =
    repeatedCuts > 0 ? await measureRepeated(simulated, () => cutAll(repeatedCuts, REPEATED_SPACING_MS)) : undefined;

  const { cutsMs } = await node.report();
  const timed = cutsMs.slice(measured.first - warm.first, measured.first - warm.first + cuts);
  const atHeight = (pick) => timed.map((cutMs, i) => pick(reached.get(measured.first + i)) - cutMs);
  const lastMs = atHeight((parts) => Math.max(...parts.map((each) => each.lastCameMs)));
  const firstMs = atHeight((parts) => Math.min(...parts.map((each) => each.firstCameMs)));
  const doneAt = (height) => reached.get(height).map((each) => each.done);
  const [from, to] = [doneAt(measured.first - 1), doneAt(measured.first + cuts - 1)];
  const total = (parts, name) => sum(parts.map((each) => each[name]));
  const messageMs = (total(to, 'ms') - total(from, 'ms')) / (total(to, 'messages') - total(from, 'messages'));
  const hashingMs = timed.flatMap((cutMs, i) => {
    const times = hashing.flatMap(
      (rig) => rig.of('work').find((work) => work.height === measured.first + i)?.atMs ?? [],
    );
    return times.length === hashing.length ? [Math.max(...times) - cutMs] : [];
  });
  const { slowConsumers, connections } = await cluster.counts();
  const rigsSeen = operator?.lines.at(-1)?.rigsMining;
  for (const each of [...simulated, ...(operator ? [operator] : []), ...hashing, ...coordinators].map((member) =>
    member.stop(),
  ))
    await each;
  await node.close();
  await cluster.close();
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
    processes,
    cuts,
    lastRigMs: quantiles(lastMs),
    firstRigMs: quantiles(firstMs),
    messageMs,
    lastHashingRigMs: quantiles(hashingMs),
    perSecond: idle,
    perCut,
    memoryMib,
    cpuPercent,
    slowConsumers,
    connections,
    rigsSeen,
    ...(repeated && { repeated }),
  };
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

const COUNTED = ['inMessages', 'outMessages', 'inBytes', 'outBytes'];

function perSecond(from, to) {
  const seconds = (to.ms - from.ms) / 1_000;
  return Object.fromEntries(COUNTED.map((name) => [name, (to.counts[name] - from.counts[name]) / seconds]));
}

export function quantiles(all) {
  return {
    p50: quantile(all, 0.5),
    p90: quantile(all, 0.9),
    p99: quantile(all, 0.99),
    most: quantile(all, 1),
    n: all.length,
  };
}

async function measureRepeated(simulated, cutAll) {
  const rate = (PART_OF_LANE * 2 ** 48 * 1_000) / REPEATED_SPACING_MS;
  for (const each of simulated) each.change({ rate, tickMs: 250, isMining: true, isRecorded: true });
  await cutAll();
  for (const each of simulated) each.change({ rate: 0, isRecorded: false });
  const ranges = new Map();
  for (const each of simulated) {
    for (const [key, taken] of await each.takenRanges()) ranges.set(key, [...(ranges.get(key) ?? []), ...taken]);
  }
  // A header that its rig moved on in time is nobody else's. The formula is for rigs that share one.
  const total = { headers: 0, shared: 0, taken: 0, different: 0, expected: 0, takenShared: 0 };
  for (const taken of ranges.values()) {
    const rigs = new Set(taken.map(({ rig }) => rig)).size;
    const covered = coverage(taken);
    total.headers++;
    total.taken += covered.taken;
    if (rigs === 1) {
      total.different += covered.different;
      continue;
    }
    total.shared++;
    total.takenShared += covered.taken;
    total.different += covered.different;
    total.expected += covered.taken * expectedShare(rigs, covered.taken / rigs, FEW_LANES);
  }
  const repeated = total.taken - total.different;
  return {
    headers: total.headers,
    sharedHeaders: total.shared,
    rate,
    asIfRate: (rate * 2 ** 16) / FEW_LANES,
    measured: repeated / total.takenShared,
    expected: total.expected / total.takenShared,
    sharedPart: total.takenShared / total.taken,
  };
}
