/** Finds a text in another one. */

/** Characters of both texts that are looked at in the time of a step. */
export const SEARCHED_PER_STEP = 16;

/**
 * ECMAScript's own search takes minutes for some texts of a million characters. This one (Knuth, Morris and Pratt)
 * looks at each character at most twice.
 */
export function containsText(text: string, part: string): boolean {
  if (part.length > text.length) return false;
  if (part.length < 16) return text.includes(part);
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    matched = extended(part, borders, matched, text.charCodeAt(at));
    if (matched === part.length) return true;
  }
  return false;
}

/** @returns for each beginning of the text, the length of its longest proper beginning that is its end, too */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  for (let at = 1, matched = 0; at < part.length; at++) {
    matched = extended(part, borders, matched, part.charCodeAt(at));
    borders[at] = matched;
  }
  return borders;
}

/** @returns how much of the part's beginning ends at the next unit, when `matched` units of it end before */
function extended(part: string, borders: Int32Array, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1];
  return part.charCodeAt(length) === unit ? length + 1 : length;
}
