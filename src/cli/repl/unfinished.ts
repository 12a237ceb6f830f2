/** A pure function that decides whether an input at the prompt continues in the next line. */

const OPENING = '([{';
const CLOSING = ')]}';

/**
 * @returns true if a bracket is open, or if a backslash continues a string in the next line; false for a complete
 *   input, and for one that no further line can complete, so that the interpreter reports the error
 */
export function isUnfinished(input: string): boolean {
  const open: string[] = [];
  let at = 0;
  while (at < input.length) {
    const character = input[at];
    if (character === ';') {
      at = lineEnd(input, at);
    } else if (character === '"') {
      const end = textEnd(input, at + 1);
      if (end === 'continues') return true;
      if (end === 'never ends') return false;
      at = end;
    } else {
      if (OPENING.includes(character)) open.push(character);
      else if (CLOSING.includes(character) && open.pop() !== OPENING[CLOSING.indexOf(character)]) return false;
      at++;
    }
  }
  return open.length > 0;
}

function lineEnd(input: string, start: number): number {
  const end = input.indexOf('\n', start);
  return end < 0 ? input.length : end;
}

/** Matches white space. Between two backslashes in a string, white space is not part of the string. */
const GAP = /\s+/y;

/**
 * @param start offset after the opening quotation mark
 * @returns the offset after the closing quotation mark; `continues` if a backslash continues the string in the next
 *   line; `never ends` if no further line can complete the string
 */
function textEnd(input: string, start: number): number | 'continues' | 'never ends' {
  let at = start;
  for (;;) {
    const character = input[at];
    if (character === undefined || character === '\n') return 'never ends';
    if (character === '"') return at + 1;
    at++;
    if (character !== '\\') continue;
    GAP.lastIndex = at;
    const gap = GAP.exec(input)?.[0] ?? '';
    at += gap.length;
    if (at === input.length) return 'continues';
    if (gap !== '' && input[at] !== '\\') return 'never ends';
    at++;
  }
}
