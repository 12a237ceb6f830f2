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

/** @param columns that lines may have; left out, they are as long as they are */
export function findingLines(findings: readonly Finding[], columns = Number.POSITIVE_INFINITY): string[] {
  const width = Math.max(...findings.map(({ about }) => about.length));
  const indent = width + STATE_WIDTH + 2;
  const hang = (first: string, text: string) => {
    const [line, ...more] = wrap(text, Math.max(LEAST_TEXT, columns - first.length));
    return [first + line, ...more.map((line) => ' '.repeat(first.length) + line)];
  };
  return findings.flatMap(({ about, state, what, why, mend }) => [
    ...hang(`${state.padEnd(STATE_WIDTH)}${about.padEnd(width)}  `, what),
    ...(why === undefined ? [] : hang(`${' '.repeat(indent)}why: `, why)),
    ...(mend === undefined ? [] : hang(`${' '.repeat(indent)}do:  `, mend)),
  ]);
}

const STATE_WIDTH = 'warning  '.length;
/** On a terminal that is narrower, lines go on as they do there. */
const LEAST_TEXT = 24;

/** At spaces; a word that is longer than a line stays whole. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
