import jsqr from 'jsqr';
import { describe, expect, test } from 'vitest';
import { pageLink, qrCode } from '#pickaxe/rig/terminal/pages.js';

const TOKEN = '0123456789abcdef'.repeat(4);
const PAGE = { url: 'http://192.168.100.100:8080', token: TOKEN };
const LINK = `http://192.168.100.100:8080/#token=${TOKEN}`;
const WINDOW = { columns: 80, rows: 24, colours: true };
/** Pixels of each module. */
const SCALE = 4;

/** @param isDark whether a drawn block of the terminal is dark @returns the text that a camera reads */
function decoded(lines: readonly string[], isDark: boolean): string | undefined {
  const rows = lines.flatMap((line) => {
    const blocks = line.match(/[ █▀▄]/g) ?? [];
    return ['▀', '▄'].map((half) => blocks.map((block) => (block === '█' || block === half) === isDark));
  });
  const side = rows[0].length * SCALE;
  const height = rows.length * SCALE;
  const pixels = new Uint8ClampedArray(side * height * 4).fill(255);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < side; x++) {
      if (rows[Math.floor(y / SCALE)][Math.floor(x / SCALE)])
        pixels.fill(0, 4 * (y * side + x), 4 * (y * side + x) + 3);
    }
  }
  return jsqr.default(pixels, side, height)?.data;
}

describe('a QR code', () => {
  test.each([LINK, 'http://[2001:db8::1]:8080/#token=a%23b', 'x'.repeat(500)])('of %s is read again', (text) => {
    expect(decoded(qrCode(text, true), true)).toBe(text);
    expect(decoded(qrCode(text, false), false)).toBe(text);
  });

  test('is dark on light whatever the terminal’s colours are, and ends them in each line', () => {
    for (const line of qrCode(LINK, true)) expect(line.split(/[ █▀▄]+/)).toEqual(['\x1b[30;107m', '\x1b[m']);
    for (const line of qrCode(LINK, false)) expect(line).toMatch(/^[ █▀▄]+$/);
  });
});

describe('the key l', () => {
  test('shows the link with the token and its QR code, which fit a window of 24 rows with the line below them', () => {
    const { lines, isSecret } = pageLink(PAGE, WINDOW);
    expect([lines[0], isSecret]).toEqual([LINK, true]);
    expect(decoded(lines.slice(1), true)).toBe(LINK);
    expect(Math.ceil(LINK.length / 80) + lines.length - 1 + 1).toBeLessThanOrEqual(24);
  });

  test.each([
    ['low', { ...WINDOW, rows: 23 }],
    ['narrow', { ...WINDOW, columns: 40, rows: 60 }],
  ])('says which window the QR code needs when this one is too %s', (_, window) => {
    const { lines, isSecret } = pageLink(PAGE, window);
    expect([lines[0], isSecret, lines.length]).toEqual([LINK, true, 2]);
    expect(lines[1]).toMatch(/^The QR code needs a window of \d+ columns and \d+ rows\.$/);
  });

  test.each(['http://127.0.0.1:8080', 'http://[::1]:8080'])('has no QR code for %s, which no phone reaches', (url) => {
    expect(pageLink({ url }, WINDOW)).toEqual({
      lines: [url, expect.stringContaining('Only this machine reaches it.')],
      isSecret: false,
    });
    expect(pageLink({ url, token: TOKEN }, WINDOW)).toMatchObject({ isSecret: true });
  });

  test('keeps every character of a token', () => {
    const { lines } = pageLink({ url: 'http://10.0.0.1:80', token: 'a#b%c&d/e+f=gh?i' }, WINDOW);
    expect(lines[0]).toBe('http://10.0.0.1:80/#token=a%23b%25c%26d%2Fe%2Bf%3Dgh%3Fi');
  });

  test('says how to serve the page when it is not served', () => {
    expect(pageLink(undefined, WINDOW)).toEqual({ lines: [expect.stringContaining('--http')], isSecret: false });
  });
});
