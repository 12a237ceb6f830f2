/** Searches a text for another text. */

/** Number of characters of both texts for which a search counts one step. */
export const SEARCHED_PER_STEP = 16;

/**
 * Searches by the algorithm of Knuth, Morris and Pratt, which visits each character at most twice. ECMAScript's own
 * search takes minutes for some texts of a million characters.
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

/** @returns for each prefix of the text, the length of its longest proper prefix that is also a suffix */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  for (let at = 1, matched = 0; at < part.length; at++) {
    matched = extended(part, borders, matched, part.charCodeAt(at));
    borders[at] = matched;
  }
  return borders;
}

/** @returns the length of the prefix that matches up to `unit`, after `matched` units matched before it */
function extended(part: string, borders: Int32Array, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1];
  return part.charCodeAt(length) === unit ? length + 1 : length;
}
