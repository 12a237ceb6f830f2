/** A companion that is made anew when the settings that it goes by change. */

import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/settings.ts';
import type { LiveConfig } from '../live-config.ts';
import type { Companion } from '../run-miner.ts';

/** @returns undefined where the settings do not ask for it. @throws UsageError when they ask for what cannot be had here. */
export type Make = (config: Config) => Promise<Companion | undefined>;

/**
 * @param settings those that it goes by
 * @throws UsageError as `make` does at first. Later its faults are logged, and what there was goes on; of one that is made
 * and does not start, there is nothing until the settings change again.
 */
export async function renewing(
  live: LiveConfig,
  settings: (config: Config) => unknown,
  make: Make,
): Promise<Companion> {
  let inForce = settings(live.config);
  const first = await make(live.config);
  return async (running) => {
    let end = await first?.(running);
    const renew = async () => {
      const { config } = live;
      if (isDeepStrictEqual(settings(config), inForce)) return;
      inForce = settings(config);
      try {
        const next = await make(config);
        await end?.();
        end = undefined;
        end = await next?.(running);
      } catch (fault) {
        running.log.error({ tag: 'config' }, `that is not in force: ${(fault as Error).message}`);
      }
    };
    // One after the other, however fast files change; they may have changed while it started.
    let renewal = renew();
    const forget = live.onChange(() => {
      renewal = renewal.then(renew);
    });
    return async () => {
      forget();
      await renewal;
      await end?.();
    };
  };
}
