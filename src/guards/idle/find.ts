/** Finds everything on this system that shows whether people use it. */

import { watchDesktop, watchMac } from './desktops.ts';
import { watchLogind } from './logind.ts';
import { watchTerminals } from './terminals.ts';
import type { IdleWatch } from './watch.ts';

/** @param tell receives a sentence for people about each thing that cannot be watched */
export async function findWatches(
  tell: (why: string) => void,
  platform: string = process.platform,
): Promise<IdleWatch[]> {
  if (platform === 'darwin') return present([await watchMac()]);
  if (platform !== 'linux') return [];
  const desktop = await watchDesktop(process.env);
  // The desktop itself is more exact than logind, and faster.
  return present([desktop ?? (await watchLogind(tell)), await watchTerminals('/dev')]);
}

function present(watches: (IdleWatch | undefined)[]): IdleWatch[] {
  return watches.filter((watch) => watch !== undefined);
}
