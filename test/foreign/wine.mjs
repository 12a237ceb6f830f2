// Finds Wine and makes its Windows, for the tests and for bench/kernels/windows.mjs.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Debian keeps Wine's 64-bit programs off the PATH. */
const DEBIAN = '/usr/lib/wine/';
const starts = (program) => spawnSync(program, ['--version']).status === 0;

const wine = ['wine64', 'wine', `${DEBIAN}wine64`].find(starts);
/**
 * Lets Linux place a program's memory at the same addresses each time. At random addresses, one start of Wine in
 * several thousand ends at once with exit code 1 and without a word: the heap then covers the page 0x7ffe0000, which
 * Windows' programs must have.
 */
const FIXED_ADDRESSES = ['setarch', '-R'];
// Some containers forbid it; there, those few starts fail.
export const areAddressesFixed = spawnSync(FIXED_ADDRESSES[0], [...FIXED_ADDRESSES.slice(1), 'true']).status === 0;
/** The first words of a command that runs a program of Windows; undefined without Wine. */
export const wineCommand = wine && [...(areAddressesFixed ? FIXED_ADDRESSES : []), wine];
/** The program that ends what runs; undefined without Wine. */
export const wineServer = ['wineserver', `${DEBIAN}wineserver64`].find(starts);

/** Far longer than the end of all programs takes, and than making a Windows does. */
const END_MS = 60_000;
const MAKE_MS = 120_000;
/** Wine 8 sometimes fails to make a new Windows, and shows it only when something runs there. */
const ATTEMPTS = 3;

const cache = fileURLToPath(new URL('../../node_modules/.cache/pickaxe/', import.meta.url));
/** A Windows 10 that is never run, but copied: making one takes 10 seconds, and copying it one. */
const original = join(cache, `windows-10-${versionOfWine()}`);

function versionOfWine() {
  return (
    wine &&
    spawnSync(wine, ['--version'], { encoding: 'utf8' })
      .stdout.trim()
      .replace(/[^\w.]+/g, '-')
      .replace(/-$/, '')
  );
}

/** Whether there is a Windows to copy. */
export const hasOriginal = () => existsSync(original);

/**
 * @param folder has the empty folder `home`, and the folder `prefix` with a Windows or nothing in it
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

/** Ends Wine's server, and with it all programs. @param env what wineEnvironment returned */
export function endWine(env) {
  for (const flag of ['--kill', '--wait']) spawnSync(wineServer, [flag], { env, timeout: END_MS });
}

/** Makes the Windows that is copied, if there is none yet. @throws Error when Wine cannot make it */
export function makeOriginal() {
  if (hasOriginal()) return;
  mkdirSync(cache, { recursive: true });
  for (let attempt = 1; ; attempt++) {
    const folder = mkdtempSync(join(cache, 'unfinished-'));
    try {
      for (const name of ['home', 'prefix']) mkdirSync(join(folder, name));
      const env = wineEnvironment(folder);
      const [program, ...first] = wineCommand;
      const options = { env, cwd: folder, stdio: 'ignore', timeout: MAKE_MS };
      const run = (...args) => spawnSync(program, [...first, ...args], options).status;
      run('wineboot', '--init');
      // A new one takes the part of Windows 7, on which Node.js does not start.
      const isMade = run('winecfg', '/v', 'win10') === 0;
      endWine(env);
      if (isMade) return renameSync(join(folder, 'prefix'), original);
      if (attempt === ATTEMPTS) throw new Error('Wine could not make a Windows');
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  }
}

/**
 * Copies the Windows into a folder, as `prefix`, makes the folder `home` beside it, and starts Wine's server. By itself
 * the server would start and end with each program, which takes a second, and a program that starts while it ends would
 * fail.
 * @throws Error when it cannot be copied
 */
export function copyWindows(folder) {
  mkdirSync(join(folder, 'home'));
  // Wine changes none of its files but by replacing them, so links to them do, except from one disk to another.
  for (const how of ['-al', '-a']) {
    rmSync(join(folder, 'prefix'), { recursive: true, force: true });
    if (spawnSync('cp', [how, original, join(folder, 'prefix')]).status !== 0) continue;
    const options = { env: wineEnvironment(folder), stdio: 'ignore', timeout: MAKE_MS };
    if (spawnSync(wineServer, ['--persistent'], options).status !== 0) throw new Error('Wine’s server did not start');
    return;
  }
  throw new Error(`${original} could not be copied: node test/foreign/programs.mjs makes it`);
}
