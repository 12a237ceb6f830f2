/** Key `l`: a link to the web page, with its token, and the same as a QR code. Pure. */

import { encode } from 'uqr';
import { isLoopback } from '../text/addresses.ts';

/** Where the page is served. Only the terminal gets it: the token is for no log, file or API. */
export interface ServedPage {
  /** `http://192.168.1.5:8080`: the address by which other machines reach it, where they do. */
  readonly url: string;
  readonly token?: string | undefined;
}

interface PageLink {
  readonly lines: readonly string[];
  /** Whether the token is in it. */
  readonly isSecret: boolean;
}

interface Window {
  readonly columns: number;
  readonly rows: number;
  readonly colours: boolean;
}

/**
 * Light modules around a QR code. Four are usual (ISO/IEC 18004 §6.3.8), and two are enough for cameras; a window of 24
 * rows has no space for more.
 */
const BORDER = 2;
/** Black on white, whatever the terminal's colours are. */
const INK = ['\x1b[30;107m', '\x1b[m'] as const;

export function pageLink(page: ServedPage | undefined, window: Window): PageLink {
  if (!page) return { lines: ['there is no web page: start pickaxe with --http 8080'], isSecret: false };
  const { url, token } = page;
  const link = token === undefined ? url : `${url}/#token=${encodeURIComponent(token)}`;
  const isSecret = token !== undefined;
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const code = isLoopback(host)
    ? ['Only this machine reaches it. For others, start with --http 0.0.0.0:8080 and --http-token-file.']
    : codeThatFits(link, window);
  return { lines: [link, ...code], isSecret };
}

/** @returns the QR code, or a line that says why there is none */
function codeThatFits(link: string, { columns, rows, colours }: Window): readonly string[] {
  const code = qrCode(link, colours);
  const width = 2 * code.length;
  // Below it, one row says how to go back.
  const height = Math.ceil(link.length / columns) + code.length + 1;
  if (columns >= width && rows >= height) return code;
  return [`The QR code needs a window of ${width} columns and ${height} rows.`];
}

/** @returns lines with two rows of modules each */
export function qrCode(text: string, colours: boolean): string[] {
  const { data } = encode(text, { ecc: 'L', border: BORDER });
  // Without colours the light modules are drawn, as most terminals are dark.
  const isDrawn = (row: number, column: number) => (data[row]?.[column] ?? false) === colours;
  const [start, end] = colours ? INK : ['', ''];
  return Array.from({ length: Math.ceil(data.length / 2) }, (_, line) => {
    const blocks = data[0].map((_, column) => {
      const [upper, lower] = [isDrawn(2 * line, column), isDrawn(2 * line + 1, column)];
      return upper ? (lower ? '█' : '▀') : lower ? '▄' : ' ';
    });
    return `${start}${blocks.join('')}${end}`;
  });
}
