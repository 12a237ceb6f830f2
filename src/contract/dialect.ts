/** A major version of the contract language: 4 as in its last release, or 5 as live nodes run it. */
export type Dialect = 4 | 5;

/** The dialect of code for which nobody has chosen another: that of live nodes. */
export const DEFAULT_DIALECT: Dialect = 5;

/** Number of lines at the beginning of a file among which the comment is that chooses the file's dialect. */
const MOST_LINES = 20;

/**
 * @param text the text of a file
 * @returns the dialect that a comment before the first form chooses, such as `;; dialect: 4`; undefined if none does
 */
export function chosenDialect(text: string): Dialect | undefined {
  for (const line of text.split('\n', MOST_LINES)) {
    const trimmed = line.trim();
    if (trimmed !== '' && !trimmed.startsWith(';')) return undefined;
    const chosen = /^;+\s*dialect:\s*([45])$/.exec(trimmed)?.[1];
    if (chosen !== undefined) return chosen === '4' ? 4 : 5;
  }
  return undefined;
}
