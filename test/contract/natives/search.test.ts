/** The search for a long part of a text, beside that of ECMAScript. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { containsText } from '#pickaxe/contract/natives/search.js';

it.each([
  ['b', 'a'],
  ['a', 'b'],
])('a part may begin with another letter than it continues with: %s, then %s', (first, rest) => {
  const part = first + rest.repeat(16);
  expect(containsText(part, part)).toBe(true);
  expect(containsText(`${part}x`, part)).toBe(true);
  expect(containsText(`x${part}`, part)).toBe(true);
  expect(containsText(rest.repeat(16), part)).toBe(false);
  expect(containsText(rest.repeat(40), part)).toBe(false);
});

it('a part is found exactly where ECMAScript finds it', () => {
  const letters = (minLength: number, maxLength: number) =>
    fc.array(fc.constantFrom('a', 'b'), { minLength, maxLength }).map((all) => all.join(''));
  fc.assert(
    fc.property(letters(1, 6), letters(16, 24), letters(0, 30), fc.nat(40), (period, tail, before, cut) => {
      // Both texts repeat a short period, so that many beginnings of the part match.
      const part = `${period.repeat(24).slice(0, 20)}${tail.slice(0, 4)}`;
      const text = `${before}${period.repeat(12)}${part.slice(0, cut)}${period}${part}`;
      for (let end = part.length; end <= text.length; end++) {
        const shown = text.slice(0, end);
        if (containsText(shown, part) !== shown.includes(part)) expect.fail(`${part} in ${shown}`);
      }
      expect(containsText(part.slice(1), part)).toBe(false);
    }),
  );
});
