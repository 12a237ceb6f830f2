/** Runs the suites of the mock node's contracts. They are contract code themselves. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { Session } from '#pickaxe/contract/repl/repl-session.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const CONTRACTS = fileURLToPath(new URL('../../../src/mock-node/contracts', import.meta.url));

const SUITES = namesIn(FOLDER, '.repl');

it.each(SUITES)('%s', (name) => {
  const { expectations, error } = sessionOf(4).runFile(join(FOLDER, `${name}.repl`));
  expect(error).toBeUndefined();
  expect(expectations.length).toBeGreaterThan(0);
  const failures = expectations.filter(({ passed }) => !passed);
  expect(failures.map(({ place, text }) => `line ${place.position.line}: ${text}`)).toEqual([]);
});

it('every contract has a suite', () => {
  expect(SUITES).toEqual(expect.arrayContaining(namesIn(CONTRACTS, '.pact')));
});

it('all of them load in dialect 5, too', () => {
  const session = sessionOf(5);
  const { expectations, error } = session.runFile(join(FOLDER, 'ledger.repl'));
  expect([error, ...expectations]).toEqual([undefined, expect.objectContaining({ passed: true })]);
  for (const name of ['gas-payer-v1', 'gas-station', 'ns']) {
    expect(session.runFile(join(CONTRACTS, `${name}.pact`)).error).toBeUndefined();
  }
});

function sessionOf(dialect: Dialect): Session {
  return new Session({
    dialect,
    readFile: (path) => readFileSync(path, 'utf8'),
    resolvePath: (from, path) => join(dirname(from), path),
  });
}

/** @returns the names of files with this ending, without it */
function namesIn(folder: string, ending: string): string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith(ending) ? [name.slice(0, -ending.length)] : []));
}
