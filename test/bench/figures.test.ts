import { expect, it } from 'vitest';
import { readable } from '../../bench/lib/figures.mjs';

it('a result is written with each row on a line of its own, and can be read back', () => {
  const row = { kernel: 'avx2', hashesPerSecond: 1e8, rounds: Array.from({ length: 20 }, (_, i) => i / 7) };
  const result = { bench: 'cpu', left: undefined, rows: [row, { ...row, kernel: 'wasm', goal: null }] };
  const text: string = readable(result);
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(result)));
  expect(readable({ rows: [{ a: 1 }, { a: 2 }] })).toBe('{"rows":[{"a":1},{"a":2}]}');
  const lines = text.split('\n');
  expect(lines.slice(0, 3)).toEqual(['{', '  "bench": "cpu",', '  "rows": [']);
  expect(lines.filter((line) => line.includes('"kernel":'))).toHaveLength(2);
});
