/** What `pickaxe balance --json` prints. Amounts are exact decimals in text. */

import { z } from 'zod';

const coins = z.string().regex(/^-?\d+\.\d+$/);

const ChainReport = z.object({
  chain: z.int().nonnegative(),
  balance: coins.nullable().meta({ description: 'null: the account does not exist there, or the chain was not read' }),
  fault: z.string().nullable().meta({ description: 'why the chain was not read; null when it was read' }),
});
export type ChainReport = Readonly<z.infer<typeof ChainReport>>;

export const BalanceReport = z.object({
  account: z.string(),
  token: z.string(),
  network: z.string(),
  chains: z.array(ChainReport),
  total: coins.nullable().meta({ description: 'null unless every chain was read' }),
});
export type BalanceReport = Readonly<z.infer<typeof BalanceReport>>;
