// Many rigs of a fleet in one process: each has its own connection and source, as `pickaxe mine --nats` has them. Once
// they mine, each has a miner, too, and an engine that takes ranges at a set rate without computing anything.
//
// The child gets { servers, from, count, lanes, rate, shape } as its first argument and sends { ready } once every rig
// has work. It sends { height, … } when all its rigs have work of a height. The message { report: true } is answered
// with { taken }: the ranges since the last report. Other messages change what the engines take from then on; with
// { isMining: true } the rigs begin to mine.

import { fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Miner } from '#pickaxe/mine/miner.js';
import { SharedSource } from '#pickaxe/source/shared-source.js';
import { systemClock } from '#pickaxe/system/clock.js';
import { fleetRigSource } from './fleet-rig-source.mjs';
import { likeCpu, likeGpu, PretendEngine } from './pretend-engine.mjs';
import { reportOf } from './rig-report.mjs';
import { done, StampedLink } from './stamped-link.mjs';

const TICK_MS = 1_000;
const REPORT_MS = 10_000;
/** A server's queue of connections that wait is finite. */
const AT_ONCE = 50;
const SHAPES = { gpu: likeGpu, cpu: likeCpu };

/** @param options of the child @param onHeight called with each height that all its rigs search, with the times */
export async function startSimulatedRigs(options, onHeight) {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(options)], {
    execArgv: ['--max-semi-space-size=128'],
  });
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  let isStopping = false;
  child.once('exit', (code) => {
    if (!isStopping) throw new Error(`simulated rigs have ended with exit code ${code}`);
  });
  const waiting = [];
  child.on('message', (message) => {
    if (message.height !== undefined) onHeight(message);
    else waiting.shift()(message);
  });
  const answer = () => new Promise((resolve) => waiting.push(resolve));
  await answer();
  return {
    pid: child.pid,
    change: (change) => child.send(change),
    async takenRanges() {
      child.send({ report: true });
      return new Map((await answer()).taken);
    },
    async stop() {
      isStopping = true;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
      process.off('exit', kill);
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { servers, from, count, lanes, ...begin } = JSON.parse(process.argv[2]);
  const now = { ...begin, tickMs: TICK_MS };
  /** By height: the rigs that have its work, and when the first and the last one had the message. */
  const heights = new Map();
  /** By the key of the header: the ranges that all rigs took. */
  let taken = new Map();
  const hasWork = new Set();

  const miners = [];

  function received(rig, work, cameMs) {
    hasWork.add(rig);
    const height = Number(work.height);
    const known = heights.get(height) ?? { rigs: new Set(), firstCameMs: cameMs, lastCameMs: cameMs };
    heights.set(height, known);
    if (known.rigs.has(rig)) return;
    known.rigs.add(rig);
    known.firstCameMs = Math.min(known.firstCameMs, cameMs);
    known.lastCameMs = Math.max(known.lastCameMs, cameMs);
    if (known.rigs.size < count) return;
    const { firstCameMs, lastCameMs } = known;
    process.send({ height, firstCameMs, lastCameMs, done });
  }

  function report(link, subject) {
    link.publish(subject, reportOf('north', begin.rate));
    setTimeout(() => report(link, subject), REPORT_MS);
  }

  function startRig(number) {
    const name = `rig-${String(number).padStart(5, '0')}`;
    const { source, link, subjects } = fleetRigSource(servers, name, (link) => new StampedLink(link));
    const engine = new PretendEngine({
      rate: () => now.rate,
      shape: (nonces) => SHAPES[now.shape](nonces),
      tickMs: () => now.tickMs,
      took(key, range) {
        if (!now.isRecorded) return;
        if (!taken.has(key)) taken.set(key, []);
        taken.get(key).push({ rig: number, ...range });
      },
    });
    // A rig's lane stays the same; only its pages and counters are drawn for each job.
    const lane = lanes === undefined ? undefined : randomInt(lanes);
    const shared = new SharedSource(source);
    const miner = new Miner({
      source: shared,
      engines: [engine],
      emit: () => {},
      clock: systemClock,
      ...(lane !== undefined && { lane }),
    });
    miners.push(miner);
    void shared.follow(({ kind, work }) => {
      if (kind === 'work') received(number, work, link.workMs.get(subjects.work(source.nameOf(work))));
    }, new AbortController().signal);
    setTimeout(() => report(link, subjects.report(name)), Math.random() * REPORT_MS);
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
