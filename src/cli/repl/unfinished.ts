/** Pure functions that follow the brackets of a text: for inputs that go on, and for brackets that lack their end. */

const OPENING = '([{';
const CLOSING = ')]}';

/** @returns the closing bracket that belongs to an opening one */
export function closingOf(opening: string): string {
  return CLOSING[OPENING.indexOf(opening)];
}

/**
 * @returns true if a bracket is open, or if a backslash continues a string in the next line; false for a complete
 *   input, and for one that no further line can complete, so that the interpreter reports the error
 */
export function isUnfinished(input: string): boolean {
  const open: string[] = [];
  const brackets = bracketsIn(input);
  for (;;) {
    const { done, value } = brackets.next();
    if (done) return value === 'continues' || (value === undefined && open.length > 0);
    const bracket = input[value];
    if (OPENING.includes(bracket)) open.push(bracket);
    else if (closingOf(open.pop() ?? '') !== bracket) return false;
  }
}

/** A bracket that lacks its end. */
export interface Unclosed {
  /** In UTF-16 code units. */
  readonly offset: number;
  /** Whether another bracket may be meant, because only the indentation of the lines after this one tells. */
  readonly isGuess: boolean;
}

/**
 * Finds the bracket that lacks its end. If a form begins in a line that is indented no more than the line of the
 * innermost open bracket, that bracket was probably to be closed before.
 * @param end offset at which the closing bracket is missed
 * @returns undefined if no bracket is open there
 */
export function unclosedIn(text: string, end: number): Unclosed | undefined {
  const open: number[] = [];
  const guesses: number[] = [];
  for (const at of bracketsIn(text.slice(0, end))) {
    if (CLOSING.includes(text[at])) {
      open.pop();
      continue;
    }
    const innermost = open.at(-1);
    const indentation = indentationAt(text, at);
    const isFirst = lineStart(text, at) + indentation === at;
    const isLater = innermost !== undefined && lineStart(text, innermost) < lineStart(text, at);
    if (isFirst && isLater && indentation <= indentationAt(text, innermost)) guesses.push(innermost);
    open.push(at);
  }
  const last = open.at(-1);
  if (last === undefined) return undefined;
  // Many authors do not indent the definitions in a module.
  const guess = guesses.find((at) => !/^\((?:module|interface)\b/.test(text.slice(at, at + 12))) ?? last;
  return { offset: guess, isGuess: guess !== last };
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** @returns number of blanks at the beginning of the line of this offset */
function indentationAt(text: string, offset: number): number {
  const start = lineStart(text, offset);
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0].length ?? 0;
}

/**
 * @yields the offsets of all brackets outside of comments and strings
 * @returns `continues` if a backslash continues a string after the end; `never ends` if a string lacks its end
 */
function* bracketsIn(input: string): Generator<number, 'continues' | 'never ends' | undefined> {
  let at = 0;
  while (at < input.length) {
    const character = input[at];
    if (character === ';') {
      at = lineEnd(input, at);
    } else if (character === '"') {
      const end = textEnd(input, at + 1);
      if (typeof end === 'string') return end;
      at = end;
    } else {
      if (OPENING.includes(character) || CLOSING.includes(character)) yield at;
      at++;
    }
  }
  return undefined;
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
