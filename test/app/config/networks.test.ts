import { expect, test } from 'vitest';
import { misspeltNetwork } from '#pickaxe/app/config/known-names.js';

test.each([
  ['mainet01', 'mainnet01'],
  ['mainnet', 'mainnet01'],
  ['Mainnet01', 'mainnet01'],
  ['testnet4', 'testnet04'],
  ['develpment', 'development'],
  ['test-singelton', 'test-singleton'],
  ['mainxyt01', 'mainnet01'],
])('%s is probably a misspelling of %s', (name, meant) => {
  expect(misspeltNetwork(name)).toBe(meant);
});

test.each([
  'mainnet01',
  'testnet04',
  'development',
  'test-singleton',
  'testnet06',
  'mainnet02',
  'n',
  'fast-development',
  'my-network',
  'mainxyz01',
])('%s is not taken for a misspelling', (name) => {
  expect(misspeltNetwork(name)).toBeUndefined();
});
