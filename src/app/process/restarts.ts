/** Restarts within the process: mining ends cleanly, and begins again with the configuration as it is then. */

import { type Clock, systemClock } from '../../base/system/clock.ts';
import type { Loaded } from '../config/load.ts';
import type { Config } from '../config/settings.ts';

/** Asks one run of the miner to end, so that mining begins again. */
export class Restart {
  readonly #asking = new AbortController();
  #isCancelled = false;
  /** Blocks that the run has had accepted, known after its end. */
  accepted = 0;

  /** Fires when mining must end to begin again. */
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

  /** Cancels the restart, because mining was stopped for good. */
  cancel(): void {
    this.#isCancelled = true;
  }
}

/**
 * Mines until a run ends without a request to begin again, or a limit on time or blocks is reached. The limits apply to
 * all runs together.
 * @param mine makes one run, within what is left of the limits @returns the exit code of the last run
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
