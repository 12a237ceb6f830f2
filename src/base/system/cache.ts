/** Keeps small JSON values between starts, as files in the user's cache directory. */

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { renameFileSync } from './files.ts';
import { version } from './version.ts';

/** Maximum size of a file that is read, far above the size of a file that pickaxe writes. */
const MAX_BYTES = 64 * 1024;

/** Maximum number of the subject's characters in a file name. File systems allow names of 255 bytes. */
const MAX_NAME = 90;

/** Maximum number of files for each subject, enough for several installations side by side. */
const MAX_MEMORIES = 8;

/** The conditions under which a value is valid. `recall` finds a value only with the key that `remember` was given. */
export type Key = Readonly<Record<string, string | number>>;

export class Cache {
  readonly #directory: string | undefined;

  /** @param directory the folder of the files. The first `remember` creates it. If undefined, no value is kept */
  constructor(directory: string | undefined) {
    this.#directory = directory;
  }

  /**
   * @param subject what the value is about, such as a CPU or a GPU
   * @returns the value that this version of pickaxe wrote with this key; undefined when there is none, or when the
   *   value has another shape
   */
  recall<T>(subject: string, key: Key, shape: z.ZodType<T>): T | undefined {
    if (this.#directory === undefined) return undefined;
    try {
      const full = fullKey(subject, key);
      const file = fileOf(this.#directory, full);
      const facts = statSync(file);
      if (!facts.isFile() || facts.size > MAX_BYTES) return undefined;
      const memory = JSON.parse(readFileSync(file, 'utf8'));
      return isDeepStrictEqual(memory.key, full) ? shape.safeParse(memory.value).data : undefined;
    } catch {
      // The file cannot be read, or pickaxe did not write it. The caller measures the value again.
      return undefined;
    }
  }

  /**
   * Writes a value atomically, and removes the oldest files of the subject when it has more than `MAX_MEMORIES`.
   * @returns why the value could not be written; undefined on success
   */
  remember(subject: string, key: Key, value: unknown): string | undefined {
    if (this.#directory === undefined) return 'there is no cache directory';
    try {
      write(this.#directory, fullKey(subject, key), value);
      removeOldest(this.#directory, fileStart(subject));
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
}

function write(directory: string, full: FullKey, value: unknown): void {
  const file = fileOf(directory, full);
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.unfinished`;
  const text = `${JSON.stringify({ key: full, value }, undefined, 2)}\n`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(unfinished, text, { flag: 'wx' });
    renameFileSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** @param start the beginning of the names of all files of the subject */
function removeOldest(directory: string, start: string): void {
  try {
    const files = readdirSync(directory)
      .filter((name) => name.startsWith(start) && name.endsWith('.json'))
      .map((name) => join(directory, name));
    if (files.length <= MAX_MEMORIES) return;
    const aged = files.map((file) => ({ file, ms: statSync(file).mtimeMs })).sort((a, b) => b.ms - a.ms);
    for (const { file } of aged.slice(MAX_MEMORIES)) rmSync(file, { force: true });
  } catch {
    // Another process may be removing the same files. A file that stays does no harm.
  }
}

function fileOf(directory: string, full: FullKey): string {
  return join(directory, `${fileStart(full.subject)}${digest(JSON.stringify(Object.entries(full).sort()))}.json`);
}

type FullKey = Key & { readonly subject: string };

function fullKey(subject: string, key: Key): FullKey {
  return { ...key, subject, pickaxe: version };
}

function fileStart(subject: string): string {
  const name = subject.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `${name.slice(0, MAX_NAME)}.`;
}

/** @returns the first 16 hex digits of the SHA-256, which are enough to distinguish the files of one user */
export function digest(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex').slice(0, 16);
}
