/**
 * Remembers made-up tunings of GPUs, so that the command line skips measurements that take a software GPU half a
 * minute.
 */

import { Cache } from '#pickaxe/base/system/cache.js';
import { userCacheDirectory } from '#pickaxe/base/system/files.js';
import { tuningKey } from '#pickaxe/miner/engine/gpu/child/tuned-scanner.js';
import { listGpus } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { settled } from '../miner/engine/gpu/adapter.ts';
import { isolated } from './pickaxe.ts';

/** No test compares the tests' GPUs by this rate. */
const RATE = { hashesPerSecond: 1e6 };

/** @param driver Dawn's description of the adapter, as in `pickaxe devices --json` */
export function rememberGpu({ model, driver }: { readonly model: string; readonly driver: string }): void {
  const { variant } = settled;
  const tuning = { ...settled, ...RATE, variants: [{ variant, ...RATE }], batches: [] };
  new Cache(userCacheDirectory(isolated.env)!).remember(`gpu ${model}`, tuningKey(driver), tuning);
}

/** Remembers a tuning of every GPU that this machine has. */
export async function rememberGpus(): Promise<void> {
  for (const gpu of await listGpus()) rememberGpu(gpu);
}
