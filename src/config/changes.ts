/** What differs between two configurations, for whoever applies a new one to a miner that runs. */

import { isDeepStrictEqual } from 'node:util';
import { type Config, ENTRIES, valueIn } from './settings.ts';

export interface Change {
  /** `devices.temp-limit` */
  readonly path: string;
  /** undefined where it was not set */
  readonly before: unknown;
  readonly after: unknown;
}

export interface Changes {
  /** Those that can take effect at once. */
  readonly live: readonly Change[];
  /** Those that take effect at the next start. */
  readonly restart: readonly Change[];
}

export function changes(before: Config, after: Config): Changes {
  const live: Change[] = [];
  const restart: Change[] = [];
  for (const entry of ENTRIES) {
    const change = { path: entry.path, before: valueIn(before, entry), after: valueIn(after, entry) };
    if (isDeepStrictEqual(change.before, change.after)) continue;
    (entry.setting.live ? live : restart).push(change);
  }
  return { live, restart };
}
