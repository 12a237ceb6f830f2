/** `--schedule`: pauses mining outside the schedule's windows. */

import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/settings.ts';
import { keepSchedule, pauseOnBattery, pauseWhileUsed } from '../../guards/guards.ts';
import { findWatches } from '../../guards/idle.ts';
import { powerReader } from '../../guards/power.ts';
import { watchHashrate } from '../../notify/notices.ts';
import { UsageError } from '../exit.ts';
import type { LiveConfig } from '../live-config.ts';
import type { Sidecar } from '../run-miner.ts';

export async function schedule({ pause: { schedule: windows } }: Config): Promise<Sidecar | undefined> {
  if (windows === undefined) return undefined;
  return async (running) => keepSchedule(windows, running);
}

/* `--pause-on-battery`: pauses mining while the machine runs on battery. */

/** @throws UsageError on systems whose power supply pickaxe cannot read. */
export async function battery({ pause }: Config): Promise<Sidecar | undefined> {
  if (!pause.onBattery) return undefined;
  const readPower = powerReader();
  if (!readPower) throw new UsageError('--pause-on-battery works on Linux and macOS only.');
  return (running) => pauseOnBattery(readPower, running);
}

/** `--pause-on-activity`: pauses mining while somebody uses the machine. */
export async function activity({ pause }: Config): Promise<Sidecar | undefined> {
  const { onActivity = 'none' } = pause;
  if (onActivity === 'none') return undefined;
  return async (running) => {
    const watches = await findWatches((why) => running.log.warn({ tag: 'pause' }, why));
    if (watches.length > 0) return pauseWhileUsed(watches, onActivity * 1000, running);
    throw new UsageError(
      '--pause-on-activity: pickaxe cannot see whether somebody uses this machine. On Linux it needs /dev/pts, logind, ' +
        'GNOME or xprintidle, on macOS ioreg; other systems are not supported.',
    );
  };
}

/** `--min-hashrate`: raises an alarm while the hashrate is too low. */
export async function alarm({ alarm: { minHashrate, after } }: Config): Promise<Sidecar | undefined> {
  if (minHashrate === undefined) return undefined;
  return async (running) => watchHashrate(minHashrate, after * 1000, running);
}

/* Restarts a sidecar when its settings change. */

/** @returns undefined when the settings do not ask for the sidecar. @throws UsageError when it cannot run here */
export type Make = (config: Config) => Promise<Sidecar | undefined>;

/**
 * @param settings picks the settings that the sidecar depends on
 * @throws UsageError when the first instance cannot be made. Later errors are logged and the old instance keeps
 *   running. If
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
