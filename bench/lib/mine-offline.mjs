// Mines with one engine without a node, on work that no nonce solves.

import { randomInt } from 'node:crypto';
import { Space } from '#pickaxe/miner/loop/space.js';
import { TARGET_BYTES, WORK_BYTES, WORK_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { LANES, laneWithin, NO_NONCE1, PAGES } from '#pickaxe/protocol/chain/nonce.js';
import { parseWork } from '#pickaxe/protocol/chain/work.js';

/**
 * @param target 32 bytes, little-endian; by default one that nothing meets
 * @param nonce1 the part of the nonce that is fixed; by default none
 */
export function newJob(target = new Uint8Array(TARGET_BYTES), nonce1 = NO_NONCE1) {
  const record = new Uint8Array(WORK_BYTES);
  record.set(target, WORK_OFFSET.target);
  return prepareJob(parseWork(record, { nonce1 }));
}

export const newSpace = ({ work } = newJob()) => new Space(laneWithin(work.nonce1, randomInt(LANES)), randomInt(PAGES));

/**
 * Mines for the given time after the first report, so that the start is not counted.
 * @param job one that is not solved; by default any
 * @returns the hashes and the time from the first report to the last, and `hashesPerSecond`
 */
export async function mineFor(engine, ms, job = newJob()) {
  const stop = new AbortController();
  let firstMs;
  let lastMs;
  let hashes = 0;
  let reports = 0;
  for await (const report of engine.search(job, newSpace(job), stop.signal)) {
    const nowMs = performance.now();
    if (stop.signal.aborted) continue;
    if (firstMs !== undefined) {
      hashes += report.hashes;
      reports++;
      lastMs = nowMs;
    }
    firstMs ??= nowMs;
    if (lastMs - firstMs >= ms) stop.abort();
  }
  const tookMs = lastMs - firstMs;
  return { ms: tookMs, hashes, reports, hashesPerSecond: (hashes * 1000) / tookMs };
}
