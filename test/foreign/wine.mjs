// Finds Wine, for the tests and for bench/windows.mjs.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Debian keeps Wine's 64-bit programs off the PATH. */
const DEBIAN = '/usr/lib/wine/';
const starts = (program) => spawnSync(program, ['--version']).status === 0;

/** The program that runs those of Windows; undefined without Wine. */
export const wine = ['wine64', 'wine', `${DEBIAN}wine64`].find(starts);
/** The program that ends what runs; undefined without Wine. */
export const wineServer = ['wineserver', `${DEBIAN}wineserver64`].find(starts);

/** Far longer than the end of all programs takes. */
const END_MS = 60_000;

/**
 * @param folder has the empty folders `prefix` and `home`
 * @returns the environment of Wine. No display is used
 */
export const wineEnvironment = (folder) => ({
  PATH: process.env.PATH ?? '',
  // Wine would link the user's folders to those of this home.
  HOME: join(folder, 'home'),
  WINEPREFIX: join(folder, 'prefix'),
  WINEDEBUG: '-all',
  // Without these two, Wine would ask to install them.
  WINEDLLOVERRIDES: 'mscoree,mshtml=',
});

/** Wine's server ends by itself only some seconds after the last program. @param env what wineEnvironment returned */
export function endWine(env) {
  for (const flag of ['--kill', '--wait']) spawnSync(wineServer, [flag], { env, timeout: END_MS });
}
