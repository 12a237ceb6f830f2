/** Runs files again whenever they change, or a file that they load. */

import { once } from 'node:events';
import { resolve } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { EXIT } from '../../../app/process/exit.ts';
import { onAbort, sharedController } from '../../../base/system/abort.ts';
import type { Io } from '../../io.ts';
import { hasFailed } from '../report.ts';
import type { FilesRunner } from '../run-files.ts';
import { wrapped } from '../wrapped.ts';
import { WatchKeys } from './watch-keys.ts';

/** Time that is waited for further changes, because editors and version control change several files at once. */
const SETTLED_MS = 50;

/** Moves the cursor to the first row and column, and erases the screen and what has been scrolled out of it. */
const CLEAR = '\x1b[H\x1b[2J\x1b[3J';

/** The absolute paths that each file has read when it was run last. */
type ReadBy = ReadonlyMap<string, ReadonlySet<string>>;

interface WatchOptions {
  readonly runner: Pick<FilesRunner, 'run' | 'startThreads'>;
  readonly io: Pick<Io, 'out' | 'say' | 'stop' | 'terminal' | 'columns'>;
  /** As `RunOptions.filter`. The key `p` changes it. */
  readonly filter?: string | undefined;
  /** Whether the screen is cleared before each run. */
  readonly clears: boolean;
}

/** What is run next. */
interface Due {
  readonly names: readonly string[];
  readonly filter: string | undefined;
}

/**
 * Runs all files, and then those that are affected by each change, or that the user chooses with keys, until the user
 * ends it.
 * @returns the exit code
 */
export async function watchFiles(names: readonly string[], options: WatchOptions): Promise<number> {
  const { runner, io, clears } = options;
  const ended = sharedController();
  const releaseStop = onAbort(io.stop, () => ended.abort());
  const stop = ended.signal;
  const changes = new Changes(stop);
  const keys = WatchKeys.of(io.terminal, { wake: () => changes.wake(), quit: () => ended.abort() });
  // While threads run the files, this one can notice that the user ends the command.
  const threads = await runner.startThreads(names.length);
  const release = onAbort(stop, () => void threads?.close());
  const readBy = new Map(names.map((name): [string, ReadonlySet<string>] => [name, absolute([name])]));
  const failed = new Set<string>();
  const what = names.length === 1 ? names[0] : `${names.length} files`;
  try {
    let due: Due | undefined = { names, filter: options.filter };
    while (due && !stop.aborted) {
      keys?.open();
      await changes.watch(readBy);
      if (clears) io.out(CLEAR);
      const { runs } = await runner.run(due.names, threads, due.filter);
      for (const { result, read } of runs) {
        readBy.set(result.file, absolute([result.file, ...read]));
        if (hasFailed(result)) failed.add(result.file);
        else failed.delete(result.file);
      }
      await changes.watch(readBy);
      const waits = `Waiting for changes of ${what} or of what is loaded. ${keys ? 'h lists keys' : 'Ctrl-C ends'}.`;
      io.say(wrapped(waits, io.columns ?? waits.length).join('\n'));
      due = await nextDue(names, due, { changes, keys, readBy, failed, io });
    }
  } catch (fault) {
    // The threads were ended while they ran files.
    if (!stop.aborted) throw fault;
  } finally {
    releaseStop();
    release();
    keys?.close();
    await Promise.all([changes.close(), threads?.close()]);
  }
  return EXIT.done;
}

interface Waiting {
  readonly changes: Changes;
  readonly keys: WatchKeys | undefined;
  readonly readBy: ReadBy;
  /** The files that have failed when they were run last. */
  readonly failed: ReadonlySet<string>;
  readonly io: Pick<Io, 'say'>;
}

/** @returns undefined once the user ends the command */
async function nextDue(
  names: readonly string[],
  { names: last, filter }: Due,
  { changes, keys, readBy, failed, io }: Waiting,
): Promise<Due | undefined> {
  for (;;) {
    const changed = await changes.next(keys);
    if (!changed) return undefined;
    const wish = keys?.take();
    const affected = names.filter((name) => changed.some((path) => readBy.get(name)?.has(path)));
    const withAffected = (wanted: (name: string) => boolean) =>
      names.filter((name) => wanted(name) || affected.includes(name));
    if (wish === undefined) {
      if (affected.length > 0) return { names: affected, filter };
    } else if (wish === 'all') return { names, filter: undefined };
    else if (wish === 'again') return { names: withAffected((name) => last.includes(name)), filter };
    else if (wish !== 'failed') return { names, filter: wish.filter === '' ? undefined : wish.filter };
    else if (failed.size > 0) return { names: withAffected((name) => failed.has(name)), filter };
    else io.say('No file has failed.');
  }
}

function absolute(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.map((path) => resolve(path)));
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
      this.#timer = setTimeout(() => this.wake(), SETTLED_MS);
    });
    await once(watcher, 'ready');
  }

  /** Lets `next` look again whether there is something to do. */
  wake(): void {
    this.#wake();
  }

  /**
   * Waits for a change or for a wish. While the user types, changes wait.
   * @returns the absolute paths of the files that have changed since the last call; undefined after `stop`
   */
  async next(keys?: Pick<WatchKeys, 'hasWish' | 'isTyping'>): Promise<readonly string[] | undefined> {
    const isDue = () => keys?.hasWish || (this.#changed.size > 0 && !keys?.isTyping);
    while (!this.#stop.aborted && !isDue()) {
      await new Promise<void>((resolve) => {
        const release = onAbort(this.#stop, () => this.wake());
        this.#wake = () => {
          release();
          resolve();
        };
        if (this.#stop.aborted) resolve();
      });
    }
    if (this.#stop.aborted) return undefined;
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all(this.#watchers.map((watcher) => watcher.close()));
  }
}
