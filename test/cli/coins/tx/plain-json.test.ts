import { expect, it } from 'vitest';
import { plainJson } from '#pickaxe/cli/coins/tx/results.js';
import { parseExactJson } from '#pickaxe/protocol/ledger/json.js';

it.each([
  ['0', '0'],
  ['123456789012345', '123456789012345'],
  ['1234567890123456', '"1234567890123456"'],
  ['-5.42e-10', '-5.42e-10'],
  ['0.1234567890123456', '"0.1234567890123456"'],
  ['1e400', '"1e400"'],
  ['1e-400', '"1e-400"'],
  ['4.9406564584124e-324', '"4.9406564584124e-324"'],
  ['0e-400', '0'],
])('%s is printed as %s', (json, printed) => {
  expect(JSON.stringify(plainJson(parseExactJson(json)))).toBe(printed);
});
