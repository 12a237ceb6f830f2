import { describe, expect, it } from 'vitest';
import { jsonText } from '#pickaxe/base/text/plain-text.js';

describe('public JSON', () => {
  it.each([
    [0.055899000000208615, '0.055899'],
    [12.345678901234, '12.345679'],
    [-0.0012344999999, '-0.0012345'],
    [26876346.92837465, '26876346.928375'],
    [1.23456789e-9, '1.23457e-9'],
    [2 ** 53 - 1, '9007199254740991'],
    [1e21, '1e+21'],
    [0, '0'],
    [Number.NaN, 'null'],
    [Number.NEGATIVE_INFINITY, 'null'],
    [1 / 3, '0.333333'],
    [2 / 3 + 1, '1.666667'],
    [0.9999999999, '1'],
  ])('writes %d as %s', (figure, text) => expect(jsonText(figure)).toBe(text));

  it('rounds figures at any depth, and leaves everything else alone', () => {
    const value = { a: [0.1 + 0.2, null, '0.30000000000000004'], switchSeconds: { p50: 0.1 + 0.2, count: 3 }, b: true };
    expect(jsonText(value)).toBe(
      '{"a":[0.3,null,"0.30000000000000004"],"switchSeconds":{"p50":0.3,"count":3},"b":true}',
    );
  });
});
