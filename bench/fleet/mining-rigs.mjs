// Many rigs of a fleet in one process, for the ranges that they take: each has its own connection, source and miner, as
// `pickaxe mine --nats` has them, and an engine that takes ranges at a set rate without computing anything.
//
// The child gets { servers, from, count, lanes } as its first argument and sends { ready } once every rig has work. It
// sends { height } when all its rigs have work of a height. The message { report: true } is answered with { taken }:
// the ranges since the last report. Other messages change what the engines take from then on; with { isMining: true }
// the rigs begin to mine.

import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import { SharedSource } from '#pickaxe/miner/source/following.js';
import { fleetRigSource } from './fleet-rig-source.mjs';
import { forkRigs } from './forked-rigs.mjs';
import { PretendEngine } from './pretend-engine.mjs';

const TICK_MS = 250;
/** Number of connections opened at once: a server's queue of waiting connections is finite. */
const AT_ONCE = 50;

/** @param options of the child @param onHeight called with each height whose work all its rigs have */
export async function startMiningRigs(options, onHeight) {
  const { child, stop } = forkRigs(import.meta.url, options);
  const waiting = [];
  child.on('message', (message) => {
    if (message.height !== undefined) onHeight(message);
    else waiting.shift()(message);
  });
  const answer = () => new Promise((resolve) => waiting.push(resolve));
  await answer();
  return {
    change: (change) => child.send(change),
    async takenRanges() {
      child.send({ report: true });
      return new Map((await answer()).taken);
    },
    stop,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { servers, from, count, lanes } = JSON.parse(process.argv[2]);
  const now = { rate: 0, isRecorded: false };
  /** By height: the rigs that have its work. */
  const heights = new Map();
  /** By the key of the header: the ranges that all rigs took. */
  let taken = new Map();
  const hasWork = new Set();
  const miners = [];

  function received(rig, work) {
    hasWork.add(rig);
    const height = Number(work.height);
    if (!heights.has(height)) heights.set(height, new Set());
    const rigs = heights.get(height);
    if (rigs.has(rig)) return;
    rigs.add(rig);
    if (rigs.size === count) process.send({ height });
  }

  function startRig(number) {
    const source = fleetRigSource(servers, `rig-${number}`);
    const engine = new PretendEngine({
      rate: () => now.rate,
      tickMs: TICK_MS,
      took(key, range) {
        if (!now.isRecorded) return;
        if (!taken.has(key)) taken.set(key, []);
        taken.get(key).push({ rig: number, ...range });
      },
    });
    const shared = new SharedSource(source);
    // A rig's lane stays the same; only its pages and counters are drawn for each job.
    const lane = randomInt(lanes);
    miners.push(new Miner({ source: shared, engines: [engine], emit: () => {}, clock: systemClock, lane }));
    void shared.follow(({ kind, work }) => kind === 'work' && received(number, work), new AbortController().signal);
  }

  for (let i = 0; i < count; i++) {
    startRig(from + i);
    if (i % AT_ONCE === AT_ONCE - 1) await sleep(100);
  }
  process.on('message', ({ report, ...change }) => {
    Object.assign(now, change);
    if (change.isMining) for (const miner of miners.splice(0)) void miner.run();
    if (!report) return;
    process.send({ taken: [...taken] });
    taken = new Map();
  });
  process.on('disconnect', () => process.exit(0));
  while (hasWork.size < count) await sleep(20);
  process.send({ ready: true });
}
