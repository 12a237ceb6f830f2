/** Pure functions that show two values on several lines, and the lines in which they differ. */

import { severalLines } from '../../../base/text/plain-text.ts';
import type { Paint } from '../../../rig/terminal/screen.ts';

/** Maximum number of characters of a part of a value that is shown on one line. */
const LINE_LENGTH = 60;
/** Maximum number of lines of each value that are compared. */
const MOST_LINES = 400;
/** Maximum number of lines that are shown. */
const MOST_SHOWN = 60;
/** Number of equal lines that are shown before and after a difference. */
const AROUND = 2;

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** @returns the lines of both values: after `-` those of the first alone, after `+` those of the second alone */
export function diffLines(expected: string, received: string, paint: Paint): string[] {
  const [first, second] = [valueLines(expected), valueLines(received)];
  if (first.length + second.length === 2) {
    const lines = [`  - expected ${severalLines(first[0])}`, `  + received ${severalLines(second[0])}`];
    return [paint('red', lines[0]), paint('green', lines[1])];
  }
  const [before, after] = [first, second].map((lines) => lines.slice(0, MOST_LINES));
  const compared = compare(before, after);
  const isNear = compared.map((_, at) =>
    compared.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ mark }) => mark !== ' '),
  );
  const shown = compared.flatMap(({ mark, line }, at) => {
    if (!isNear[at]) return at === 0 || isNear[at - 1] ? [`    ${paint('dim', '…')}`] : [];
    const text = `  ${mark} ${severalLines(line)}`;
    return [mark === ' ' ? text : paint(mark === '-' ? 'red' : 'green', text)];
  });
  const rest = shown.length - MOST_SHOWN;
  return [
    `  ${paint('red', '- expected')} ${paint('green', '+ received')}`,
    ...shown.slice(0, MOST_SHOWN),
    ...(rest > 0 ? [`    ${paint('dim', `… and ${rest} more lines`)}`] : []),
  ];
}

/* The lines of a value. */

/** A value with brackets, or a part of a text without brackets. */
type Part = string | { readonly open: string; readonly items: readonly (readonly Part[])[] };

/**
 * @param text a value as the interpreter prints it
 * @returns the text on one line if it is short; otherwise each item of a list and each field of an object on lines of
 *   its own. Fields are sorted, because their order means nothing
 */
export function valueLines(text: string): string[] {
  return linesOf(new Parts(text).items('')[0] ?? [], '').flatMap((line) => line.split('\n'));
}

function linesOf(parts: readonly Part[], indent: string): string[] {
  const flat = parts.map(flatText).join('');
  if (flat.length + indent.length <= LINE_LENGTH || parts.every((part) => typeof part === 'string')) {
    return [`${indent}${flat}`];
  }
  const lines: string[] = [];
  let line = indent;
  for (const part of parts) {
    if (typeof part === 'string') {
      line += part;
      continue;
    }
    const comma = part.open === '{' ? ',' : '';
    lines.push(`${line}${part.open}`);
    for (const [at, item] of part.items.entries()) {
      const inner = linesOf(item, `${indent}  `);
      const end = at < part.items.length - 1 ? comma : '';
      lines.push(...inner.slice(0, -1), `${inner.at(-1)}${end}`);
    }
    line = `${indent}${CLOSING[part.open]}`;
  }
  return [...lines, line];
}

function flatText(part: Part): string {
  if (typeof part === 'string') return part;
  const items = part.items.map((item) => item.map(flatText).join(''));
  return `${part.open}${items.join(part.open === '[' ? ' ' : ', ')}${CLOSING[part.open]}`;
}

/** Reads a printed value. Texts in it are not escaped, so brackets may be missing; the end of the text closes those. */
class Parts {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @param open the bracket around the items; empty for the whole text, which is one item */
  items(open: string): Part[][] {
    const items: Part[][] = [];
    let item: Part[] = [];
    const end = () => {
      if (item.length > 0) items.push(item);
      item = [];
    };
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at];
      if (open !== '' && character === CLOSING[open]) {
        this.#at++;
        break;
      }
      if (open !== '' && (character === ',' || (character === ' ' && (open === '[' || item.length === 0)))) {
        this.#at++;
        end();
      } else if (character in CLOSING) {
        this.#at++;
        item.push({ open: character, items: this.items(character) });
      } else {
        item.push(this.#leaf());
      }
    }
    end();
    return open === '{' ? items.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) : items;
  }

  /** @returns a quoted text, or the characters up to the next bracket or separator */
  #leaf(): string {
    const rest = /^(?:"[^"]*"?|[^"()[\]{}, ]+|.)/su.exec(this.#text.slice(this.#at, this.#at + MOST_LEAF))?.[0] ?? '';
    this.#at += rest.length;
    return rest;
  }
}

/** Maximum number of characters of a leaf. A longer one is read in parts. */
const MOST_LEAF = 2 ** 16;

function keyOf([key]: readonly Part[]): string {
  return typeof key === 'string' ? key : '';
}

/* The comparison. */

interface Compared {
  readonly mark: ' ' | '-' | '+';
  readonly line: string;
}

/** Compares by a longest common subsequence of lines. */
function compare(before: readonly string[], after: readonly string[]): Compared[] {
  const width = after.length + 1;
  // At [i, j], the number of lines that before[i …] and after[j …] have in common.
  const common = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const at = i * width + j;
      common[at] = before[i] === after[j] ? common[at + width + 1] + 1 : Math.max(common[at + width], common[at + 1]);
    }
  }
  const lines: Compared[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const at = i * width + j;
    if (i < before.length && before[i] === after[j]) {
      lines.push({ mark: ' ', line: before[i++] });
      j++;
    } else if (i < before.length && (j === after.length || common[at + width] >= common[at + 1])) {
      lines.push({ mark: '-', line: before[i++] });
    } else {
      lines.push({ mark: '+', line: after[j++] });
    }
  }
  return lines;
}
