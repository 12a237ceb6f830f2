import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { devAccounts, KeyPair } from '#pickaxe/index.js';

it('the accounts that anybody knows are the same for ever, and their keys follow from a text', () => {
  const accounts = devAccounts();
  expect(accounts.map(({ account }) => account)).toEqual([
    'k:529914663261c5533ee08737f73da543189d74979aa42ad1a02494c2b322c558',
    'k:41b48a46de5639b9c0bf3beefa830841c57f9d2ebbe5676fb699fb6800d33209',
    'k:dc6292749c52faa9301d2e7a961d26b36714e874c5b6e6585382ccbdab0e7e1c',
  ]);
  for (const [index, { account, publicKey, secretKey }] of accounts.entries()) {
    expect(secretKey).toBe(hash('sha256', `pickaxe dev ${index + 1}`));
    expect([new KeyPair(secretKey).publicKey, `k:${publicKey}`]).toEqual([publicKey, account]);
  }
});
