/** Decides who may mine (document 1, "Miner information"). */

import { z } from 'zod';
import { allowedMinerSchema } from '../options.ts';

/** The miner in a request for work. Real nodes accept any texts here, and look for a configured miner with the same ones. */
export const askerSchema = z.object({
  account: z.string(),
  predicate: z.string(),
  'public-keys': z.array(z.string()),
});

export type MinerInfo = z.infer<typeof askerSchema>;

/** Whether the asker is one of the configured miners. When there are none, every valid miner may mine. */
export function isAuthorized(asker: MinerInfo, miners: readonly MinerInfo[]): boolean {
  const same = (miner: MinerInfo) =>
    miner.account === asker.account && miner.predicate === asker.predicate && keySet(miner) === keySet(asker);
  return miners.length === 0 ? allowedMinerSchema.safeParse(asker).success : miners.some(same);
}

/** @returns a text that is equal for equal sets of keys, whatever their order */
function keySet(miner: MinerInfo): string {
  return JSON.stringify([...new Set(miner['public-keys'])].sort());
}
