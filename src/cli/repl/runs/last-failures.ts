/** Remembers which files have failed, for `--failed`: in the user's cache, for each working folder. */

import { resolve } from 'node:path';
import { z } from 'zod';
import { Cache } from '../../../base/system/cache.ts';

const SUBJECT = 'repl failures';
/** Maximum number of paths that are kept. The cache reads files of 64 KiB. */
const MOST_PATHS = 500;

export class LastFailures {
  readonly #cache: Cache;
  readonly #key: { readonly folder: string };
  readonly #paths: Set<string>;

  /** @param directory the user's cache; if undefined, failures are not remembered */
  constructor(directory: string | undefined, folder = process.cwd()) {
    this.#cache = new Cache(directory);
    this.#key = { folder };
    this.#paths = new Set(this.#cache.recall(SUBJECT, this.#key, z.array(z.string())) ?? []);
  }

  /** Whether the file had failed when it was run last. */
  has(file: string): boolean {
    return this.#paths.has(resolve(file));
  }

  /** Remembers the results. Nothing is written if they change nothing, as where all tests pass every time. */
  note(results: readonly { readonly file: string; readonly hasFailed: boolean }[]): void {
    const before = [...this.#paths].join('\n');
    for (const { file, hasFailed } of results) {
      if (hasFailed) this.#paths.add(resolve(file));
      else this.#paths.delete(resolve(file));
    }
    const paths = [...this.#paths];
    if (paths.join('\n') !== before) this.#cache.remember(SUBJECT, this.#key, paths.slice(-MOST_PATHS));
  }
}
