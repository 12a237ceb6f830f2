/** What an examination finds, whether of a node, a pool, an account or the machine, and how findings are printed. */

import { z } from 'zod';

export const Finding = z.object({
  /** What it is about, in a word or two. */
  about: z.string(),
  /**
   * A fault stops mining, or at least stops the device, the node or the pool that it is about. What is skipped could
   * not be checked: `what` says why.
   */
  state: z.enum(['ok', 'skipped', 'warning', 'fault']),
  what: z.string(),
  /** Why a warning or a fault matters, unless `what` says so. */
  why: z.string().exactOptional(),
  /** What to do about it, unless `what` says so. */
  mend: z.string().exactOptional(),
  /** What the node's configuration must have, line by line, where that would help. */
  nodeConfiguration: z.array(z.string()).exactOptional(),
});
export type Finding = Readonly<z.infer<typeof Finding>>;

/** A finding about something that is wrong. */
export type Problem = Finding & { readonly state: 'warning' | 'fault' };

export function isFault({ state }: Pick<Finding, 'state'>): boolean {
  return state === 'fault';
}

/**
 * @param each the findings about each node, or about each pool
 * @returns all of them. While one of the nodes or pools can be mined on, the faults of the others are only warnings
 */
export function together(each: readonly (readonly Finding[])[]): Finding[] {
  const canMine = each.some((findings) => !findings.some(isFault));
  return each.flat().map((finding) => (canMine && isFault(finding) ? { ...finding, state: 'warning' } : finding));
}

/** @param columns the longest line; by default lines are not wrapped */
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
    // Not indented, so that they can be pasted as they are.
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
