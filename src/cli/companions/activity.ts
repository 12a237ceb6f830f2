/** `--pause-on-activity` */

import { restWhileUsed } from '../../guards/activity.ts';
import { findWatches } from '../../guards/idle/find.ts';
import { UsageError } from '../exit-codes.ts';
import type { Companion } from '../run-miner.ts';

export interface ActivityOptions {
  /** Seconds without anybody. */
  readonly pauseOnActivity?: number;
}

export async function activity({ pauseOnActivity }: ActivityOptions): Promise<Companion | undefined> {
  if (pauseOnActivity === undefined) return undefined;
  return async (running) => {
    const watches = await findWatches((why) => running.log.warn({ tag: 'rest' }, why));
    if (watches.length > 0) return restWhileUsed(watches, pauseOnActivity * 1000, running);
    throw new UsageError(
      '--pause-on-activity: nothing here tells when somebody uses this machine. On Linux it takes /dev/pts, logind, ' +
        'GNOME or xprintidle, on macOS ioreg; other systems cannot be watched.',
    );
  };
}
