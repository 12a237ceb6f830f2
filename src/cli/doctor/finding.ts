/** What `pickaxe doctor` finds, and how it is told. */

export interface Finding {
  /** What it is about, in a word or two. */
  readonly about: string;
  /** A fault stops mining, or the part of it that it is about. */
  readonly state: 'ok' | 'warning' | 'fault';
  readonly what: string;
  /** Of what is not ok: why it matters, and what to do, unless `what` says so. */
  readonly why?: string;
  readonly mend?: string;
}

export function findingLines(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ about }) => about.length));
  const indent = ' '.repeat(width + 11);
  return findings.flatMap(({ about, state, what, why, mend }) => [
    `${state.padEnd(8)} ${about.padEnd(width)}  ${what}`,
    ...(why === undefined ? [] : [`${indent}why: ${why}`]),
    ...(mend === undefined ? [] : [`${indent}do:  ${mend}`]),
  ]);
}
