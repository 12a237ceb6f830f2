/** Prints what has become of commands, for people or as JSON, and finds the exit code. */

import { EXIT } from '../../app/exit-codes.ts';
import { oneLine } from '../../text/one-line.ts';
import type { Io } from './io.ts';
import { resultLines } from './result-lines.ts';
import type { ShownResult } from './results.ts';

export interface Printed {
  readonly chain: number;
  readonly results: readonly ShownResult[];
  /** What the node warns of, in its own words. */
  readonly warnings?: readonly string[];
}

/** @returns failed when a command has failed or will never run, otherwise noWork when one has no result */
export function printResults({ chain, results, warnings = [] }: Printed, json: boolean, io: Io): number {
  if (json) {
    io.out(`${JSON.stringify({ chain, results, warnings })}\n`);
  } else {
    for (const warning of warnings) io.say(`warning: ${oneLine(warning)}`);
    io.out(`${results.map((result) => resultLines(result, chain).join('\n')).join('\n\n')}\n`);
  }
  const has = (...states: ShownResult['status'][]) => results.some(({ status }) => states.includes(status));
  if (has('failure', 'expired')) return EXIT.failed;
  return has('pending') ? EXIT.noWork : EXIT.done;
}
