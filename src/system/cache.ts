/** Remembers small JSON values between starts, as files in the user's cache directory. */

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { renameFileSync } from './files.ts';
import { version } from './version.ts';

/** Far more than is ever written here. A larger file is not ours. */
const MAX_BYTES = 64 * 1024;

/** How many characters of the subject a file name has. File systems allow far longer names. */
const MAX_NAME = 90;

/** How many memories a subject may have, each with another key. It is enough for several installations side by side. */
const MAX_MEMORIES = 8;

/** The conditions under which a memory is valid. With any other key, it is not found. */
export type Key = Readonly<Record<string, string | number>>;

export class Cache {
  readonly #directory: string;

  /** @param directory is created when something is remembered */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * @param subject the name of what the memory is about, such as a CPU or a GPU
   * @returns the value that this version of pickaxe remembered with this key; undefined when there is none of this
   *   shape
   */
  recall<T>(subject: string, key: Key, shape: z.ZodType<T>): T | undefined {
    try {
      const full = fullKey(subject, key);
      const file = this.#file(full);
      const facts = statSync(file);
      if (!facts.isFile() || facts.size > MAX_BYTES) return undefined;
      const memory = JSON.parse(readFileSync(file, 'utf8'));
      return isDeepStrictEqual(memory.key, full) ? shape.safeParse(memory.value).data : undefined;
    } catch {
      // There is no such file, or it is not ours. The caller measures again.
      return undefined;
    }
  }

  /**
   * Remembers a value, and removes the subject's oldest memories when there are too many. Other processes never see a
   * file that is only partly written.
   * @throws Error that says why the file cannot be written.
   */
  remember(subject: string, key: Key, value: unknown): void {
    const full = fullKey(subject, key);
    const file = this.#file(full);
    const unfinished = `${file}.${randomBytes(6).toString('hex')}.unfinished`;
    const text = `${JSON.stringify({ key: full, value }, undefined, 2)}\n`;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(unfinished, text, { flag: 'wx' });
      renameFileSync(unfinished, file);
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
    this.#forgetOldest(fileStart(subject));
  }

  #file(full: FullKey): string {
    return join(
      this.#directory,
      `${fileStart(full.subject)}${digest(JSON.stringify(Object.entries(full).sort()))}.json`,
    );
  }

  /** @param start the beginning of the names of a subject's files */
  #forgetOldest(start: string): void {
    try {
      const files = readdirSync(this.#directory)
        .filter((name) => name.startsWith(start) && name.endsWith('.json'))
        .map((name) => join(this.#directory, name));
      if (files.length <= MAX_MEMORIES) return;
      const aged = files.map((file) => ({ file, ms: statSync(file).mtimeMs })).sort((a, b) => b.ms - a.ms);
      for (const { file } of aged.slice(MAX_MEMORIES)) rmSync(file, { force: true });
    } catch {
      // Another process may be removing the same files, or they cannot be removed. They do no harm.
    }
  }
}

type FullKey = Key & { readonly subject: string };

function fullKey(subject: string, key: Key): FullKey {
  return { ...key, subject, pickaxe: version };
}

function fileStart(subject: string): string {
  const name = subject.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `${name.slice(0, MAX_NAME)}.`;
}

/** @returns the first 16 hex digits of the SHA-256: enough to distinguish the things of one user */
export function digest(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex').slice(0, 16);
}
