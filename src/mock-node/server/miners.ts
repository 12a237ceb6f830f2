/** Who may mine (document 1, "Miner information"). */

import { z } from 'zod';
import { minerSchema } from '../options.ts';

/** Who asks for work. Real nodes take any texts here, and look for a configured miner that has them. */
export const askerSchema = z.object({
  account: z.string(),
  predicate: z.string(),
  'public-keys': z.array(z.string()),
});

export type MinerInfo = z.infer<typeof askerSchema>;

/** Whether an asker is one of the miners. Where none is configured, everyone is who could be one. */
export function isAuthorized(asker: MinerInfo, miners: readonly MinerInfo[]): boolean {
  const same = (miner: MinerInfo) =>
    miner.account === asker.account && miner.predicate === asker.predicate && keySet(miner) === keySet(asker);
  return miners.length === 0 ? minerSchema.safeParse(asker).success : miners.some(same);
}

/** The keys without their order and repetitions. */
function keySet(miner: MinerInfo): string {
  return JSON.stringify([...new Set(miner['public-keys'])].sort());
}
