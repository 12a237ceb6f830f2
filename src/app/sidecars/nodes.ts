/**
 * Watches the nodes of a rig: one that stands still, lags or follows another branch is warned of, and left if there are
 * others.
 */

import { pause } from '../../system/abort.ts';
import type { NodeWatchOptions } from '../node-watch.ts';
import type { Sidecar } from '../run-miner.ts';

/**
 * By then the first devices mine. What is needed here is loaded only then, unless clients could use up all open files
 * before.
 */
const FIRST_MS = 10_000;
/** The time between a fault of the watch and its next attempt. */
const AGAIN_MS = 60_000;

interface WatchTimes {
  readonly firstMs?: number;
  readonly againMs?: number;
}

/**
 * @param loadsFirst whether the rig starts only when all that is needed here is loaded. Node.js never tries again to
 *   load a module for
 * which no file could be opened
 */
export function nodes(options: NodeWatchOptions, loadsFirst: boolean, times: WatchTimes = {}): Sidecar {
  const { firstMs = FIRST_MS, againMs = AGAIN_MS } = times;
  const load = () => import('../node-watch.ts');
  return async ({ log }) => {
    if (loadsFirst) await load();
    const stopping = new AbortController();
    const { signal } = stopping;
    let told = '';
    const unhealthy = new Set<number>();
    const judge = (rank: number, fault: string | undefined) => {
      if (fault === undefined) unhealthy.delete(rank);
      else unhealthy.add(rank);
      options.source.judge(rank, fault);
    };
    const watch = async () => {
      try {
        const { runNodeWatch } = await load();
        await runNodeWatch({ ...options, source: { judge } }, log, signal);
      } catch (fault) {
        // The next attempt takes every node for healthy at first.
        for (const rank of unhealthy) judge(rank, undefined);
        const { message, stack } = fault as Error;
        if (message === told) return;
        told = message;
        log.error({ tag: 'node' }, `nodes are not watched, which is tried again; please report it: ${stack}`);
      }
    };
    const watching = (async () => {
      await pause(firstMs, signal);
      while (!signal.aborted) {
        await watch();
        await pause(againMs, signal);
      }
    })();
    return async () => {
      stopping.abort();
      await watching;
    };
  };
}
