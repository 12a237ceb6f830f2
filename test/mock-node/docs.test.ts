/** Tests that docs/mock-node.md explains every instruction, fault and option of the mock node. */

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { instructionNames } from '#pickaxe/mock-node/control.js';
import { optionsSchema } from '#pickaxe/mock-node/options.js';
import { endpoints, faultKinds } from '#pickaxe/mock-node/server/faults.js';

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
