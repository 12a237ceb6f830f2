/** `--log-file`: also writes the log to a file that is rotated. A full disk loses lines, but mining goes on. */

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config/settings.ts';
import { openPrivate } from '../system/private-file.ts';
import { UsageError } from './exit-codes.ts';
import { makeOldPrivate, RotatingFile } from './rotating-file.ts';

/** Pause before a file that could not be written is opened again. */
const RETRY_MS = 60_000;
/** How many bytes may wait for a slow disk. Further lines are dropped. */
const MAX_WAITING_BYTES = 1_048_576;
/** How long the end of the process waits for a disk that hangs. */
const CLOSE_MS = 2_000;

/**
 * Opens the log file. It contains accounts and addresses of nodes, so only its owner may read it and the rotated files.
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
  readonly #path: string;
  readonly #size: number;
  readonly #keep: number;
  readonly #complain: (line: string) => void;
  #stream: RotatingFile | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Whether a line has been written since the last complaint. */
  #fine = true;
  /** False once people have been told that the file cannot be rotated. */
  #rotates = true;

  /**
   * @param size bytes
   * @param complain receives a message for people. The log cannot be used for it: its lines come back to this file
   */
  constructor(path: string, size: number, keep: number, complain: (line: string) => void) {
    this.#path = path;
    this.#size = size;
    this.#keep = keep;
    this.#complain = complain;
    this.#open();
  }

  write(line: string): void {
    const stream = this.#stream;
    if (!stream || stream.writableLength > MAX_WAITING_BYTES) return;
    stream.write(line, (fault) => {
      if (!fault) this.#fine = true;
    });
  }

  /** Settles when all lines are in the file, or when that takes too long. */
  async close(): Promise<void> {
    clearTimeout(this.#retry);
    const stream = this.#stream;
    this.#stream = undefined;
    if (!stream) return;
    await new Promise<void>((done) => {
      const timer = setTimeout(done, CLOSE_MS);
      stream.once('close', () => {
        clearTimeout(timer);
        done();
      });
      stream.end();
    });
  }

  #open(): void {
    const stream = new RotatingFile({
      path: this.#path,
      size: this.#size,
      keep: this.#keep,
      unrotated: (fault) => this.#grows(fault),
    });
    stream.on('error', (fault) => this.#failed(fault));
    this.#stream = stream;
  }

  #grows(fault: Error): void {
    if (!this.#rotates) return;
    this.#rotates = false;
    this.#complain(`the log file cannot be rotated and keeps growing: ${fault.message}\n`);
  }

  #failed(fault: Error): void {
    if (this.#fine) {
      const again = `trying again every ${RETRY_MS / 1000} s`;
      this.#complain(`the log file cannot be written, mining goes on: ${fault.message} (${again})\n`);
    }
    this.#fine = false;
    if (!this.#stream) return; // The file is being closed.
    this.#stream = undefined;
    this.#retry = setTimeout(() => this.#open(), RETRY_MS);
    this.#retry.unref();
  }
}
