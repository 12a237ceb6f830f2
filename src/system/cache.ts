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

/** Characters of the subject in a file's name. File systems take far longer names. */
const MAX_NAME = 90;

/** How many memories a subject may have, each under another key: enough for several installations side by side. */
const MAX_MEMORIES = 8;

/** What a memory is valid for: under another key, nothing is remembered. */
export type Key = Readonly<Record<string, string | number>>;

export class Cache {
  readonly #directory: string;

  /** @param directory is made when something is remembered */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * @param subject the thing that is remembered, such as a CPU or a GPU
   * @returns what this version of pickaxe remembered under this key; undefined when there is nothing of this shape
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
      // There is no such file, or it is not ours: what it would say is measured again.
      return undefined;
    }
  }

  /**
   * Replaces what is remembered about the subject under this key, and removes the subject's oldest memories when there are
   * too many. Readers and other writers see whole files only.
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

  /** @param start how the names of a subject's files begin */
  #forgetOldest(start: string): void {
    try {
      const files = readdirSync(this.#directory)
        .filter((name) => name.startsWith(start) && name.endsWith('.json'))
        .map((name) => join(this.#directory, name));
      if (files.length <= MAX_MEMORIES) return;
      const aged = files.map((file) => ({ file, ms: statSync(file).mtimeMs })).sort((a, b) => b.ms - a.ms);
      for (const { file } of aged.slice(MAX_MEMORIES)) rmSync(file, { force: true });
    } catch {
      // Another process removes them at the same time, or they cannot be removed: they do no harm.
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

/** @returns 16 hex digits of the SHA-256: enough to tell apart what one user has */
export function digest(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex').slice(0, 16);
}

/**
 * The user's cache directory for pickaxe: `$XDG_CACHE_HOME/pickaxe` where that is set (only an absolute path counts, XDG
 * Base Directory Specification), otherwise the usual place of the platform.
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
    return undefined; // There is no HOME, and the system does not know the user, as in containers with a user id of their own.
  }
}
