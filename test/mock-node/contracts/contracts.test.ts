/** Runs the suites of the mock node's contracts, which are contract code themselves. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Session } from '#pickaxe/contract/repl/session.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const CONTRACTS = fileURLToPath(new URL('../../../src/mock-node/contracts', import.meta.url));

const SUITES = namesIn(FOLDER, '.repl');

it.each(SUITES)('%s', (name) => {
  const session = new Session({
    readFile: (path) => readFileSync(path, 'utf8'),
    resolvePath: (from, path) => join(dirname(from), path),
  });
  const { expectations, error } = session.runFile(join(FOLDER, `${name}.repl`));
  expect(error).toBeUndefined();
  expect(expectations.length).toBeGreaterThan(0);
  const failures = expectations.filter(({ passed }) => !passed);
  expect(failures.map(({ place, text }) => `line ${place.position.line}: ${text}`)).toEqual([]);
});

it('every contract has a suite', () => {
  expect(SUITES).toEqual(expect.arrayContaining(namesIn(CONTRACTS, '.pact')));
});

/** @returns the names of the files in a folder with this ending, without the ending */
function namesIn(folder: string, ending: string): string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith(ending) ? [name.slice(0, -ending.length)] : []));
}
