// Measures what a pool's attack costs the built miner, which runs in a process of its own, with an honest pool as its
// second one. Linux only: it reads /proc.

import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../../../bench/lib/figures.mjs';
import { freshUser } from '../../../bench/lib/fresh-user.mjs';
import { startMockPoolProcess } from '../../../bench/lib/mock-pool-process.mjs';
import { mainThreadMs, rssKib } from '../../../bench/lib/process-cpu.mjs';
import { ATTACKS, startPoolAttacker } from './pool-attacker.mjs';
import { startWatchedMiner, statusOf } from './watched-miner.mjs';

/** In this time kernels are chosen and code is compiled. */
const WARM_UP_MS = 8_000;
const PROBE_MS = 100;
const PROBE_TIMEOUT_MS = 5_000;

/**
 * @param attack one of ATTACKS, or `none`
 * @param hasNext whether there is a second pool
 * @returns the figures of the time after the attack has begun
 */
export async function underAttack(attack, seconds, { warmUpMs = WARM_UP_MS, hasNext = true } = {}) {
  const attacker = await startPoolAttacker(attack in ATTACKS ? attack : undefined);
  const next = hasNext
    ? await startMockPoolProcess({ shareDifficulty: 2 ** 24, difficulty: 2 ** 60, cutMs: 1_000 })
    : undefined;
  const urls = [attacker.url, ...(next ? [next.url] : [])];
  const miner = await startWatchedMiner(
    [...urls.flatMap((url) => ['--pool', url]), '--user', 'bench.rig'],
    freshUser(),
  );
  await sleep(warmUpMs);
  const before = { ...(await statusOf(miner)), mainMs: mainThreadMs(miner.pid), logged: miner.log.length };
  attacker.begin();
  const beganMs = performance.now();
  const probes = [];
  let rss = 0;
  while (performance.now() - beganMs < 1000 * seconds) {
    probes.push(await probe(miner.port));
    rss = Math.max(rss, rssKib(miner.pid));
    await sleep(PROBE_MS);
  }
  const tookMs = performance.now() - beganMs;
  const mainPercent = (100 * (mainThreadMs(miner.pid) - before.mainMs)) / tookMs;
  const after = await statusOf(miner);
  const logged = miner.log.slice(before.logged);
  await miner.stop();
  const { connections, shares, bytes } = await attacker.report();
  const nextAccepted = (await next?.report())?.accepted ?? null;
  await attacker.close();
  await next?.close();
  return {
    attack,
    mhs: (after.hashes - before.hashes) / (after.uptimeSeconds - before.uptimeSeconds) / 1e6,
    healthzMs: { p50: quantile(probes, 0.5), max: Math.max(...probes) },
    mainPercent,
    rssMib: rss / 1024,
    connections,
    shares,
    sentMb: bytes / 1e6,
    nextAccepted,
    logLines: logged.length,
    warnings: logged.filter((each) => / (WARN|ERROR): /.test(each)),
  };
}

/** @returns how long /healthz took on a connection of its own, in ms */
async function probe(port) {
  const beganMs = performance.now();
  const asked = request({ host: '127.0.0.1', port, path: '/healthz', agent: false, timeout: PROBE_TIMEOUT_MS });
  const answered = new Promise((resolve) => {
    for (const end of ['response', 'timeout', 'error']) asked.on(end, resolve);
  });
  asked.end();
  await answered;
  asked.destroy();
  return performance.now() - beganMs;
}
