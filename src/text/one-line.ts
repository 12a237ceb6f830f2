/** Makes texts that others wrote (nodes, drivers, commands, certificates) safe to show. */

/**
 * Terminals take some characters for commands, readers of a log take what follows a line break for the next entry, and
 * some characters turn the direction of a line. Each run of them becomes one space.
 * @param most how many UTF-16 code units the result may have; a text that was cut ends with "…"
 * @returns the text on one line, without controls (C0, DEL, C1), line separators and the rest of Unicode's category C
 */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const clean = text.replace(/[\p{C}\s]+/gu, (gap) => (/^ +$/.test(gap) ? gap : ' ')).trim();
  if (clean.length <= most) return clean;
  // The cut may go through the middle of a character.
  return `${clean.slice(0, most - 1).replace(/\p{Cs}$/u, '')}…`;
}
