/** Makes texts from outside (from nodes, drivers, commands, certificates) safe to show. */

/**
 * Replaces each run of dangerous characters by a space: control characters can be commands to a terminal, a line break can fake
 * an entry of a log, and some characters change the direction of a line.
 * @param most the maximum length of the result in UTF-16 code units. A text that was cut ends with "…"
 * @returns the text on one line, without line separators and all of Unicode's category C, which includes control characters
 */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const clean = text.replace(/[\p{C}\s]+/gu, (gap) => (/^ +$/.test(gap) ? gap : ' ')).trim();
  if (clean.length <= most) return clean;
  // The cut may have left half of a surrogate pair, which is removed.
  return `${clean.slice(0, most - 1).replace(/\p{Cs}$/u, '')}…`;
}

/** @returns the text on one line of as many columns as it has characters, for terminals: wide characters become question marks */
export function oneColumnEach(text: string, most = Number.POSITIVE_INFINITY): string {
  return oneLine(text, most).replace(/[^\x20-\x7e°…]/g, '?');
}
