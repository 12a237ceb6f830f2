/** Watches the nodes of a rig: one that stands still, lags or follows another branch is warned of, and left if there are others. */

import { pause } from '../../system/abort.ts';
import type { NodeWatchOptions } from '../node-watch.ts';
import type { Sidecar } from '../run-miner.ts';

/** By then the first devices mine. What is needed here is loaded only then. */
const FIRST_MS = 10_000;

export function nodes(options: NodeWatchOptions, firstMs = FIRST_MS): Sidecar {
  return async ({ log }) => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const watch = async () => {
      await pause(firstMs, signal);
      if (signal.aborted) return;
      const { runNodeWatch } = await import('../node-watch.ts');
      await runNodeWatch(options, log, signal);
    };
    const watching = watch().catch((fault) => {
      log.error({ tag: 'node' }, `nodes are not watched any more, please report it: ${(fault as Error).stack}`);
    });
    return async () => {
      stopping.abort();
      await watching;
    };
  };
}
