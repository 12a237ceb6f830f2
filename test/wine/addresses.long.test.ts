/** Wine does not start at all addresses. test/foreign/wine.mjs says why. */

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { areAddressesFixed, wineCommand } from '../foreign/wine.mjs';
import { noWine, why } from './wine.ts';

const ADDR_NO_RANDOMIZE = 0x0040000;

const isForbidden = !areAddressesFixed && !process.env.CI;
const reason = why || (isForbidden ? ' (skipped: setarch is missing, or may not fix addresses here)' : '');

test.skipIf(noWine || isForbidden)(`Windows’ programs start at the same addresses each time${reason}`, () => {
  const withoutWine = wineCommand!.slice(0, -1);
  const [program, ...args] = [...withoutWine, 'cat', '/proc/self/personality'];
  const { stdout } = spawnSync(program, args, { encoding: 'utf8' });
  expect(Number.parseInt(stdout, 16) & ADDR_NO_RANDOMIZE).toBe(ADDR_NO_RANDOMIZE);
});
