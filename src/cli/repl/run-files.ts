/** Runs files of contract code, each in its own interpreter, and reports the results. */

import { writeFileSync } from 'node:fs';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { severalLines } from '../../base/text/plain-text.ts';
import type { FileResult } from '../../contract/repl/result.ts';
import { inColours, inPlain } from '../../rig/terminal/screen.ts';
import type { Io } from '../io.ts';
import { junitXml } from './junit.ts';
import { fileLines, hasFailed, reportOf, summaryLine } from './report.ts';
import type { ExtraReports } from './results/extras.ts';
import { listLines, timeText } from './results/test-list.ts';
import type { FileThreads, StartThreads } from './runs/file-threads.ts';
import type { LastFailures } from './runs/last-failures.ts';
import { type FileRun, type RunOptions, type RunTools, runFile } from './runs/run-file.ts';
import { type SourceFiles, STDIN, STDIN_NAME } from './source-files.ts';
import { wrapped } from './wrapped.ts';

export interface FilesOptions extends RunOptions {
  /** Whether the results are printed as JSON. If so, texts that the code prints go to stderr. */
  readonly json: boolean;
  /** Path of the file for the results as JUnit XML; absent if it should not be written. */
  readonly junit?: string;
  /** Whether to run only the files that had failed when they were run last, if some had. */
  readonly onlyFailed?: boolean;
}

export interface FilesTools extends Omit<RunTools, 'print'> {
  /** Makes a SourceFiles for each session. */
  readonly makeFiles: () => SourceFiles;
  readonly io: Pick<Io, 'out' | 'say'>;
  /** Starts threads for many files; absent if this thread runs all of them. */
  readonly startThreads?: StartThreads | undefined;
  /** What is printed after the results on request; absent if nothing is. */
  readonly extras?: ExtraReports | undefined;
  /** The files that have failed before; absent if that is not remembered. */
  readonly lastFailures?: LastFailures | undefined;
}

/** The value of functions such as `print` in dialect 5. */
const UNIT_TEXT = '()';

/** Time after which several files that are left are worth threads, whose start takes a few tenths of a second. */
const WORTH_THREADS_MS = 300;

/** Runs files, and reports the results. */
export class FilesRunner {
  readonly #options: FilesOptions;
  readonly #tools: FilesTools;

  constructor(options: FilesOptions, tools: FilesTools) {
    this.#options = options;
    this.#tools = tools;
  }

  /** Starts threads that can run the files again and again; undefined if this thread has to. */
  async startThreads(files: number): Promise<FileThreads | undefined> {
    return await this.#tools.startThreads?.(files);
  }

  /**
   * @param paths the arguments of the command
   * @returns the names of the files to run
   * @throws UsageError for a file that cannot be read
   */
  namesOf(paths: readonly string[]): string[] {
    const names = paths.map((path) => (path === STDIN ? STDIN_NAME : path));
    for (const name of names) this.#filesOf(name);
    const { lastFailures, io } = this.#tools;
    if (!this.#options.onlyFailed || !lastFailures) return names;
    const failed = names.filter((name) => lastFailures.has(name));
    if (failed.length > 0) return failed;
    io.say('No file had failed when it was run last, so all are run.');
    return names;
  }

  /**
   * Runs files, and prints the results in their order.
   * @param threads run the files; by default this thread, and threads that are started once that is worth while
   * @param filter a part of the names of the tests that count; by default that of the options
   * @returns the exit code: noWork if the run was stopped, failed after an error or a failed expectation, otherwise
   *   done; and what was run
   * @throws UsageError after the run, for a JUnit file that cannot be written
   */
  async run(
    names: readonly string[],
    threads?: FileThreads,
    filter = this.#options.filter,
  ): Promise<{ code: number; runs: readonly FileRun[] }> {
    const { clock, extras, io, lastFailures } = this.#tools;
    const { json, junit } = this.#options;
    const begun = clock();
    const all: FileRun[] = [];
    for await (const run of threads ? inThreads(names, threads, filter) : this.#runsOf(names, filter)) {
      for (const line of run.printed) this.#print(line);
      all.push(run);
      if (filter !== undefined && run.result.expectations.length === 0 && !hasFailed(run.result)) continue;
      const lines = this.#linesOf(run, names.length > 1);
      if (lines.length > 0) io.out(`${lines.join('\n')}\n`);
    }
    const runs =
      filter === undefined ? all : all.filter(({ result }) => result.expectations.length > 0 || hasFailed(result));
    const results = runs.map(({ result }) => result);
    if (!json) this.#summarize(runs, (clock() - begun) / 1000, filter);
    // With a filter, what has passed is not the whole file.
    const files = filter === undefined ? results.filter(({ file }) => !this.#isTyped(file)) : [];
    lastFailures?.note(files.map((result) => ({ file: result.file, hasFailed: hasFailed(result) })));
    if (junit !== undefined) writeJunit(junit, results);
    const extra = await extras?.of(runs, this.#paint, filter !== undefined);
    for (const line of extra?.lines ?? []) for (const each of this.#fit(line)) this.#print(each);
    if (extra?.said !== undefined) io.say(extra.said);
    if (runs.some(({ isLate }) => isLate)) return { code: EXIT.noWork, runs: all };
    return {
      code: results.some(hasFailed) || runs.length === 0 || extra?.differs ? EXIT.failed : EXIT.done,
      runs: all,
    };
  }

  /** Runs files in this thread, and the rest of them in threads if that has taken long. */
  async *#runsOf(names: readonly string[], filter: string | undefined): AsyncGenerator<FileRun> {
    const { clock, startThreads } = this.#tools;
    const begun = clock();
    for (const [at, name] of names.entries()) {
      const left = names.slice(at);
      if (startThreads && left.length > 1 && clock() - begun >= WORTH_THREADS_MS) {
        const threads = await startThreads(left.length);
        try {
          yield* inThreads(left, threads, filter);
        } finally {
          await threads.close();
        }
        return;
      }
      yield await runFile(
        name,
        this.#filesOf(name),
        { ...this.#options, filter },
        {
          ...this.#tools,
          print: (line) => this.#print(line),
        },
      );
    }
  }

  /** @throws UsageError if the file cannot be read */
  #filesOf(name: string): SourceFiles {
    const files = this.#tools.makeFiles();
    files.name(name);
    return files;
  }

  #isTyped(name: string): boolean {
    return this.#tools.makeFiles().isTyped(name);
  }

  #print(line: string): void {
    const { io } = this.#tools;
    if (this.#options.json) io.say(line);
    else io.out(`${line}\n`);
  }

  #linesOf(run: FileRun, isOneOfSeveral: boolean): string[] {
    const { json, trace, columns } = this.#options;
    const { result, value, failures } = run;
    if (json) return [JSON.stringify(reportOf(run, value))];
    // The value of a test is in the summary, and with `trace` each value has been printed.
    const isTest = result.expectations.at(-1)?.text === value;
    const isNothing = value === undefined || value === '' || value === UNIT_TEXT;
    const values = isNothing || isTest || trace ? [] : [severalLines(value)];
    if (isSilent(run)) return values;
    if (columns === undefined) return [...values, ...fileLines(result, isOneOfSeveral, failures)];
    return [...values, ...listLines(run, { paint: this.#paint, isOneOfSeveral }).flatMap((line) => this.#fit(line))];
  }

  #summarize(runs: readonly FileRun[], seconds: number, filter: string | undefined): void {
    const { columns } = this.#options;
    if (runs.length === 1 && isSilent(runs[0])) return;
    if (runs.length === 0 && filter !== undefined) {
      this.#tools.io.say(`No test has ${JSON.stringify(filter)} in its name, its transaction or its file.`);
      return;
    }
    const results = runs.map(({ result }) => result);
    const line = `${summaryLine(results)}; ${dialectsText(runs)}${columns === undefined ? '' : `; ${timeText(seconds)}`}`;
    const isFailed = results.some(hasFailed);
    const painted = columns === undefined ? line : this.#paint(isFailed ? 'red' : 'green', line);
    this.#tools.io.out(`${this.#fit(painted).join('\n')}\n`);
  }

  /** @returns the lines of a line that may be too wide for the terminal */
  #fit(line: string): string[] {
    const { columns } = this.#options;
    return columns === undefined ? [line] : wrapped(line, columns);
  }

  get #paint() {
    return this.#options.colours ? inColours : inPlain;
  }
}

function dialectsText(runs: readonly FileRun[]): string {
  const dialects = new Set(runs.map(({ dialect }) => dialect));
  return dialects.size > 1 ? 'dialects 4 and 5' : `dialect ${[...dialects].join()}`;
}

/** Whether there is nothing to say of typed code but its value. */
function isSilent({ result, value }: FileRun): boolean {
  return value !== undefined && result.expectations.length + result.notes.length === 0 && result.error === undefined;
}

/** Lets threads run all files at once. @yields the runs in the order of the files */
async function* inThreads(
  names: readonly string[],
  threads: FileThreads,
  filter: string | undefined,
): AsyncGenerator<FileRun> {
  const runs = names.map((name) => threads.run(name, filter));
  // While the first run is awaited, others may fail. Their errors are thrown when it is their turn.
  for (const run of runs) run.catch(() => {});
  for (const run of runs) yield await run;
}

function writeJunit(path: string, results: readonly FileResult[]): void {
  try {
    writeFileSync(path, junitXml(results));
  } catch (fault) {
    throw new UsageError(`${path} cannot be written: ${(fault as Error).message}. Give --junit another file.`);
  }
}
