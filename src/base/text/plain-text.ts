/**
 * Makes texts from outside (nodes, drivers, commands, certificates, files) safe to print, decodes texts, and writes CSV
 * and JSON. Pure.
 */

/**
 * Replaces each run of white space and characters of Unicode's category C, such as control characters, by one space.
 * Only a run of nothing but plain spaces stays as it is. Spaces at both ends are removed. The replaced characters could
 * be commands to a terminal, fake an entry of a log, or change the direction of the text.
 * @param most maximum length of the result in UTF-16 code units. A longer text is cut, and then ends with "…"
 */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const clean = text.replace(/[\p{C}\s]+/gu, (gap) => (/^ +$/.test(gap) ? gap : ' ')).trim();
  if (clean.length <= most) return clean;
  // If the cut has divided a surrogate pair, its first half is removed, too.
  return `${clean.slice(0, most - 1).replace(/\p{Cs}$/u, '')}…`;
}

/**
 * Like `oneLine`, but for a text of several lines. CRLF becomes a line feed. Each character of Unicode's category C,
 * except line feeds and tabs, becomes a space. Nothing else is changed.
 */
export function severalLines(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(/[^\P{C}\n\t]/gu, ' ');
}

/**
 * Like `oneLine`, but each character of the result takes one column of a terminal. For this, everything but printable
 * ASCII, `°` and `…` becomes question marks.
 */
export function oneColumnEach(text: string, most = Number.POSITIVE_INFINITY): string {
  return oneLine(text, most).replace(/[^\x20-\x7e°…]/g, '?');
}

/**
 * Writes CSV (RFC 4180, except that lines end with a line feed alone). A text that a spreadsheet could run as a formula
 * gets an apostrophe in front. A `-` before a single word does not count as the beginning of a formula, because block
 * hashes may begin with `-`.
 * @param rows the cells of each row; null stands for an empty cell
 */
export function csv(rows: readonly (readonly (string | number | boolean | null)[])[]): string {
  return rows.map((cells) => `${cells.map(csvCell).join(',')}\n`).join('');
}

function csvCell(value: string | number | boolean | null): string {
  const text = value === null ? '' : String(value);
  const inert = typeof value === 'string' && /^([=+@\t\r]|-.*[^\w-])/s.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/* Decoding of files that people have written. */

/**
 * @param bytes UTF-8, or UTF-16LE with a byte order mark, which Windows PowerShell 5 writes for `>`
 * @returns the text without a byte order mark
 * @throws TypeError when the bytes are not a valid text
 */
export function decodeText(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes);
}

/** Maximum number of decimal places of a number whose absolute value is at least 1: seconds stay exact to the µs. */
const DECIMAL_PLACES = 6;
/** Maximum number of significant digits of a number whose absolute value is below 1. */
const DIGITS_BELOW_ONE = 6;

/**
 * @returns JSON on one line. Numbers that are not whole are rounded, because those of clocks and averages have
 *   meaningless digits, such as 0.055899000000208615
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'number' ? rounded(each) : each));
}

function rounded(figure: number): number {
  if (Number.isInteger(figure) || !Number.isFinite(figure)) return figure;
  return Number(Math.abs(figure) < 1 ? figure.toPrecision(DIGITS_BELOW_ONE) : figure.toFixed(DECIMAL_PLACES));
}

/** @returns undefined when the text is not JSON */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
