/** `--pause-on-activity`: pauses mining while somebody uses the machine. */

import type { Config } from '../../config/settings.ts';
import { pauseWhileUsed } from '../../guards/activity.ts';
import { findWatches } from '../../guards/idle/find.ts';
import { UsageError } from '../exit-codes.ts';
import type { Sidecar } from '../run-miner.ts';

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
