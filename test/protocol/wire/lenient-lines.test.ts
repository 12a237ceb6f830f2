import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LenientLines, TOO_LONG } from '#pickaxe/protocol/wire/lines.js';

const bytes = (text: string) => new TextEncoder().encode(text);

it('leaves out lines that are too long, and goes on after them', () => {
  const lines = new LenientLines(4);
  expect(lines.push(bytes('ab\nabcdef\ncd\n'))).toEqual(['ab', TOO_LONG, 'cd']);
  expect(lines.push(bytes('abcde'))).toEqual([TOO_LONG]);
  expect(lines.push(bytes('fgh'))).toEqual([]);
  expect(lines.push(bytes('ijk\nab\r\n'))).toEqual(['ab']);
  // The end of a line that is left out may be the first byte of a piece.
  expect(lines.push(bytes('abcdef'))).toEqual([TOO_LONG]);
  expect(lines.push(bytes('\nab\nxy'))).toEqual(['ab']);
  expect(lines.end()).toEqual(['xy']);
  expect(lines.end()).toEqual([]);
});

it('gives the same lines however the stream is cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r', '{'), maxLength: 60 });
  fc.assert(
    fc.property(text, fc.array(fc.nat(8), { maxLength: 60 }), (text, cuts) => {
      const whole = bytes(text);
      const lines = new LenientLines(10);
      const given: unknown[] = [];
      let at = 0;
      for (const cut of [...cuts, whole.length]) {
        given.push(...lines.push(whole.slice(at, at + cut)));
        at = Math.min(whole.length, at + cut);
      }
      given.push(...lines.end());
      const expected = text.split('\n').map((line) => (bytes(line).length > 10 ? TOO_LONG : line.replace(/\r$/, '')));
      if (expected.at(-1) === '') expected.pop();
      expect(given).toEqual(expected);
    }),
  );
});

it('knows how much it has left out at most', () => {
  const lines = new LenientLines(4);
  const leftOut = (text: string) => {
    lines.push(bytes(text));
    return lines.leftOutBytes;
  };
  expect(leftOut('abcd\nab\r\n')).toBe(0);
  expect(leftOut('abcde\n')).toBe(4 + 6);
  // The rest of a line counts in every later piece, up to its end.
  expect([leftOut('abcde'), leftOut('fgh'), leftOut('ij\nkl\n')]).toEqual([10 + 9, 19 + 3, 22 + 3]);
  expect([leftOut('abcd\n'), leftOut('abcdefgh')]).toEqual([25, 25 + 12]);
  expect([lines.end(), lines.leftOutBytes]).toEqual([[], 37]);
});
