/** What differs between two configurations, so that a miner that runs can apply a new one. */

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
  /** Changes that take effect at once. */
  readonly live: readonly Change[];
  /** Changes that take effect at the next start. */
  readonly needsRestart: readonly Change[];
}

export function changes(before: Config, after: Config): Changes {
  const live: Change[] = [];
  const needsRestart: Change[] = [];
  for (const entry of ENTRIES) {
    const change = { path: entry.path, before: valueIn(before, entry), after: valueIn(after, entry) };
    if (isDeepStrictEqual(change.before, change.after)) continue;
    (entry.setting.live ? live : needsRestart).push(change);
  }
  return { live, needsRestart };
}
