/** Restarts within the process. Mining ends as usual, and begins again with the configuration as it then is. */

import { type Clock, systemClock } from '../../base/system/clock.ts';
import type { Loaded } from '../config/load.ts';
import type { Config } from '../config/settings.ts';

/** Through this object, one run of the miner is asked to end so that mining begins again. */
export class Restart {
  readonly #asking = new AbortController();
  #isCancelled = false;
  /** Number of the run's accepted blocks, set when the run ends. */
  accepted = 0;

  /** Fires when the run must end so that mining begins again. */
  get asked(): AbortSignal {
    return this.#asking.signal;
  }

  /** Whether mining begins again after this run. */
  get isDue(): boolean {
    return this.#asking.signal.aborted && !this.#isCancelled;
  }

  ask(): void {
    this.#asking.abort();
  }

  /** Cancels the restart. Called when mining is stopped for good. */
  cancel(): void {
    this.#isCancelled = true;
  }
}

/**
 * Mines in one or several runs. After a run, the next one begins if a restart was asked for, and if the limits on time
 * and blocks are not reached. The limits apply to all runs together.
 * @param mine makes one run, within what remains of the limits @returns the exit code of the last run
 * @throws UsageError when the configuration has become invalid
 */
export async function withRestarts(
  first: Loaded,
  reload: () => Promise<Loaded>,
  mine: (loaded: Loaded, run: Config['run'], restart: Restart) => Promise<number>,
  clock: Clock = systemClock,
): Promise<number> {
  const secondsSince = (ms: number) => (clock.monotonicMs() - ms) / 1000;
  const startMs = clock.monotonicMs();
  let accepted = 0;
  for (let loaded = first; ; loaded = await reload()) {
    const { run } = loaded.config;
    const restart = new Restart();
    const code = await mine(loaded, restOf(run, secondsSince(startMs), accepted), restart);
    accepted += restart.accepted;
    if (!restart.isDue || isOver(run, secondsSince(startMs), accepted)) return code;
  }
}

type Run = Config['run'];

function restOf({ duration, blocks, ...rest }: Run, seconds: number, accepted: number): Run {
  return {
    ...rest,
    ...(duration !== undefined && { duration: duration - seconds }),
    ...(blocks !== undefined && { blocks: blocks - accepted }),
  };
}

function isOver({ duration, blocks }: Run, seconds: number, accepted: number): boolean {
  return (duration !== undefined && seconds >= duration) || (blocks !== undefined && accepted >= blocks);
}
