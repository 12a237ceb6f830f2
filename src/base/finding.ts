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
 * Turns all faults into warnings if at least one node or pool has no fault, because that one suffices for mining.
 * @param each the findings about each node or pool
 */
export function together(each: readonly (readonly Finding[])[]): Finding[] {
  const canMine = each.some((findings) => !findings.some(isFault));
  return each.flat().map((finding) => (canMine && isFault(finding) ? { ...finding, state: 'warning' } : finding));
}

/**
 * @param columns width to which texts are wrapped, in characters; no limit by default. Lines of YAML are never wrapped
 */
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
    // These lines are not indented, so that they can be pasted into the node's configuration.
    ...(nodeConfiguration === undefined ? [] : ['', ...nodeConfiguration, '']),
  ]);
}

const STATE_WIDTH = 'warning  '.length;
/**
 * Minimum width of a text without its indentation, in characters. On a terminal that is too narrow for it, the lines
 * are longer than the terminal is wide, and the terminal wraps them.
 */
const LEAST_TEXT = 24;

/** Wraps a text at its spaces. A word that is longer than a line is not divided. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
