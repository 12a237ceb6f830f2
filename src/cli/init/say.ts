/** What `pickaxe init` says between its questions. */

import { type Finding, findingLines } from '../../doctor/finding.ts';

const INDENT = '  ';
/** The assumed width of a terminal that does not report its own. */
const USUAL_COLUMNS = 80;

export function say(...lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${INDENT}${line}\n`).join(''));
}

export function sayFindings(findings: readonly Finding[]): void {
  say(...findingLines(findings, (process.stdout.columns || USUAL_COLUMNS) - INDENT.length));
}
