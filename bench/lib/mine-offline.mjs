// Mines with one engine without a node, on work that no nonce solves.

import { randomInt } from 'node:crypto';
import { TARGET_BYTES, WORK_BYTES, WORK_OFFSET } from '#pickaxe/chain/bytes.js';
import { prepareJob } from '#pickaxe/chain/job.js';
import { LANES, PAGES } from '#pickaxe/chain/nonce.js';
import { parseWork } from '#pickaxe/chain/work.js';
import { Space } from '#pickaxe/mine/space.js';

/** @param target 32 bytes, little-endian; by default one that nothing meets */
export function newJob(target = new Uint8Array(TARGET_BYTES)) {
  const record = new Uint8Array(WORK_BYTES);
  record.set(target, WORK_OFFSET.target);
  return prepareJob(parseWork(record));
}

export const newSpace = () => new Space(randomInt(LANES), randomInt(PAGES));

/**
 * Mines for the given time after the first report, so that the start is not counted.
 * @returns the hashes and the time from the first report to the last, and `hashesPerSecond`
 */
export async function mineFor(engine, ms) {
  const stop = new AbortController();
  let firstMs;
  let lastMs;
  let hashes = 0;
  let reports = 0;
  for await (const report of engine.search(newJob(), newSpace(), stop.signal)) {
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
