/**
 * The files of a machine in memory. After a process is killed, they are as its last call has left them. After a power
 * failure, they are as the disk has them: contents that were not synchronised may be torn, and names that were not
 * synchronised may be the old ones.
 */

import { dirname } from 'node:path';
import type { Random } from '#pickaxe/mock-node/random.js';
import type { StateFileSystem } from '#pickaxe/node/sweep/state-files.js';

/** Thrown out of a call in which the process is killed, and out of all its later calls. */
export class Killed extends Error {}

interface Inode {
  text: string;
  /** What the disk has. */
  synced: string;
}

/** Called before a call does anything; its result is called afterwards. Both may throw `Killed`. */
export type BeforeCall = () => () => void;

export class MemoryFiles {
  /** Number of changes of state files, for those who look for news. */
  changes = 0;
  #names = new Map<string, Inode>();
  /** The names that the disk has. */
  #kept = new Map<string, Inode>();
  /** Changes of names that the disk does not have yet, oldest first. */
  #pending: { readonly folder: string; readonly act: (names: Map<string, Inode>) => void }[] = [];
  readonly #open = new Map<number, Inode | string>();
  #next = 3;

  /** @returns the texts of the files, by path */
  texts(): ReadonlyMap<string, string> {
    return new Map([...this.#names].map(([path, { text }]) => [path, text]));
  }

  /** Whether the text is in a file of the disk, so that it is there after a power failure, too. */
  keeps(text: string): boolean {
    return [...this.#kept.values()].some(({ synced }) => synced.includes(text));
  }

  /** Removes files, as a person may. */
  remove(...paths: readonly string[]): void {
    for (const path of paths) this.#change(path, (names) => names.delete(path));
  }

  /** Loses what the disk does not have. */
  losePower(random: Random): void {
    const done = Math.floor(random() * (this.#pending.length + 1));
    for (const { act } of this.#pending.slice(0, done)) act(this.#kept);
    this.#pending = [];
    this.#names = new Map(this.#kept);
    for (const inode of this.#names.values()) {
      if (inode.text === inode.synced) continue;
      inode.text = random() < 0.5 ? inode.synced : inode.text.slice(0, Math.floor(random() * inode.text.length));
      inode.synced = inode.text;
    }
    this.changes++;
  }

  /** @returns the files as a process calls them */
  system(before: BeforeCall): StateFileSystem {
    const calls: Record<keyof StateFileSystem, (...asked: never[]) => unknown> = {
      mkdirSync: () => undefined,
      openSync: (path: string, flags: string) => this.#openFile(path, flags),
      closeSync: (fd: number) => void this.#open.delete(fd),
      fsyncSync: (fd: number) => this.#sync(this.#open.get(fd)!),
      writeFileSync: (file: string | number, text: string, options?: { flag?: string }) => {
        const fd = typeof file === 'number' ? file : this.#openFile(file, options?.flag ?? 'w');
        (this.#open.get(fd) as Inode).text = text;
      },
      readFileSync: (path: string) => this.#at(path).text,
      linkSync: (from: string, to: string) => {
        const inode = this.#at(from);
        if (this.#names.has(to)) throw failure('EEXIST');
        this.#change(to, (names) => names.set(to, inode));
      },
      renameSync: (from: string, to: string) => {
        const inode = this.#at(from);
        this.#change(to, (names) => names.set(to, inode).delete(from));
      },
      rmSync: (path: string) => {
        if (this.#names.has(path)) this.#change(path, (names) => names.delete(path));
      },
    };
    const killable = Object.entries(calls).map(([name, call]) => [
      name,
      (...asked: never[]) => {
        const after = before();
        const result = call(...asked);
        after();
        return result;
      },
    ]);
    return Object.fromEntries(killable) as StateFileSystem;
  }

  #openFile(path: string, flags: string): number {
    const fd = this.#next++;
    if (flags === 'r') {
      this.#open.set(fd, path);
      return fd;
    }
    if (flags === 'wx' && this.#names.has(path)) throw failure('EEXIST');
    const inode: Inode = { text: '', synced: '' };
    this.#change(path, (names) => names.set(path, inode));
    this.#open.set(fd, inode);
    return fd;
  }

  #sync(opened: Inode | string): void {
    if (typeof opened !== 'string') {
      opened.synced = opened.text;
      return;
    }
    for (const { folder, act } of this.#pending) if (folder === opened) act(this.#kept);
    this.#pending = this.#pending.filter(({ folder }) => folder !== opened);
  }

  #at(path: string): Inode {
    const inode = this.#names.get(path);
    if (!inode) throw failure('ENOENT');
    return inode;
  }

  #change(path: string, act: (names: Map<string, Inode>) => void): void {
    act(this.#names);
    this.#pending.push({ folder: dirname(path), act });
    if (path.endsWith('.json')) this.changes++;
  }
}

const failure = (code: string) => Object.assign(new Error(code), { code });
