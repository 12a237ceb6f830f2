/** `--log-file`: also writes the log to a rotated file. While a disk is full, lines wait and mining goes on. */

import { constants, statSync } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { settledWithin } from '../../base/system/abort.ts';
import { AppendFile } from '../../base/system/append-file.ts';
import { CAREFULLY, chmodWhereModesAre, openPrivate, renameFile } from '../../base/system/files.ts';
import { PrivateFile } from '../../base/system/private-file.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { type LogFormat, logFileLine } from '../../rig/terminal/log.ts';
import type { Config } from '../config/settings.ts';
import { UsageError } from './exit.ts';

/** Pause before a file is opened again after an error. */
const RETRY_MS = 60_000;
/** Maximum number of bytes that wait for a slow disk. Further lines are dropped. */
const MAX_WAITING_BYTES = 1_048_576;
/** Time limit for a disk that hangs when the process ends. */
const CLOSE_MS = 2_000;

/**
 * Makes a log file that, like the rotated files, only its owner may read: logs contain accounts and addresses of nodes.
 * @returns undefined when the settings name no log file
 * @throws UsageError when the file cannot be written
 */
export async function openLogFile({ path: file, size, keep }: Config['logFile']): Promise<LogFile | undefined> {
  if (file === undefined) return undefined;
  const path = resolve(file);
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--log-file: there is no directory ${dirname(path)}. Make it first.`);
  }
  try {
    await (await openPrivate(path)).close();
    await makeOldPrivate(path);
  } catch (fault) {
    throw new UsageError(`--log-file: ${path} cannot be written: ${(fault as Error).message}.`);
  }
  return new LogFile(path, size, keep, (line) => process.stderr.write(line));
}

export class LogFile {
  readonly #file: RotatingFile;
  readonly #lines: AppendFile;

  /** @param size bytes @param complain gets messages for people, since log lines would come back to this file */
  constructor(path: string, size: number, keep: number, complain: (line: string) => void) {
    this.#file = new RotatingFile({
      path,
      size,
      keep,
      unrotated: (fault) => complain(`the log file cannot be rotated and keeps growing: ${fault.message}\n`),
    });
    this.#lines = new AppendFile({
      append: (line) => this.#file.append(line),
      changed: (why) => {
        const again = `trying again every ${RETRY_MS / 1000} s`;
        if (why !== undefined) complain(`the log file cannot be written, mining goes on: ${why} (${again})\n`);
      },
      waitingBytes: MAX_WAITING_BYTES,
      againMs: RETRY_MS,
      // The file is rotated at the line that fills it.
      pieceBytes: 0,
    });
  }

  write(line: string): void {
    this.#lines.add(line);
  }

  /** Settles when all lines are in the file, or at a time limit. */
  async close(): Promise<void> {
    await this.#lines.close(CLOSE_MS);
    await settledWithin(this.#file.close(), CLOSE_MS);
  }
}

/*
 * An append-only file with rotation: at the size limit FILE is renamed to FILE.1, FILE.1 to FILE.2, and so on. The
 * package rotating-file-stream follows symbolic links and keeps the mode of an existing file, so it is not used.
 */

/** Sets mode 0600 of the rotated files, except symbolic links and files of other users. @throws Error of the system */
async function makeOldPrivate(path: string): Promise<void> {
  const folder = dirname(path);
  const start = `${basename(path)}.`;
  const isOld = (name: string) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length));
  for (const name of (await readdir(folder)).filter(isOld)) {
    const handle = await open(join(folder, name), constants.O_RDONLY | CAREFULLY).catch((fault) => {
      if (fault.code === 'ELOOP' || fault.code === 'EACCES') return undefined;
      throw fault;
    });
    try {
      if (handle && (await handle.stat()).isFile()) await chmodWhereModesAre(handle);
    } finally {
      await handle?.close();
    }
  }
}

interface RotatingFileOptions {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  readonly keep: number;
  /** Called once when the rotation failed. The file grows on; rotation is tried again after another `size` bytes. */
  readonly unrotated: (fault: Error) => void;
}

class RotatingFile {
  readonly #options: RotatingFileOptions;
  readonly #file: PrivateFile;
  /** Size in bytes at which the file is rotated. */
  #full: number;
  /** False once a failed rotation has been reported. */
  #rotates = true;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
    this.#file = new PrivateFile(options.path);
    this.#full = options.size;
  }

  /** @returns the number of written bytes @throws Error of the system; the next call opens the file again */
  async append(line: Buffer): Promise<number> {
    const bytes = await this.#file.append(line);
    if (this.#file.size >= this.#full) await this.#rotate();
    return bytes;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #rotate(): Promise<void> {
    const { path, size, keep, unrotated } = this.#options;
    await this.#file.close();
    const fault = await shift(path, keep).catch((thrown: Error) => thrown);
    // If the file cannot be opened now, the next line opens it.
    await this.#file.open().catch(() => {});
    this.#full = fault === undefined ? size : this.#file.size + size;
    if (fault === undefined) return;
    if (this.#rotates) unrotated(fault);
    this.#rotates = false;
  }
}

/** Renames FILE to FILE.1 and so on, up to the first free name, or to FILE.`keep`, which is replaced. */
async function shift(path: string, keep: number): Promise<void> {
  const names = [path];
  for (let i = 1; i <= keep && (await exists(names[i - 1])); i++) names.push(`${path}.${i}`);
  for (let i = names.length - 1; i > 0; i--) await renameFile(names[i - 1], names[i]);
}

async function exists(path: string): Promise<boolean> {
  const facts = await lstat(path).catch((fault) => {
    if (fault.code === 'ENOENT') return undefined;
    throw fault;
  });
  return facts !== undefined;
}

/* The error of a failed start: when a mining system starts pickaxe, people see it only in the log file. */

export interface LogPlace {
  /** Undefined without a log file. */
  readonly file?: string | undefined;
  readonly format: LogFormat;
}

/** Appends the message's lines in the log file's format. If the file cannot be written, only stderr has them. */
export async function noteStartError({ file, format }: LogPlace, message: string): Promise<void> {
  if (file === undefined) return;
  const lines = message
    .split('\n')
    .map((line) =>
      logFileLine(format, { level: 'error', timeMillis: Date.now(), tag: 'start', message: oneLine(line) }),
    );
  const handle = await openPrivate(resolve(file)).catch(() => undefined);
  await handle?.appendFile(lines.join('')).catch(() => {});
  await handle?.close();
}
