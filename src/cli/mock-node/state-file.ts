/** The file of `pickaxe mock-node --state`: read at the start, written at intervals and at the end. */

import { randomBytes } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { UsageError } from '../../app/process/exit.ts';
import { renameFileSync } from '../../base/system/files.ts';
import { readRegularFile, UnfitFile, whyUnreadable } from '../../base/system/regular-file.ts';
import { oneLine } from '../../base/text/plain-text.ts';

/** Maximum size of a state, in bytes. */
const MOST_BYTES = 256 * 1024 * 1024;

/** @returns the text of the file; undefined if there is no file yet @throws UsageError if it cannot be read */
export function readStateFile(path: string): string | undefined {
  try {
    const { size } = statSync(path);
    return readRegularFile(path, Math.min(size, MOST_BYTES)).bytes.toString();
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    const why = fault instanceof UnfitFile ? fault.message : whyUnreadable(fault as NodeJS.ErrnoException, path);
    throw new UsageError(`--state ${oneLine(path)} cannot be read: ${why}.`);
  }
}

/** What a mock node has to do with its file. */
interface Saving {
  /** Number of blocks and commands that the node has taken so far. */
  readonly changes: number;
  /** @throws StateError */
  save(): string;
}

export class StateFile {
  readonly #path: string;
  readonly #node: Saving;
  /** The node's `changes` when the file was last written; undefined if it was not yet. */
  #changes: number | undefined;

  constructor(path: string, node: Saving) {
    this.#path = path;
    this.#node = node;
  }

  /**
   * Replaces the file, unless nothing has changed since the last time.
   * @returns why the file could not be written, and is as before; undefined if there is no such reason
   */
  write(): string | undefined {
    const { changes } = this.#node;
    if (changes === this.#changes) return undefined;
    const unfinished = `${this.#path}.${randomBytes(6).toString('hex')}.unfinished`;
    try {
      writeFileSync(unfinished, this.#node.save(), { flag: 'wx', flush: true });
      renameFileSync(unfinished, this.#path);
      this.#changes = changes;
      return undefined;
    } catch (error) {
      rmSync(unfinished, { force: true });
      return oneLine((error as Error).message);
    }
  }
}
