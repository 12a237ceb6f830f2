/** The gas of tests and transactions, and a file of it that later runs compare with. */

import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { UsageError } from '../../../app/process/exit.ts';
import { readRegularFile, UnfitFile } from '../../../base/system/regular-file.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import type { FileResult } from '../../../contract/repl/result.ts';
import type { Paint } from '../../../rig/terminal/screen.ts';
import { DifferentNames, testsOf } from './tests.ts';

/** Units of gas by paths: `FILE > TRANSACTION > TEST`, or `FILE > TRANSACTION` for a whole transaction. */
export type Gas = ReadonlyMap<string, number>;

/** Maximum size of a snapshot, in bytes. */
const MAX_BYTES = 2 ** 24;

const Snapshot = z.record(z.string(), z.int().nonnegative());

/** @returns the gas of the tests and transactions of a file. A test is part of its transaction */
export function gasOf(result: FileResult): Gas {
  const names = new DifferentNames();
  const tests = testsOf(result).flatMap(({ path, expectation: { gas } }): [string, number][] => {
    return gas === undefined ? [] : [[path, gas]];
  });
  const gas = new Map<string, number>();
  for (const { name, gas: units } of result.transactions ?? []) {
    const path = `${oneLine(result.file)} > ${names.next(oneLine(name ?? 'transaction'))}`;
    gas.set(path, units);
    for (const [test, own] of tests) if (test.startsWith(`${path} > `)) gas.set(test, own);
  }
  for (const [test, own] of tests) gas.set(test, own);
  return gas;
}

/** @returns the gas of an earlier run; undefined if there is no file @throws UsageError for any other file */
export function readSnapshot(path: string): Gas | undefined {
  try {
    const { bytes } = readRegularFile(path, MAX_BYTES);
    return new Map(Object.entries(Snapshot.parse(JSON.parse(bytes.toString('utf8')))));
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const why =
      fault instanceof UnfitFile || code !== undefined
        ? (fault as Error).message
        : 'it does not contain a snapshot of gas';
    throw new UsageError(`${path} cannot be read: ${why}. Give --gas-snapshot another file.`);
  }
}

/** @throws UsageError if the file cannot be written */
export function writeSnapshot(path: string, gas: Gas): void {
  const sorted = Object.fromEntries([...gas].sort(([a], [b]) => (a < b ? -1 : 1)));
  try {
    writeFileSync(path, `${JSON.stringify(sorted, undefined, 1)}\n`);
  } catch (fault) {
    throw new UsageError(`${path} cannot be written: ${(fault as Error).message}. Give --gas-snapshot another file.`);
  }
}

/** @returns a line for each test and transaction with its gas */
export function gasLines(gas: Gas, paint: Paint): string[] {
  return [paint('bold', '       gas'), ...[...gas].map(([path, units]) => `${figure(units)}  ${path}`)];
}

export interface GasComparison {
  /** A line for each difference, and one about all; none if there is no difference. */
  readonly lines: readonly string[];
  readonly differs: boolean;
}

/**
 * @param before the gas of the snapshot
 * @param isComplete whether the file of a path was run with all its tests, so that a path that is missing has gone
 */
export function compareGas(before: Gas, now: Gas, isComplete: (path: string) => boolean, paint: Paint): GasComparison {
  const changed = [...now].filter(([path, units]) => before.get(path) !== units);
  const gone = [...before].filter(([path]) => !now.has(path) && isComplete(path));
  if (changed.length + gone.length === 0) return { lines: [], differs: false };
  const rows = changed.map(([path, units]) => {
    const old = before.get(path);
    if (old === undefined) return `${figure(units)}       new  ${path}`;
    const sign = units > old ? '+' : '−';
    const row = `${figure(units)}  ${`${sign}${Math.abs(units - old)}`.padStart(8)}  ${path}`;
    return paint(units > old ? 'red' : 'green', row);
  });
  const isNew = ([path]: readonly [string, number]) => !before.has(path);
  const counts = [
    [changed.filter((each) => !isNew(each)).length, 'changed'],
    [changed.filter(isNew).length, 'new'],
    [gone.length, 'gone'],
  ] as const;
  const shown = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return {
    differs: true,
    lines: [
      paint('bold', '       gas    change'),
      ...rows,
      ...gone.map(([path, units]) => `${figure(units)}      gone  ${path}`),
      `gas: ${shown.join(', ')}; --update writes the snapshot anew`,
    ],
  };
}

function figure(units: number): string {
  return `${units}`.padStart(10);
}
