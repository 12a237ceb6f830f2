/** Reads the files of contract code that `pickaxe repl` runs, and the files that this code loads. */

import { lstatSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { UsageError } from '../../app/process/exit.ts';
import { decodeText } from '../../base/text/plain-text.ts';
import { AllowedFiles, IncludedFiles, isPrivateFile, textAt } from '../included-files.ts';

/** The argument that stands for standard input. */
export const STDIN = '-';
/** The name of standard input in results. */
export const STDIN_NAME = '<stdin>';
/** The name of the code of `--eval` in results. */
export const EVAL_NAME = '<eval>';

const REMEDY = 'Give the path of a file of contract code.';

/** The endings of the names of files that contain contract code or tests. */
const ENDS = ['.pact', '.repl'];

interface SourceFilesOptions {
  /** The files of `--allow-file`. */
  readonly allowed?: AllowedFiles;
  /** The text of standard input; undefined if standard input is not one of the files. */
  readonly stdin?: string | undefined;
  /** The code of `--eval`; undefined without this option. */
  readonly code?: string | undefined;
}

/** The files that one session may read: the files that the user names, and the files that their code loads. */
export class SourceFiles {
  /** Texts that are in no file, by their names. */
  readonly #typed: ReadonlyMap<string, string>;
  readonly #included: IncludedFiles;
  /** The absolute paths of the files that the user has named, except symbolic links. */
  readonly #named = new Set<string>();

  constructor({ allowed = new AllowedFiles(), stdin, code }: SourceFilesOptions = {}) {
    this.#typed = new Map([
      ...(stdin === undefined ? [] : [[STDIN_NAME, stdin] as const]),
      ...(code === undefined ? [] : [[EVAL_NAME, code] as const]),
    ]);
    this.#included = new IncludedFiles({ allowed, consent: 'its text may be run and shown', ends: ENDS });
  }

  /** Allows code that was typed, or read from standard input, to load files of the working folder. */
  nameWorkingFolder(): void {
    this.#included.addFolder('.', 'the working folder', false);
  }

  /** Whether this is the name of standard input or of the code of `--eval`, and not that of a file. */
  isTyped(path: string): boolean {
    return this.#typed.has(path);
  }

  /**
   * Allows a session to run a file that the user has named, and to load files of that file's folder.
   * @throws UsageError with the reason and the remedy if the file cannot be read
   */
  name(path: string): void {
    if (this.isTyped(path)) {
      this.nameWorkingFolder();
      return;
    }
    try {
      this.#name(path);
    } catch (fault) {
      const { message } = fault as Error;
      const remedy = message.includes('--allow-file') ? '' : ` ${REMEDY}`;
      throw new UsageError(`${path} cannot be read: ${message}.${remedy}`);
    }
  }

  #name(path: string): void {
    const absolute = resolve(path);
    const facts = statSync(absolute, { throwIfNoEntry: false });
    const isLink = lstatSync(absolute, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (facts)
      this.#included.addFolder(
        dirname(absolute),
        'the folder of the first file',
        !isLink && isPrivateFile(absolute, facts),
      );
    if (isLink && facts) {
      // The rules for loaded files apply to a symbolic link even if the user has named it, because a pattern like
      // tests/*.repl also matches links whose targets somebody else may have chosen.
      this.#included.read(absolute);
    } else {
      textAt(absolute);
      this.#named.add(absolute);
    }
  }

  /** @returns the text of a file @throws UnfitFile with a clause as its message */
  readonly read = (path: string): string => {
    const typed = this.#typed.get(path);
    if (typed !== undefined) return typed;
    const absolute = resolve(path);
    return this.#named.has(absolute) ? textAt(absolute) : this.#included.read(absolute);
  };
}

/** @returns the text of standard input @throws UsageError if the bytes are not text */
export function textOfInput(bytes: Uint8Array): string {
  try {
    return decodeText(bytes);
  } catch {
    throw new UsageError('Standard input cannot be read: it is not UTF-8 text.');
  }
}

/** @returns the path of a loaded file. A relative path starts at the folder of the file `from`, which loads it */
export function resolvePath(from: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(from), path);
}
