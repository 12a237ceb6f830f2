/** What is printed and written after the results on request: the gas of tests, and what they run of contracts. */

import { writeFileSync } from 'node:fs';
import { UsageError } from '../../../app/process/exit.ts';
import type { FileCoverage } from '../../../contract/repl/coverage.ts';
import type { Paint } from '../../../rig/terminal/screen.ts';
import type { FileRun } from '../runs/run-file.ts';
import { coverageLines, lcovText } from './coverage-report.ts';
import { compareGas, type Gas, gasLines, gasOf, readSnapshot, writeSnapshot } from './gas-snapshot.ts';

export interface ExtrasOptions {
  /** Whether to print the gas of each test and transaction. */
  readonly gas?: boolean | undefined;
  /** The file with the gas of an earlier run. It is written if it is not there. */
  readonly gasSnapshot?: string | undefined;
  /** Whether to write the snapshot anew. */
  readonly update?: boolean | undefined;
  /** Whether to print what was run of contracts. */
  readonly coverage?: boolean | undefined;
  /** The file for an lcov tracefile. */
  readonly lcov?: string | undefined;
}

interface Extras {
  readonly lines: readonly string[];
  /** A sentence about a file that was written; undefined if none was. */
  readonly said: string | undefined;
  /** Whether the gas differs from that of the snapshot. */
  readonly differs: boolean;
}

export class ExtraReports {
  readonly #options: ExtrasOptions;
  /** The gas of the snapshot; undefined if its file does not exist. */
  #before: Gas | undefined;

  /** @throws UsageError for a snapshot that cannot be read, and for options that contradict each other */
  constructor(options: ExtrasOptions) {
    this.#options = options;
    const { gasSnapshot, update } = options;
    if (update && gasSnapshot === undefined) {
      throw new UsageError('--update writes a snapshot: name it with --gas-snapshot FILE.');
    }
    this.#before = gasSnapshot === undefined ? undefined : readSnapshot(gasSnapshot);
  }

  get countsGas(): boolean {
    return this.#options.gas === true || this.#options.gasSnapshot !== undefined;
  }

  get covers(): boolean {
    return this.#options.coverage === true || this.#options.lcov !== undefined;
  }

  /**
   * Writes files, if some were asked for.
   * @param isFiltered whether only some tests of the files count
   * @throws UsageError if a file cannot be written
   */
  async of(runs: readonly FileRun[], paint: Paint, isFiltered: boolean): Promise<Extras> {
    const { coverage, lcov } = this.#options;
    const gas = this.#gasOf(runs, paint, isFiltered);
    const files = this.covers ? await merged(runs) : [];
    if (lcov !== undefined) writeLcov(lcov, lcovText(files));
    return { ...gas, lines: [...gas.lines, ...(coverage ? coverageLines(files, paint) : [])] };
  }

  #gasOf(runs: readonly FileRun[], paint: Paint, isFiltered: boolean): Extras {
    const { gas: shows, gasSnapshot: path, update } = this.#options;
    if (!this.countsGas) return { lines: [], said: undefined, differs: false };
    const now = new Map(runs.flatMap(({ result }) => [...gasOf(result)]));
    const lines = shows ? gasLines(now, paint) : [];
    if (path === undefined) return { lines, said: undefined, differs: false };
    const files = runs.filter(({ result }) => result.error === undefined).map(({ result }) => `${result.file} > `);
    const isComplete = (each: string) => !isFiltered && files.some((file) => each.startsWith(file));
    if (this.#before === undefined || update) {
      const kept = [...(this.#before ?? [])].filter(([each]) => !isComplete(each));
      this.#before = new Map([...kept, ...now]);
      writeSnapshot(path, this.#before);
      return { lines, said: `${path} has the gas of ${now.size} tests and transactions.`, differs: false };
    }
    const compared = compareGas(this.#before, now, isComplete, paint);
    return { lines: [...lines, ...compared.lines], said: undefined, differs: compared.differs };
  }
}

async function merged(runs: readonly FileRun[]): Promise<readonly FileCoverage[]> {
  const { mergedCoverage } = await import('../../../contract/repl/coverage.ts');
  return mergedCoverage(runs.flatMap(({ coverage }) => coverage));
}

function writeLcov(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (fault) {
    throw new UsageError(`${path} cannot be written: ${(fault as Error).message}. Give --lcov another file.`);
  }
}
