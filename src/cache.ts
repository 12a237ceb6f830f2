/** What is worth remembering between starts: one small JSON file a subject, in the user's cache directory. */

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { version } from './version.ts';

/** Far above what is written here: a larger file is not ours. */
const MAX_BYTES = 64 * 1024;

/** Of a file's name: far below what file systems take. */
const MAX_NAME = 100;

/** What a memory holds for: when any of it has changed, nothing is remembered. */
export type Key = Readonly<Record<string, string | number>>;

export class Cache {
  readonly #directory: string;

  /** @param directory made when something is remembered */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * @param subject what it is about: a CPU, a GPU
   * @returns what this version of pickaxe remembered under this key; undefined when there is none, or none of this shape
   */
  recall<T>(subject: string, key: Key, shape: z.ZodType<T>): T | undefined {
    try {
      const file = this.#file(subject);
      const facts = statSync(file);
      if (!facts.isFile() || facts.size > MAX_BYTES) return undefined;
      const memory = JSON.parse(readFileSync(file, 'utf8'));
      return isDeepStrictEqual(memory.key, fullKey(subject, key)) ? shape.safeParse(memory.value).data : undefined;
    } catch {
      // No such file, or not one of ours: what is in it is found out anew.
      return undefined;
    }
  }

  /**
   * Replaces what was remembered of the subject, under any key. Readers and other writers see one whole file.
   * @throws Error that says why it cannot be written.
   */
  remember(subject: string, key: Key, value: unknown): void {
    const file = this.#file(subject);
    const unfinished = `${file}.${randomBytes(6).toString('hex')}.unfinished`;
    const text = `${JSON.stringify({ key: fullKey(subject, key), value }, undefined, 2)}\n`;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(unfinished, text, { flag: 'wx' });
      renameSync(unfinished, file);
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
  }

  /** Subjects with names that differ in their punctuation alone share a file: the key tells them apart. */
  #file(subject: string): string {
    const name = subject.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    return join(this.#directory, `${name.slice(0, MAX_NAME)}.json`);
  }
}

function fullKey(subject: string, key: Key): Key {
  return { ...key, subject, pickaxe: version };
}

/**
 * The user's directory for pickaxe's memories: `$XDG_CACHE_HOME/pickaxe` where that is set (XDG Base Directory
 * Specification: only an absolute path counts), else where the system keeps such things.
 * @returns undefined for a user who has no home
 */
export function userCacheDirectory(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
  home: () => string = homedir,
): string | undefined {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = environment;
  if (xdg && isAbsolute(xdg)) return join(xdg, 'pickaxe');
  if (platform === 'win32' && local) return join(local, 'pickaxe');
  try {
    const own = home();
    if (!isAbsolute(own)) return undefined;
    const caches = { darwin: ['Library', 'Caches'], win32: ['AppData', 'Local'] }[platform] ?? ['.cache'];
    return join(own, ...caches, 'pickaxe');
  } catch {
    return undefined; // No HOME, and the system knows no such user: as in containers with a user id of their own.
  }
}
