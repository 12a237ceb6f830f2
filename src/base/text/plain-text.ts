/**
 * Makes texts from outside (nodes, drivers, commands, certificates, files) safe to print; writes CSV and JSON. Pure.
 */

/**
 * Replaces each run of control characters, line breaks and other characters of Unicode's category C by a space. They
 * could be commands to a terminal, fake an entry of a log, or change the direction of a line.
 * @param most maximum length of the result in UTF-16 code units. A text that was cut ends with "…"
 */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const clean = text.replace(/[\p{C}\s]+/gu, (gap) => (/^ +$/.test(gap) ? gap : ' ')).trim();
  if (clean.length <= most) return clean;
  // The cut may have left half of a surrogate pair.
  return `${clean.slice(0, most - 1).replace(/\p{Cs}$/u, '')}…`;
}

/**
 * Like `oneLine`, for a text of several lines: line feeds and tabs stay. Only characters that could be commands to a
 * terminal, or change the direction of a line, become spaces.
 */
export function severalLines(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(/[^\P{C}\n\t]/gu, ' ');
}

/** Like `oneLine`, but each character takes one column: wide characters become question marks. */
export function oneColumnEach(text: string, most = Number.POSITIVE_INFINITY): string {
  return oneLine(text, most).replace(/[^\x20-\x7e°…]/g, '?');
}

/**
 * Writes CSV (RFC 4180, but lines end with a line feed alone). A text that a spreadsheet would run as a formula gets an
 * apostrophe in front. A block hash may begin with `-`: a single word after the `-` is not a formula.
 * @param rows null is an empty cell
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
 * @param bytes UTF-8, or UTF-16 with a byte order mark, which Windows PowerShell 5 writes for `>`
 * @returns the text without a byte order mark
 * @throws TypeError when the bytes are neither
 */
export function decodeText(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes);
}

/** Maximum number of decimal places of a fraction: seconds are exact to the microsecond. */
const DECIMAL_PLACES = 6;
/** Number of significant digits of a fraction below 1. */
const DIGITS_BELOW_ONE = 6;

/**
 * @returns JSON without a newline. Fractions are rounded, because clocks and averages have meaningless digits
 *   (0.055899000000208615)
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
