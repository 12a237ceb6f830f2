/** Files that only their owner may read and write: logs, ledgers, the block log. */

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Only the owner may read and write. */
const MODE = 0o600;
/** Opening must not follow a symbolic link or wait for the reader of a pipe. Windows has neither flag. */
export const CAREFULLY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const TO_APPEND = constants.O_APPEND | constants.O_CREAT | CAREFULLY;

/**
 * Opens a file for appending, creates it if necessary, and sets its mode to 0600.
 * @param reads whether it is read through the same handle, too
 * @throws Error that says why it cannot be used: it is a link, not a regular file, or belongs to another user
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

/** Ignores EPERM: on FAT, which has no modes, the mount decides who may read a file. */
export async function chmodWhereModesAre(handle: FileHandle): Promise<void> {
  await handle.chmod(MODE).catch((fault) => {
    if (fault.code !== 'EPERM') throw fault;
  });
}

const NO_FILE = 'it exists and is not a regular file';
const UNFIT: Readonly<Record<string, string>> = {
  ELOOP: 'it is a symbolic link. Name the file that it leads to',
  EISDIR: NO_FILE,
  ENXIO: NO_FILE, // This is a pipe without a reader, or a socket.
};
