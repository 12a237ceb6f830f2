/** Restarts a sidecar when its settings change. */

import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/settings.ts';
import type { LiveConfig } from '../live-config.ts';
import type { Sidecar } from '../run-miner.ts';

/** @returns undefined when the settings do not ask for the sidecar. @throws UsageError when it cannot run here */
export type Make = (config: Config) => Promise<Sidecar | undefined>;

/**
 * @param settings picks the settings that the sidecar depends on
 * @throws UsageError when the first instance cannot be made. Later errors are logged and the old instance keeps running. If
 * the new one fails to start, nothing runs until the settings change again.
 */
export async function restartOnChange(
  live: LiveConfig,
  settings: (config: Config) => unknown,
  make: Make,
): Promise<Sidecar> {
  let inForce = settings(live.config);
  const first = await make(live.config);
  return async (running) => {
    let end = await first?.(running);
    const restart = async () => {
      const { config } = live;
      if (isDeepStrictEqual(settings(config), inForce)) return;
      inForce = settings(config);
      try {
        const next = await make(config);
        await end?.();
        end = undefined;
        end = await next?.(running);
      } catch (fault) {
        running.log.error({ tag: 'config' }, `the change does not take effect: ${(fault as Error).message}`);
      }
    };
    // Restarts follow one another, however fast files change. The first call handles changes made during the start.
    let restarts = restart();
    const forget = live.onChange(() => {
      restarts = restarts.then(restart);
    });
    return async () => {
      forget();
      await restarts;
      await end?.();
    };
  };
}
