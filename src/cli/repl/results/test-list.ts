/** Pure functions that list files and their tests on a terminal, with ✓ or ✗ and the time of each. */

import { oneLine } from '../../../base/text/plain-text.ts';
import { plural } from '../../../base/text/quantities.ts';
import type { Paint } from '../../../rig/terminal/screen.ts';
import { failuresOf, hasFailed } from '../report.ts';
import type { FileRun } from '../runs/run-file.ts';
import { type Test, testsOf } from './tests.ts';

interface ListOptions {
  readonly paint: Paint;
  /** Whether several files were run. If so, the tests of a file are listed only if one of them has failed. */
  readonly isOneOfSeveral: boolean;
}

/** @returns a line for the file, a line for each of its tests, the lines of its failures, and its notes */
export function listLines(run: FileRun, { paint, isOneOfSeveral }: ListOptions): string[] {
  const { result, failures, seconds } = run;
  const isFailed = hasFailed(result);
  const head = ` ${oneLine(result.file)}  ${countsOf(run)}`;
  const tests = isOneOfSeveral && !isFailed ? [] : testsOf(result);
  return [
    `${mark(!isFailed, paint)}${paint('bold', head)}  ${paint('dim', timeText(seconds))}`,
    ...testLines(tests, paint),
    ...(failures.length === 0 ? [] : ['', ...failures, '']),
    ...[...new Set(result.notes)].map((note) => paint('yellow', `  ${oneLine(note)}`)),
  ];
}

function countsOf({ result }: FileRun): string {
  const [count, failed] = [result.expectations.length, failuresOf(result).length];
  const counts = failed === 0 ? plural(count, 'test') : `${failed} of ${plural(count, 'test')} failed`;
  return result.error === undefined ? counts : `${counts}, ended with an error`;
}

function testLines(tests: readonly Test[], paint: Paint): string[] {
  let transaction: string | undefined;
  return tests.flatMap(({ name, expectation }) => {
    const isNew = expectation.transaction !== transaction;
    transaction = expectation.transaction;
    const { seconds = 0, passed } = expectation;
    // Most tests take less than a millisecond, and that is not worth reading.
    const time = seconds < 0.001 ? '' : `  ${timeText(seconds)}`;
    const shown = oneLine(name);
    return [
      ...(isNew && transaction !== undefined ? [`  ${paint('dim', oneLine(transaction))}`] : []),
      `    ${mark(passed, paint)} ${passed ? shown : paint('red', shown)}${time === '' ? '' : paint('dim', time)}`,
    ];
  });
}

function mark(passed: boolean, paint: Paint): string {
  return passed ? paint('green', '✓') : paint('red', '✗');
}

/** @returns `12 ms` or `1.25 s` */
export function timeText(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`;
}
