/** Searches a text for another text. */

/** Number of characters, of both texts together, for which a search counts one step. */
export const SEARCHED_PER_STEP = 16;

/**
 * Whether a text contains a part. The algorithm of Knuth, Morris and Pratt compares each character of the text at most
 * twice on average. `String.includes` is faster for short parts, but can take minutes for a long part and a text of a
 * million characters.
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

/** @returns for each prefix of the part, the length of its longest proper prefix that is also its suffix */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  for (let at = 1, matched = 0; at < part.length; at++) {
    matched = extended(part, borders, matched, part.charCodeAt(at));
    borders[at] = matched;
  }
  return borders;
}

/**
 * @param matched length of the prefix of `part` that matches the code units before `unit`
 * @returns length of the longest prefix of `part` that matches the code units up to and including `unit`
 */
function extended(part: string, borders: Int32Array, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1];
  return part.charCodeAt(length) === unit ? length + 1 : length;
}
