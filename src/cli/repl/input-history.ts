/** Keeps the lines that were typed at the prompt in a private file in the user's state folder. */

import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppendFile } from '../../base/system/append-file.ts';
import { openPrivate, renameFileSync } from '../../base/system/files.ts';
import { readRegularFile } from '../../base/system/regular-file.ts';

const FILE_NAME = 'repl-history';
/** Maximum number of lines that the arrow keys bring back. A file with more than twice as many lines is shortened. */
export const MAX_LINES = 1000;
/** Maximum length of a line that is kept, in UTF-16 code units. Longer lines are rarely typed by hand. */
export const MAX_LINE_LENGTH = 1000;
/** Maximum size of the file in bytes. Twice MAX_LINES lines of the maximum length need less. */
const MAX_BYTES = 2 ** 24;
/** Maximum number of bytes that are kept in memory while the file cannot be written. */
const WAITING_BYTES = 2 ** 18;
/** Time between two attempts to write the file. */
const AGAIN_MS = 10_000;
/** Maximum time for which `close` waits until the file is written. */
const CLOSE_MS = 1_000;
/** Matches control characters, except tabs. A terminal could take them for commands. */
const CONTROL = /[^\P{Cc}\t]/u;

export class History {
  /** The lines that were typed at earlier prompts, at most MAX_LINES of them. */
  readonly newestFirst: readonly string[];
  readonly #lines: AppendFile | undefined;
  #last: string | undefined;

  /**
   * @param folder the folder of the file, which is created with the first line; undefined if no lines are to be kept
   * @param warn called with a sentence if the file cannot be used. The prompt then works without it
   */
  constructor(folder: string | undefined, warn: (line: string) => void) {
    if (folder === undefined) {
      this.newestFirst = [];
      return;
    }
    const path = join(folder, FILE_NAME);
    const warnUnusable = (why: string) => warn(`What you type is not kept, because ${path} cannot be used: ${why}.`);
    const before = readLines(path, warnUnusable);
    this.newestFirst = before?.toReversed() ?? [];
    this.#last = before?.at(-1);
    if (before === undefined) return;
    this.#lines = new AppendFile({
      append: (piece) => append(path, piece),
      changed: (why) => why !== undefined && warnUnusable(why),
      waitingBytes: WAITING_BYTES,
      againMs: AGAIN_MS,
    });
  }

  /** Keeps a line, unless it is blank, too long or equal to the last line, or contains control characters. */
  add(line: string): void {
    if (line.trim() === '' || line.length > MAX_LINE_LENGTH || line === this.#last || CONTROL.test(line)) return;
    this.#last = line;
    this.#lines?.add(`${line}\n`);
  }

  /** Waits at most a second until the last lines are written. */
  async close(): Promise<void> {
    await this.#lines?.close(CLOSE_MS);
  }
}

/** @returns the newest lines, in the order in which they were typed; undefined if the file cannot be used */
function readLines(path: string, warnUnusable: (why: string) => void): string[] | undefined {
  try {
    const { bytes } = readRegularFile(path, MAX_BYTES);
    const lines = bytes.toString('utf8').split('\n');
    const kept = lines.filter((line) => line !== '' && line.length <= MAX_LINE_LENGTH && !CONTROL.test(line));
    if (lines.length > 2 * MAX_LINES) shorten(path, kept.slice(-MAX_LINES));
    return kept.slice(-MAX_LINES);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return [];
    warnUnusable((fault as Error).message);
    return undefined;
  }
}

function shorten(path: string, lines: readonly string[]): void {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.unfinished`;
  try {
    writeFileSync(unfinished, lines.map((line) => `${line}\n`).join(''), { flag: 'wx', mode: 0o600 });
    renameFileSync(unfinished, path);
  } catch (fault) {
    rmSync(unfinished, { force: true });
    throw fault;
  }
}

async function append(path: string, piece: Buffer): Promise<number> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await openPrivate(path);
  try {
    await handle.appendFile(piece);
    return piece.length;
  } finally {
    await handle.close();
  }
}
