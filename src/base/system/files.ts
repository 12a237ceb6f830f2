/** Opens private files, renames files, and finds the user's folders. */

import { constants, renameSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const MODE = 0o600;
/** Flags for `open`: follow no symbolic link, and do not wait for the other end of a pipe. Windows lacks both flags. */
export const CAREFULLY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const TO_APPEND = constants.O_APPEND | constants.O_CREAT | CAREFULLY;

/**
 * Opens a file for appending, creates it if necessary, and sets its mode to 0600.
 * @param reads whether the file is opened for reading as well
 * @throws Error whose message gives the reason: the file is a symbolic link, is not a regular file, belongs to another
 *   user, or cannot be opened
 */
export async function openPrivate(path: string, reads = false): Promise<FileHandle> {
  const access = reads ? constants.O_RDWR : constants.O_WRONLY;
  const handle = await open(path, TO_APPEND | access, MODE).catch((fault: NodeJS.ErrnoException) => {
    throw new Error(UNFIT[fault.code ?? ''] ?? fault.message, { cause: fault });
  });
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw new Error(NO_FILE);
    const user = process.geteuid?.() ?? facts.uid;
    if (facts.uid !== user) throw new Error(`it belongs to another user (uid ${facts.uid})`);
    await chmodWhereModesAre(handle);
    return handle;
  } catch (fault) {
    await handle.close();
    throw fault;
  }
}

/** Sets a file's mode to 0600. EPERM is ignored: FAT has no modes, so the mount options decide who may read a file. */
export async function chmodWhereModesAre(handle: FileHandle): Promise<void> {
  await handle.chmod(MODE).catch((fault) => {
    if (fault.code !== 'EPERM') throw fault;
  });
}

const NO_FILE = 'it exists and is not a regular file';
const UNFIT: Readonly<Record<string, string>> = {
  ELOOP: 'it is a symbolic link. Name the file that it leads to',
  EISDIR: NO_FILE,
  ENXIO: NO_FILE, // a pipe without a reader, or a socket
};

/*
 * Renaming. On Windows, a virus scanner or an indexer may have a file open just after pickaxe has written it. Until
 * that program closes the file, the file can be neither renamed nor replaced, so several attempts are made.
 */

/** Times to wait before the second and each further attempt, 1.3 seconds in all. */
const WAITS_MS: readonly number[] = [10, 20, 40, 80, 150, 300, 700];

/** Error codes of Windows while another program has one of the two files open. */
const HELD: ReadonlySet<string | undefined> = new Set(['EACCES', 'EBUSY', 'EPERM']);

interface System {
  readonly platform: string;
  readonly rename: (from: string, to: string) => void | Promise<void>;
  readonly wait: (ms: number) => void | Promise<void>;
}

const isHeld = (fault: unknown, { platform }: System) =>
  platform === 'win32' && HELD.has((fault as NodeJS.ErrnoException).code);

/** Renames a file, with several attempts on Windows. @throws Error of the system */
export async function renameFile(
  from: string,
  to: string,
  system: System = { platform: process.platform, rename, wait: (ms) => sleep(ms) },
): Promise<void> {
  for (const ms of WAITS_MS) {
    try {
      return await system.rename(from, to);
    } catch (fault) {
      if (!isHeld(fault, system)) throw fault;
    }
    await system.wait(ms);
  }
  await system.rename(from, to);
}

/** How `renameFileSync` renames and waits. */
export const RENAMING: System = { platform: process.platform, rename: renameSync, wait: standStill };

/** Like `renameFile`, but blocks the thread between two attempts. @throws Error of the system */
export function renameFileSync(from: string, to: string, system: System = RENAMING): void {
  for (const ms of WAITS_MS) {
    try {
      return void system.rename(from, to);
    } catch (fault) {
      if (!isHeld(fault, system)) throw fault;
    }
    system.wait(ms);
  }
  system.rename(from, to);
}

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/* The user's folders. They are not created here, but by the code that writes into them. */

type Environment = Readonly<Record<string, string | undefined>>;

/** The kinds of folders. On Windows, both kinds are the same folder by default. */
const KINDS = {
  cache: { variable: 'XDG_CACHE_HOME', darwin: ['Library', 'Caches'], other: ['.cache'] },
  state: { variable: 'XDG_STATE_HOME', darwin: ['Library', 'Application Support'], other: ['.local', 'state'] },
} as const;

/**
 * The folder for data that can be measured again.
 * @returns `$XDG_CACHE_HOME/pickaxe` if the variable has an absolute path (XDG Base Directory Specification), otherwise
 *   the platform's usual place; undefined for a user without a home directory
 */
export function userCacheDirectory(
  environment: Environment = process.env,
  platform: string = process.platform,
  home: () => string = homedir,
): string | undefined {
  return userDirectory(KINDS.cache, environment, platform, home);
}

/**
 * The folder for data that must not be lost, such as the block log.
 * @returns `$XDG_STATE_HOME/pickaxe` if the variable has an absolute path (XDG Base Directory Specification), otherwise
 *   the platform's usual place; undefined for a user without a home directory
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
    // HOME is not set, and the system has no entry for the user, as in a container that runs with an arbitrary user id.
    return undefined;
  }
}
