/** GPUs with injected faults: their child process runs faulty-child.mjs. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SearcherOptions } from '#pickaxe/miner/engine/gpu/child/searcher.js';
import type { GpuOptions } from '#pickaxe/miner/engine/gpu/gpu-engine.js';

export type Fault =
  /** The driver does not give the device. */
  | 'no device'
  /** The process dies at the self-test of the first variant of the kernel. */
  | 'loss while tuning'
  /** The process dies at the self-test of the first variant that is measured while it mines. */
  | 'loss before measuring'
  /** The process dies when it measures a variant of the plain shader while it mines. */
  | 'loss while measuring'
  /** The process dies while it mines, between two turns of measuring. */
  | 'loss between turns'
  /** The self-test sees wrong hashes. */
  | 'wrong-hashes'
  /** The first check in the middle of mining sees wrong hashes. */
  | 'wrong hashes later'
  /** Every report has a candidate that does not solve. */
  | 'wrong nonces'
  /** The second report is of a range that was not given. */
  | 'wrong range'
  /** The second report is garbled. */
  | 'garbage'
  /** Ranges are accepted and never reported, as with a driver that hangs. */
  | 'hang'
  /** The whole process stands still after the first report. */
  | 'freeze'
  /** The device is lost after the first report, as when it is reset. */
  | 'device loss'
  /** The process dies after the first report, as when the driver crashes. */
  | 'crash';

const path = fileURLToPath(new URL('./faulty-child.mjs', import.meta.url));
let folder: string | undefined;
let files = 0;

export type SearcherChanges = Partial<Pick<SearcherOptions, 'firstCounters' | 'checkEveryMs'>>;

/**
 * @param faults the fault of each opening of the GPU, in order; later openings have none
 * @param searcher the searcher's options to change
 * @returns options for one GPU
 */
export function faulty(
  faults: readonly (Fault | undefined)[],
  searcher: SearcherChanges = {},
): Pick<GpuOptions, 'child'> {
  folder ??= mkdtempSync(join(tmpdir(), 'pickaxe-faults-'));
  const file = join(folder, `${files++}.json`);
  writeFileSync(file, JSON.stringify({ faults, searcher }));
  return { child: { path, args: [file] } };
}
