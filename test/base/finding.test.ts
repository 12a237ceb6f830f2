import { expect, it } from 'vitest';
import { findingLines } from '#pickaxe/base/finding.js';

it('findings are printed as lines', () => {
  const lines = findingLines([
    { about: 'CPU', state: 'ok', what: 'kernel avx2' },
    { about: 'memory', state: 'warning', what: '5 MiB free', why: 'it ends', remedy: 'buy some' },
  ]);
  const narrow = findingLines([{ about: 'CPU', state: 'fault', what: 'one two three four five six seven' }], 40);
  expect(narrow).toEqual(['fault    CPU  one two three four five', '              six seven']);
  // A terminal that is narrower than any line gets lines of 24 characters.
  const [first, ...rest] = findingLines(
    [{ about: 'CPU', state: 'fault', what: 'one two three four five six seven' }],
    9,
  );
  expect([first, ...rest]).toEqual(['fault    CPU  one two three four five', '              six seven']);
  expect(lines).toEqual([
    'ok       CPU     kernel avx2',
    'warning  memory  5 MiB free',
    '                 why: it ends',
    '                 do:  buy some',
  ]);
});
