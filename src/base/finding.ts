/** Findings about a node, a pool, an account or the machine, and how they are printed. */

import { z } from 'zod';

export const Finding = z.object({
  about: z.string(),
  state: z
    .enum(['ok', 'skipped', 'warning', 'fault'])
    .describe(
      '`ok`; `skipped`: it could not be checked, which does not change the exit code; `warning`; `fault`: it stops mining, or a part of it',
    ),
  what: z.string(),
  why: z.string().exactOptional().describe('why it matters'),
  remedy: z.string().exactOptional().describe('what to do'),
  nodeConfiguration: z.array(z.string()).exactOptional().describe('lines of YAML for the node’s configuration'),
});
export type Finding = Readonly<z.infer<typeof Finding>>;

export type Problem = Finding & { readonly state: 'warning' | 'fault' };

export function isFault({ state }: Pick<Finding, 'state'>): boolean {
  return state === 'fault';
}

/**
 * Turns faults into warnings if at least one node or pool has no fault, so that mining can go on.
 * @param each the findings about each node or pool
 */
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
  return findings.flatMap(({ about, state, what, why, remedy, nodeConfiguration }) => [
    ...hang(`${state.padEnd(STATE_WIDTH)}${about.padEnd(width)}  `, what),
    ...(why === undefined ? [] : hang(`${' '.repeat(indent)}why: `, why)),
    ...(remedy === undefined ? [] : hang(`${' '.repeat(indent)}do:  `, remedy)),
    // Not indented, so that the lines can be pasted.
    ...(nodeConfiguration === undefined ? [] : ['', ...nodeConfiguration, '']),
  ]);
}

const STATE_WIDTH = 'warning  '.length;
/** Minimum width of the text beside its indentation. A narrower terminal wraps the lines itself. */
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
