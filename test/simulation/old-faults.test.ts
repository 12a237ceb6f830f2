import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { OLD_FAULTS } from './old-faults.ts';
import { WORLDS } from './run.ts';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));

it.each(OLD_FAULTS)('$name: can be put back into the built code, in worlds that exist', ({ edits, worlds }) => {
  for (const { file, from, to } of edits) {
    expect(readFileSync(`${DIST}${file}`, 'utf8').split(from), from).toHaveLength(2);
    expect(to).not.toBe(from);
  }
  expect(Object.keys(WORLDS)).toEqual(expect.arrayContaining([...worlds]));
});
