/** Threads that run files, each of them one after the other. */

import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { IMPORT_ONLY } from '../../../base/system/thread-flags.ts';
import type { FileRun, RunOptions } from './run-file.ts';

/** What each thread gets at its start. */
export interface ThreadData {
  readonly options: RunOptions;
  /** The paths of `--allow-file`. */
  readonly allowed: readonly string[] | undefined;
  /** The text of standard input, if it is one of the files. */
  readonly stdin: string | undefined;
  /** The code of `--eval`; undefined without this option. */
  readonly code: string | undefined;
  /** When the run must end, in milliseconds since 1970, and why, as a clause. */
  readonly end: { readonly atMs: number; readonly why: string } | undefined;
  /** Shared memory: the number of characters of all results so far. */
  readonly reported: Int32Array;
}

/** What a thread gets for each file. */
export interface FileTask {
  readonly name: string;
  readonly filter: string | undefined;
}

export interface FileThreads {
  /** @param filter a part of the names of the tests that count; undefined if all do */
  run(name: string, filter?: string): Promise<FileRun>;
  /** Ends the threads, also those that run a file. */
  close(): Promise<void>;
}

/** @param files number of files to run */
export type StartThreads = (files: number) => Promise<FileThreads>;

export function startFileThreads(count: number, data: ThreadData): FileThreads {
  const piscina = new Piscina<FileTask, FileRun>({
    filename: fileURLToPath(new URL('./file-thread.js', import.meta.url)),
    minThreads: count,
    maxThreads: count,
    idleTimeout: Number.POSITIVE_INFINITY,
    workerData: data,
    ...(IMPORT_ONLY.length > 0 && { execArgv: [...IMPORT_ONLY] }),
    recordTiming: false,
  });
  return { run: (name, filter) => piscina.run({ name, filter }), close: () => piscina.destroy() };
}
