/** Pure functions that format coverage: as a table for people, and as an lcov tracefile for editors and CI. */

import { oneLine } from '../../../base/text/plain-text.ts';
import type { FileCoverage } from '../../../contract/repl/coverage.ts';
import type { Paint } from '../../../rig/terminal/screen.ts';

/** @returns a table: for each file, how much of it was run, and which lines and branches were not */
export function coverageLines(files: readonly FileCoverage[], paint: Paint): string[] {
  if (files.length === 0) return ['coverage: no module was loaded from a file'];
  const rows = files.map((file) => {
    const branches = [...file.branches.values()].flat();
    return { name: oneLine(file.file), lines: [...file.lines.values()], branches, missing: missingOf(file) };
  });
  const all = {
    name: 'all',
    lines: rows.flatMap(({ lines }) => lines),
    branches: rows.flatMap(({ branches }) => branches),
    missing: '',
  };
  const width = Math.max(...rows.map(({ name }) => name.length), 'coverage'.length);
  return [
    paint('bold', `${'coverage'.padEnd(width)}   lines  branches  not run`),
    ...[...rows, ...(rows.length > 1 ? [all] : [])].map(({ name, lines, branches, missing }) =>
      `${name.padEnd(width)}  ${percent(lines).padStart(6)}  ${percent(branches).padStart(8)}  ${missing}`.trimEnd(),
    ),
  ];
}

function percent(hits: readonly number[]): string {
  if (hits.length === 0) return '–';
  return `${Math.floor((100 * hits.filter((each) => each > 0).length) / hits.length)} %`;
}

/** @returns the lines that were not run, and those with a branch that was not taken: `3, 7-9; branches of 12` */
function missingOf({ lines, branches }: FileCoverage): string {
  const unrun = [...lines].filter(([, hits]) => hits === 0).map(([line]) => line);
  const partly = [...branches]
    .filter(([place, hits]) => hits.includes(0) && (lines.get(lineOf(place)) ?? 0) > 0)
    .map(([place]) => lineOf(place));
  const parts = [rangesOf(unrun), ...(partly.length === 0 ? [] : [`branches of ${rangesOf(partly)}`])];
  return parts.filter((part) => part !== '').join('; ');
}

function lineOf(place: string): number {
  return Number(place.split(':', 1)[0]);
}

/** @returns numbers in order, with a hyphen for those that follow each other: `3, 7-9` */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const each of [...new Set(numbers)].sort((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range && range[1] === each - 1) range[1] = each;
    else ranges.push([each, each]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
}

/** @returns an lcov tracefile (the format of geninfo(1)) */
export function lcovText(files: readonly FileCoverage[]): string {
  return files.map(recordOf).join('');
}

function recordOf({ file, functions, lines, branches }: FileCoverage): string {
  const inOrder = [...lines].sort(([a], [b]) => a - b);
  const outcomes = [...branches].flatMap(([place, hits], block) => {
    const isRun = (lines.get(lineOf(place)) ?? 0) > 0;
    return hits.map((each, at) => ({ line: lineOf(place), block, at, hits: each, isRun }));
  });
  return [
    'TN:',
    `SF:${file.replace(/[\r\n]/g, ' ')}`,
    ...[...functions].map(([name, { line }]) => `FN:${line},${name}`),
    ...[...functions].map(([name, { hits }]) => `FNDA:${hits},${name}`),
    `FNF:${functions.size}`,
    `FNH:${[...functions.values()].filter(({ hits }) => hits > 0).length}`,
    // A hyphen stands for a branch whose line was never run.
    ...outcomes.map(({ line, block, at, hits, isRun }) => `BRDA:${line},${block},${at},${isRun ? hits : '-'}`),
    `BRF:${outcomes.length}`,
    `BRH:${outcomes.filter(({ hits }) => hits > 0).length}`,
    ...inOrder.map(([line, hits]) => `DA:${line},${hits}`),
    `LF:${inOrder.length}`,
    `LH:${inOrder.filter(([, hits]) => hits > 0).length}`,
    'end_of_record\n',
  ].join('\n');
}
