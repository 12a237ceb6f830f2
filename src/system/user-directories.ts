/** Where pickaxe keeps what it writes for a user. The folders are made when something is written. */

import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** What each system calls a kind of folder. Windows has one for both. */
const KINDS = {
  cache: { variable: 'XDG_CACHE_HOME', darwin: ['Library', 'Caches'], other: ['.cache'] },
  state: { variable: 'XDG_STATE_HOME', darwin: ['Library', 'Application Support'], other: ['.local', 'state'] },
} as const;

/**
 * For what can be found out again, such as measurements.
 * @returns `$XDG_CACHE_HOME/pickaxe` if the variable has an absolute path (XDG Base Directory Specification), otherwise the
 *   platform's usual place; undefined for a user without a home directory
 */
export function userCacheDirectory(
  environment: Environment = process.env,
  platform: string = process.platform,
  home: () => string = homedir,
): string | undefined {
  return userDirectory(KINDS.cache, environment, platform, home);
}

/**
 * For what must not be lost, such as the block log.
 * @returns `$XDG_STATE_HOME/pickaxe` if the variable has an absolute path (XDG Base Directory Specification), otherwise the
 *   platform's usual place; undefined for a user without a home directory
 */
export function userStateDirectory(
  environment: Environment = process.env,
  platform: string = process.platform,
  home: () => string = homedir,
): string | undefined {
  return userDirectory(KINDS.state, environment, platform, home);
}

function userDirectory(
  { variable, darwin, other }: (typeof KINDS)[keyof typeof KINDS],
  environment: Environment,
  platform: string,
  home: () => string,
): string | undefined {
  const { [variable]: xdg, LOCALAPPDATA: local } = environment;
  if (xdg && isAbsolute(xdg)) return join(xdg, 'pickaxe');
  if (platform === 'win32' && local) return join(local, 'pickaxe');
  try {
    const own = home();
    if (!isAbsolute(own)) return undefined;
    const folders = { darwin, win32: ['AppData', 'Local'] }[platform] ?? other;
    return join(own, ...folders, 'pickaxe');
  } catch {
    return undefined; // HOME is not set, and the system does not know the user, as with an arbitrary user id in a container.
  }
}
