/** Findings about a node, a pool, an account or the machine, and how they are printed. */

import { z } from 'zod';

export const Finding = z.object({
  /** In a word or two. */
  about: z.string(),
  /** A fault stops mining, or at least its device, node or pool. `skipped` was not checked, as `what` explains. */
  state: z.enum(['ok', 'skipped', 'warning', 'fault']),
  what: z.string(),
  /** The reason why a warning or a fault matters, unless `what` gives it. */
  why: z.string().exactOptional(),
  /** The remedy, unless `what` gives it. */
  mend: z.string().exactOptional(),
  /** Lines that the node's configuration must have. */
  nodeConfiguration: z.array(z.string()).exactOptional(),
});
export type Finding = Readonly<z.infer<typeof Finding>>;

export type Problem = Finding & { readonly state: 'warning' | 'fault' };

export function isFault({ state }: Pick<Finding, 'state'>): boolean {
  return state === 'fault';
}

/** Faults become warnings while one node or pool can be mined on. @param each the findings about each of them */
export function together(each: readonly (readonly Finding[])[]): Finding[] {
  const canMine = each.some((findings) => !findings.some(isFault));
  return each.flat().map((finding) => (canMine && isFault(finding) ? { ...finding, state: 'warning' } : finding));
}

/** @param columns maximum length of a line; by default lines are not wrapped */
export function findingLines(findings: readonly Finding[], columns = Number.POSITIVE_INFINITY): string[] {
  const width = Math.max(...findings.map(({ about }) => about.length));
  const indent = width + STATE_WIDTH + 2;
  const hang = (first: string, text: string) => {
    const [line, ...more] = wrap(text, Math.max(LEAST_TEXT, columns - first.length));
    return [first + line, ...more.map((line) => ' '.repeat(first.length) + line)];
  };
  return findings.flatMap(({ about, state, what, why, mend, nodeConfiguration }) => [
    ...hang(`${state.padEnd(STATE_WIDTH)}${about.padEnd(width)}  `, what),
    ...(why === undefined ? [] : hang(`${' '.repeat(indent)}why: `, why)),
    ...(mend === undefined ? [] : hang(`${' '.repeat(indent)}do:  `, mend)),
    // Not indented, so that the lines can be pasted.
    ...(nodeConfiguration === undefined ? [] : ['', ...nodeConfiguration, '']),
  ]);
}

const STATE_WIDTH = 'warning  '.length;
/** A terminal narrower than this wraps the lines itself. */
const LEAST_TEXT = 24;

/** Breaks lines at spaces; a word that is longer than a line stays whole. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
