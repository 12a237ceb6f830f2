// Measures how fast an engine hashes while a miner uses it, by the wall clock and per processor second of the hashing
// threads. It works only on Linux, because it reads the scheduler's statistics.

import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';

/**
 * @returns the processor time so far of this process's threads with the lowest priority, which are the hashing threads
 */
export function hashingNs() {
  let ns = 0;
  for (const task of readdirSync('/proc/self/task')) {
    const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
    const nice = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
    if (nice === 19) ns += Number(readFileSync(`/proc/self/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  }
  return ns;
}

/**
 * @param adjust called with the hashrate after two thirds of the warm-up, to set a difficulty that suits it
 * @param finish called while the miner still runs, right after the measurement
 * @returns the rates in H/s, and how often the source gave work during the measurement
 */
export async function miningRate({ source, engine, ms, warmUpMs, adjust, finish = async () => {} }) {
  let [hashes, works] = [0, 0];
  const stop = new AbortController();
  const emit = (event) => {
    if (event.type === 'hashes') hashes += event.hashes;
    if (event.type === 'work') works++;
  };
  /** Waits for that time, and longer until a hash was reported, as on a busy machine. */
  const hashing = async (ms) => {
    const before = hashes;
    do await sleep(ms);
    while (hashes === before);
  };
  const random = (below) => randomInt(below);
  const run = new Miner({ source, engines: [engine], emit, clock: systemClock, random }).run(stop.signal);
  const begunMs = performance.now();
  await hashing((2 / 3) * warmUpMs);
  adjust((1000 * hashes) / (performance.now() - begunMs));
  await hashing(warmUpMs / 3);
  const look = () => ({ hashes, works, ns: hashingNs(), wallMs: performance.now() });
  const before = look();
  await hashing(ms);
  const after = look();
  await finish();
  stop.abort();
  await run;
  return {
    rate: ((after.hashes - before.hashes) * 1e9) / (after.ns - before.ns),
    wallRate: ((after.hashes - before.hashes) * 1000) / (after.wallMs - before.wallMs),
    works: after.works - before.works,
  };
}
