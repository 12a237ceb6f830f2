/** Tests that docs/mock-node.md explains every instruction, fault and option of the mock node. */

import { readFileSync } from 'node:fs';
import * as vitest from 'vitest';
import { expect, it } from 'vitest';
import * as pickaxe from '#pickaxe/index.js';
import { instructionNames } from '#pickaxe/mock-node/control.js';
import { optionsSchema } from '#pickaxe/mock-node/options.js';
import { endpoints, faultKinds } from '#pickaxe/mock-node/server/faults.js';

/** @returns a function whose body is this code, in which `load` imports a module */
function functionOf(code: string): (load: (name: string) => object) => Promise<void> {
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  return AsyncFunction('load', code) as never;
}

const page = readFileSync(new URL('../../docs/mock-node.md', import.meta.url), 'utf8');

it.each(instructionNames)('the instruction %s is explained', (name) => {
  expect(page).toContain(`\`{"do":"${name}"`);
});

it.each([...endpoints, ...faultKinds])('%s is named', (name) => {
  expect(page).toContain(`\`${name}\``);
});

it('names only options that exist', () => {
  const [table] = page.slice(page.indexOf('| option |')).split('\n\n');
  const rows = table.split('\n').slice(2);
  const named = rows.flatMap((row) => [...row.split('|')[1].matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(named.length).toBeGreaterThan(10);
  expect(Object.keys(optionsSchema.shape)).toEqual(expect.arrayContaining(named));
});

/** The test of a contract runs here as a user would paste it, with the package under its name. */
const [, pasted] = /^```js\n(.*?)^```$/ms.exec(page)!;
await functionOf(pasted.replace(/^import (\{.*\}) from '(.*)';$/gm, "const $1 = load('$2');"))((name) => {
  return { pickaxe, vitest }[name]!;
});
