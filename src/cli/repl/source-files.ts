/** Reads the files of contract code that `pickaxe repl` runs, and those that they load. */

import { dirname, isAbsolute, join } from 'node:path';
import { orUsageError } from '../../app/exit.ts';
import { readRegularFile, UnfitFile, whyUnreadable } from '../../config/regular-file.ts';
import { decodeText } from '../../text/plain-text.ts';

/** Maximum size of a file in bytes. The language's reader allows 2^20 UTF-16 code units, at most 3 bytes each. */
export const MAX_FILE_BYTES = 2 ** 22;

/** The argument that stands for standard input. */
export const STDIN = '-';
/** The name of standard input in results. */
export const STDIN_NAME = '<stdin>';

const REMEDY = 'Give the path of a file of contract code.';

/** The files of a run: those on the disk, and standard input, which can be read only once. */
export class SourceFiles {
  readonly #stdin: string | undefined;

  /** @param stdin the bytes of standard input, if it is run @throws UsageError when they are no text */
  constructor(stdin?: Uint8Array) {
    this.#stdin =
      stdin &&
      orUsageError(
        () => textOf(stdin),
        (why) => `Standard input cannot be read: ${why}.`,
      );
  }

  /** @throws UsageError that says why a file cannot be run, and what to do */
  check(path: string): void {
    orUsageError(
      () => this.read(path),
      (why) => `${path} cannot be read: ${why}. ${REMEDY}`,
    );
  }

  /** @returns the text of a file @throws Error whose message is a clause */
  readonly read = (path: string): string => {
    if (path === STDIN_NAME && this.#stdin !== undefined) return this.#stdin;
    return textOf(bytesOf(path));
  };
}

/** @returns the path of what a file loads: a relative one begins at the folder of that file */
export function resolvePath(from: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(from), path);
}

function bytesOf(path: string): Uint8Array {
  try {
    return readRegularFile(path, MAX_FILE_BYTES).bytes;
  } catch (fault) {
    if (fault instanceof UnfitFile) throw fault;
    throw new Error(whyUnreadable(fault as NodeJS.ErrnoException, path), { cause: fault });
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return decodeText(bytes);
  } catch {
    throw new UnfitFile('it is not UTF-8 text');
  }
}
