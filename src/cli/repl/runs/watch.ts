/** Runs files again whenever they change, or a file that they load. */

import { once } from 'node:events';
import { resolve } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { EXIT } from '../../../app/process/exit.ts';
import { onAbort } from '../../../base/system/abort.ts';
import type { Io } from '../../io.ts';
import type { FilesRunner } from '../run-files.ts';

/** Time that is waited for further changes, because editors and version control change several files at once. */
const SETTLED_MS = 50;

/** Moves the cursor to the first row and column, and erases the screen and what has been scrolled out of it. */
const CLEAR = '\x1b[H\x1b[2J\x1b[3J';

/** The absolute paths that each file has read when it was run last. */
type ReadBy = ReadonlyMap<string, ReadonlySet<string>>;

interface WatchOptions {
  readonly runner: Pick<FilesRunner, 'run' | 'startThreads'>;
  readonly io: Pick<Io, 'out' | 'say' | 'stop'>;
  /** Whether the screen is cleared before each run. */
  readonly clears: boolean;
}

/**
 * Runs all files, and then those that are affected by each change, until `io.stop` fires.
 * @returns the exit code
 */
export async function watchFiles(names: readonly string[], { runner, io, clears }: WatchOptions): Promise<number> {
  const { stop } = io;
  const changes = new Changes(stop);
  // While threads run the files, this one can notice that the user ends the command.
  const threads = await runner.startThreads(names.length);
  const release = onAbort(stop, () => void threads?.close());
  const readBy = new Map(names.map((name): [string, ReadonlySet<string>] => [name, absolute([name])]));
  try {
    let due = names;
    while (!stop.aborted) {
      await changes.watch(readBy);
      if (clears) io.out(CLEAR);
      const { runs } = await runner.run(due, threads);
      for (const { result, read } of runs) readBy.set(result.file, absolute([result.file, ...read]));
      await changes.watch(readBy);
      const what = names.length === 1 ? names[0] : `${names.length} files`;
      io.say(`Waiting for changes of ${what} or of what is loaded. Ctrl-C ends.`);
      do due = affected(names, readBy, await changes.next());
      while (due.length === 0 && !stop.aborted);
    }
  } catch (fault) {
    // The threads were ended while they ran files.
    if (!stop.aborted) throw fault;
  } finally {
    release();
    await Promise.all([changes.close(), threads?.close()]);
  }
  return EXIT.done;
}

function absolute(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.map((path) => resolve(path)));
}

function affected(names: readonly string[], readBy: ReadBy, changed: readonly string[]): string[] {
  return names.filter((name) => changed.some((path) => readBy.get(name)?.has(path)));
}

/** Notices changes of files. */
class Changes {
  readonly #watchers: FSWatcher[] = [];
  readonly #watched = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #stop: AbortSignal;
  #wake = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(stop: AbortSignal) {
    this.#stop = stop;
  }

  /** Begins to watch all files that it does not watch yet. Files that are not there may appear. */
  async watch(readBy: ReadBy): Promise<void> {
    const paths = [...readBy.values()].flatMap((each) => [...each]).filter((path) => !this.#watched.has(path));
    if (paths.length === 0) return;
    for (const path of paths) this.#watched.add(path);
    const watcher = watch(paths, { ignoreInitial: true, depth: 0 });
    this.#watchers.push(watcher);
    watcher.on('all', (_event, path) => {
      this.#changed.add(resolve(path));
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#wake(), SETTLED_MS);
    });
    await once(watcher, 'ready');
  }

  /** @returns the absolute paths of the files that have changed since the last call; none after `stop` */
  async next(): Promise<readonly string[]> {
    while (this.#changed.size === 0 && !this.#stop.aborted) {
      await new Promise<void>((resolve) => {
        const release = onAbort(this.#stop, () => this.#wake());
        this.#wake = () => {
          release();
          resolve();
        };
        if (this.#stop.aborted) resolve();
      });
    }
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all(this.#watchers.map((watcher) => watcher.close()));
  }
}
