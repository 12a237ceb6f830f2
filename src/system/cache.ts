/** What is worth remembering between starts: small JSON files in the user's cache directory. */

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { version } from './version.ts';

/** Far above what is written here: a larger file is not ours. */
const MAX_BYTES = 64 * 1024;

/** Of a subject in a file's name: far below what file systems take. */
const MAX_NAME = 90;

/** Memories of a subject, each under another key: enough for installations side by side. Only good enough. */
const MAX_MEMORIES = 8;

/** What a memory holds for: under another key, nothing is remembered. */
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
      const full = fullKey(subject, key);
      const file = this.#file(full);
      const facts = statSync(file);
      if (!facts.isFile() || facts.size > MAX_BYTES) return undefined;
      const memory = JSON.parse(readFileSync(file, 'utf8'));
      return isDeepStrictEqual(memory.key, full) ? shape.safeParse(memory.value).data : undefined;
    } catch {
      // No such file, or not one of ours: what is in it is found out anew.
      return undefined;
    }
  }

  /**
   * Replaces what was remembered of the subject under this key, and forgets the oldest when it is remembered under too
   * many. Readers and other writers see whole files only.
   * @throws Error that says why it cannot be written.
   */
  remember(subject: string, key: Key, value: unknown): void {
    const full = fullKey(subject, key);
    const file = this.#file(full);
    const unfinished = `${file}.${randomBytes(6).toString('hex')}.unfinished`;
    const text = `${JSON.stringify({ key: full, value }, undefined, 2)}\n`;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(unfinished, text, { flag: 'wx' });
      renameSync(unfinished, file);
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

  /** @param start of the names of a subject's files */
  #forgetOldest(start: string): void {
    try {
      const files = readdirSync(this.#directory)
        .filter((name) => name.startsWith(start) && name.endsWith('.json'))
        .map((name) => join(this.#directory, name));
      if (files.length <= MAX_MEMORIES) return;
      const aged = files.map((file) => ({ file, ms: statSync(file).mtimeMs })).sort((a, b) => b.ms - a.ms);
      for (const { file } of aged.slice(MAX_MEMORIES)) rmSync(file, { force: true });
    } catch {
      // Another process forgets them at the same time, or they cannot be removed: they do no harm.
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

/** Short, and long enough to tell apart what one user has. */
export function digest(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex').slice(0, 16);
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
