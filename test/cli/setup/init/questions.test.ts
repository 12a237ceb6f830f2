import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { Questions } from '#pickaxe/cli/setup/init/questions.js';

it.each([
  [60, 60],
  [0, 80],
  [undefined, 80],
])('findings on a terminal of %s columns fill %i, with an indentation', (columns, width) => {
  const output = Object.assign(new PassThrough(), columns !== undefined && { columns });
  const questions = new Questions({ input: new PassThrough(), output });
  questions.sayFindings([{ about: 'work', state: 'ok', what: 'i '.repeat(100).trim() }]);
  const lines = `${output.read()}`.trimEnd().split('\n');
  const longest = Math.max(...lines.map(({ length }) => length));
  expect(lines.every((line) => line.startsWith('  '))).toBe(true);
  expect([width - 1, width]).toContain(longest);
});
