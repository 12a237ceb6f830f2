// Many rigs of a fleet in one process: each has its own connection, source and miner, as `pickaxe mine --nats` has
// them, and an engine that takes ranges at a set rate without computing anything.
//
// The child gets { servers, from, count, lanes, rate, shape } as its first argument and sends { ready } once every rig has work.
// It sends { height, … } when all its rigs search work of a height. The message { report: true } is answered with
// { taken }: the ranges since the last report. Other messages change what the engines take from then on.

import { fork } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LANES } from '#pickaxe/chain/nonce.js';
import { Miner } from '#pickaxe/mine/miner.js';
import { NatsLink } from '#pickaxe/nats/nats-link.js';
import { FleetSource } from '#pickaxe/source/fleet/fleet-source.js';
import { systemClock } from '#pickaxe/system/clock.js';
import { FleetSubjects } from '#pickaxe/wire/fleet.js';
import { likeCpu, likeGpu, PretendEngine } from './pretend-engine.mjs';

const PREFIX = 'pickaxe';
const TICK_MS = 1_000;
/** A server's queue of connections that wait is finite. */
const AT_ONCE = 50;
const SHAPES = { gpu: likeGpu, cpu: likeCpu };

/** @param options of the child @param onHeight called with each height that all its rigs search, with the times */
export async function startSimulatedRigs(options, onHeight) {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(options)]);
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
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
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
      process.off('exit', kill);
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { servers, from, count, lanes = LANES, ...begin } = JSON.parse(process.argv[2]);
  const subjects = new FleetSubjects(PREFIX);
  const now = { ...begin, tickMs: TICK_MS };
  /** By height: how many rigs have stopped the work before, and have the work; when the first and the last had it. */
  const heights = new Map();
  /** By the key of the header: the ranges that all rigs took. */
  let taken = new Map();
  const hasWork = new Set();

  const random = (below) => randomInt(below === LANES ? lanes : below);

  function searching(rig, { work }) {
    hasWork.add(rig);
    const height = Number(work.height);
    if (!heights.has(height)) heights.set(height, { rigs: new Set(), firstMs: systemClock.monotonicMs() });
    const { rigs, firstMs } = heights.get(height);
    if (rigs.has(rig)) return;
    rigs.add(rig);
    if (rigs.size === count) process.send({ height, firstMs, lastMs: systemClock.monotonicMs() });
  }

  function startRig(number) {
    const name = `rig-${String(number).padStart(5, '0')}`;
    const link = new NatsLink({
      servers,
      name,
      inboxPrefix: subjects.inbox(name),
      clock: systemClock,
      random: Math.random,
    });
    const source = new FleetSource({ link, subjects, rig: name, instance: randomBytes(8).toString('hex') });
    const engine = new PretendEngine({
      rate: () => now.rate,
      shape: (nonces) => SHAPES[now.shape](nonces),
      tickMs: () => now.tickMs,
      began: (job) => searching(number, job),
      took(key, range) {
        if (!now.isRecorded) return;
        if (!taken.has(key)) taken.set(key, []);
        taken.get(key).push({ rig: number, ...range });
      },
    });
    const miner = new Miner({ source, engines: [engine], emit: () => {}, clock: systemClock, random });
    void miner.run();
  }

  for (let i = 0; i < count; i++) {
    startRig(from + i);
    if (i % AT_ONCE === AT_ONCE - 1) await sleep(100);
  }
  process.on('message', ({ report, ...change }) => {
    Object.assign(now, change);
    if (!report) return;
    process.send({ taken: [...taken] });
    taken = new Map();
  });
  process.on('disconnect', () => process.exit(0));
  while (hasWork.size < count) await sleep(20);
  process.send({ ready: true });
}
