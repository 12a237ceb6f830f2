/** `pickaxe mock-node --dev`: its accounts, and what it prints of them. */

import { devAccounts } from '../../mock-node/dev-accounts.ts';

const BALANCE = '1000.0';

export function devFunds(): { readonly account: string; readonly balance: string }[] {
  return devAccounts().map(({ account }) => ({ account, balance: BALANCE }));
}

/** @returns the accounts with their keys, and a first command to try */
export function devText(url: string): string {
  const accounts = devAccounts();
  const lines = accounts.map(({ account, secretKey }) => `account     ${account}\nsecret key  ${secretKey}\n\n`);
  return (
    'Accounts with 1,000 coins on each chain. Anybody knows their keys: never send real coins to them.\n\n' +
    `${lines.join('')}` +
    `Try it: pickaxe tx local --code '(coin.get-balance "${accounts[0].account}")' --chain 0 --node ${url}\n`
  );
}
