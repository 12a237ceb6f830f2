/** `--log-file`: also writes the log to a file, and rotates it. While the disk is full, lines wait; mining goes on. */

import { constants, statSync } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { settledWithin } from '../../base/system/abort.ts';
import { AppendFile } from '../../base/system/append-file.ts';
import { systemClock } from '../../base/system/clock.ts';
import { CAREFULLY, chmodWhereModesAre, openPrivate, renameFile } from '../../base/system/files.ts';
import { PrivateFile } from '../../base/system/private-file.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { type LogFormat, logFileLine } from '../../rig/terminal/log.ts';
import type { Config } from '../config/settings.ts';
import { UsageError } from './exit.ts';

/** Time after which a failed write is repeated. */
const RETRY_MS = 60_000;
/** Maximum number of bytes that wait for a slow disk. Further lines are dropped. */
const MAX_WAITING_BYTES = 1_048_576;
/** Maximum time to wait for a disk that hangs: once for the last lines, and once for closing the file. */
const CLOSE_MS = 2_000;

/**
 * Opens the log file. Only its owner may read this file and the rotated files, because logs contain accounts and
 * addresses of nodes.
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

  /**
   * @param size in bytes @param keep number of rotated files
   * @param complain prints a message about the file for people. A log line would itself be written to the file
   */
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
      // Each line is written alone, so that the file is rotated right after the line that fills it.
      pieceBytes: 0,
    });
  }

  write(line: string): void {
    this.#lines.add(line);
  }

  /**
   * Tries once to write the waiting lines, and closes the file. Each of the two takes at most CLOSE_MS. Lines may be
   * lost if writing fails or takes longer.
   */
  async close(): Promise<void> {
    await this.#lines.close(CLOSE_MS);
    await settledWithin(systemClock, this.#file.close(), CLOSE_MS);
  }
}

/*
 * An append-only file with rotation: at the size limit, FILE is renamed to FILE.1, FILE.1 to FILE.2, and so on. The
 * package rotating-file-stream is not used, because it follows symbolic links and keeps the mode of an existing file.
 */

/**
 * Sets the mode of the rotated files to 0600, except for symbolic links and for files that this user may not open.
 * @throws Error of the system
 */
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
  /** Size in bytes at which the file is rotated. */
  readonly size: number;
  readonly keep: number;
  /**
   * Called when a rotation fails, unless the one before failed, too. The file keeps growing, and rotation is tried
   * again after each further `size` bytes.
   */
  readonly unrotated: (fault: Error) => void;
}

class RotatingFile {
  readonly #options: RotatingFileOptions;
  readonly #file: PrivateFile;
  /** Size in bytes at which the file is rotated next. After a failed rotation, it is larger than the option `size`. */
  #full: number;
  /** Whether the last rotation succeeded. Only the first of several failures in a row is reported. */
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
    // If this fails, the next line opens the file.
    await this.#file.open().catch(() => {});
    this.#full = fault === undefined ? size : this.#file.size + size;
    if (fault !== undefined && this.#rotates) unrotated(fault);
    this.#rotates = fault === undefined;
  }
}

/**
 * Renames FILE to FILE.1, FILE.1 to FILE.2, and so on, up to the first free name. If no name up to FILE.`keep` is free,
 * FILE.`keep` is replaced.
 */
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

/* The error of a failed start. When a mining system starts pickaxe, people see this error only in the log file. */

export interface LogPlace {
  /** Path of the log file; undefined if the settings name none. */
  readonly file?: string | undefined;
  readonly format: LogFormat;
}

/** Appends the lines of an error to the log file, in its format. Errors of the file are ignored. */
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
