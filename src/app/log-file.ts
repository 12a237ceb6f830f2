/** `--log-file`: what is logged goes to a file, too, which is rotated. A full disk costs lines and nothing else. */

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config/settings.ts';
import { UsageError } from './exit-codes.ts';
import { makeOldPrivate, openPrivate, RotatingFile } from './rotating-file.ts';

/** A disk that cannot be written to is tried again after this. */
const RETRY_MS = 60_000;
/** Lines that a slow disk has not taken yet; more are dropped. */
const MAX_WAITING_BYTES = 1_048_576;
/** A disk that hangs does not keep the process from ending. */
const CLOSE_MS = 2_000;

/**
 * Addresses of nodes and accounts stand in it, so it is its owner's alone, and so are the old ones beside it.
 * @returns undefined when none was asked for
 * @throws UsageError when it cannot be written
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
  /** Since the last complaint, lines have gone well. */
  #fine = true;
  /** Nobody was told yet that it does not. */
  #rotates = true;

  /**
   * @param size bytes
   * @param complain told once when it cannot be written: the log itself would come back here
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

  /** Once all lines are in the file, or when that takes too long. */
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
      const again = `tried again every ${RETRY_MS / 1000} s`;
      this.#complain(`the log file cannot be written, mining goes on: ${fault.message} (${again})\n`);
    }
    this.#fine = false;
    if (!this.#stream) return; // it is being closed
    this.#stream = undefined;
    this.#retry = setTimeout(() => this.#open(), RETRY_MS);
    this.#retry.unref();
  }
}
