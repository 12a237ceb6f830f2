// One run of New Cuts: the whole miner runs against a mock node in another process, and it is measured when each device
// searches the new job.

import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { quantiles } from '../lib/figures.mjs';
import { nowMs, startMockProcess } from '../lib/mock-process.mjs';

const CHAIN = 0;
/** A difficulty at which no solution is found, so that only New Cuts change the job. */
const NEVER = 2 ** 50;
/** The time of mining before the first New Cut: kernels warm up, and batches find their size. */
const SETTLE_MS = 4_000;
/** How long all devices may take to open: a GPU that is measured takes seconds. */
const OPEN_MS = 120_000;
/** The random part of the time between New Cuts. */
const MOST_MORE_MS = 50;

/**
 * @param engines the engines, which the miner opens and closes
 * @param cuts how many New Cuts are measured
 * @param warmUpCuts how many New Cuts come before that: V8 compiles their code, in threads for which the hashing ones
 *   wait
 * @param spacingMs the least time between New Cuts
 * @returns the times of each New Cut in ms, by figure; `missed`: New Cuts without new work on all devices in time
 */
export async function runCuts({ engines, cuts, warmUpCuts, spacingMs }) {
  const node = await startMockProcess({ difficulty: NEVER }, CHAIN);
  const miner = { account: 'bench', predicate: 'keys-all', publicKeys: ['0'.repeat(64)] };
  const source = new NodeSource({ url: node.url, network: 'development', miner });
  /** For each work: when the miner got it, and when searches of its ranges began and were reported, by device. */
  const timesOfWork = new Map();
  const searched = new Set();

  function observe(engine) {
    const search = engine.search.bind(engine);
    engine.search = async function* (job, ranges, stop) {
      for await (const report of search(job, ranges, stop)) {
        const times = timesOfWork.get(job.work);
        times.began[engine.name] = [...(times.began[engine.name] ?? []), report.beganMs];
        times.ended[engine.name] ??= nowMs();
        searched.add(engine.name);
        yield report;
      }
    };
  }

  for (const engine of engines) observe(engine);
  const stop = new AbortController();
  const run = new Miner({
    source: {
      name: source.name,
      follow: (listener, signal) =>
        source.follow((update) => {
          if (update.kind === 'work') timesOfWork.set(update.work, { handedMs: nowMs(), began: {}, ended: {} });
          listener(update);
        }, signal),
      submit: (...all) => source.submit(...all),
      latestTimeUs: (work) => source.latestTimeUs(work),
    },
    engines,
    emit: (event) => {
      if (event.type === 'device' && event.reason) console.error(`${event.device}: ${event.reason}`);
    },
    clock: systemClock,
    random: (below) => randomInt(below),
  }).run(stop.signal);

  const lateMs = nowMs() + OPEN_MS;
  while (searched.size < engines.length) {
    if (nowMs() > lateMs) throw new Error(`not all devices mine after ${OPEN_MS / 1000} s`);
    await sleep(100);
  }
  await sleep(SETTLE_MS);
  for (let i = 0; i < warmUpCuts + cuts; i++) {
    node.cut();
    await sleep(spacingMs + Math.random() * MOST_MORE_MS);
  }
  await sleep(500);
  stop.abort();
  await run;
  const { cutsMs } = await node.report();
  await node.close();
  return latencies([...timesOfWork.values()], cutsMs, warmUpCuts, engines);
}

function latencies(times, cutsMs, warmUpCuts, engines) {
  const handed = times.sort((a, b) => a.handedMs - b.handedMs);
  const figures = { 'New Cut → work in hand': [] };
  const add = (name, ms) => {
    figures[name] ??= [];
    figures[name].push(ms);
  };
  let missed = 0;
  for (const [i, cutMs] of cutsMs.entries()) {
    if (i < warmUpCuts) continue;
    const nextMs = cutsMs[i + 1] ?? Number.POSITIVE_INFINITY;
    const work = handed.find(({ handedMs }) => handedMs > cutMs && handedMs < nextMs);
    if (!work || engines.some(({ name }) => !work.began[name])) {
      missed++;
      continue;
    }
    add('New Cut → work in hand', work.handedMs - cutMs);
    for (const { name, kind, threads } of engines) {
      const began = work.began[name].sort((a, b) => a - b);
      add(`New Cut → first hash on ${name}`, began[0] - cutMs);
      if (kind === 'cpu' && began.length >= threads) {
        add(`New Cut → all ${threads} threads of ${name}`, began[threads - 1] - cutMs);
        add(`work in hand → all ${threads} threads of ${name}`, began[threads - 1] - work.handedMs);
      }
      if (kind === 'gpu') add(`New Cut → first dispatch of ${name} done`, work.ended[name] - cutMs);
    }
  }
  const rows = Object.entries(figures).filter(([, ms]) => ms.length > 0);
  return { figures: Object.fromEntries(rows.map(([name, ms]) => [name, summary(ms)])), missed };
}

function summary(ms) {
  const rounded = Object.entries(quantiles(ms)).map(([key, value]) => [key, Number(value.toFixed(2))]);
  return Object.fromEntries(rounded);
}
