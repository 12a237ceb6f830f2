/**
 * What a node's configuration report says about whether this miner can mine there (document 1, "Configuration"). The
 * report's schema is not stable and parts may be missing: nothing here is ever fatal.
 */

import { z } from 'zod';
import type { MinerIdentity } from './client.ts';
import { quote } from './errors.ts';
import { explainMiner } from './refusal.ts';

const minerSchema = z.looseObject({
  account: z.string(),
  predicate: z.string().optional(),
  'public-keys': z.array(z.string()).optional(),
});

const configSchema = z.looseObject({
  /** Document 1 calls it `ledgerVersion`; live nodes call it `chainwebVersion`. */
  ledgerVersion: z.string().optional(),
  chainwebVersion: z.string().optional(),
  mining: z
    .looseObject({
      coordination: z
        .looseObject({ enabled: z.boolean().optional(), miners: z.array(minerSchema).optional() })
        .optional(),
    })
    .optional(),
});

export interface Finding {
  readonly state: 'info' | 'warning';
  readonly reason: string;
}

/** @returns the network that a node says it serves, from the JSON of `/config` */
export function servedNetwork(report: unknown): string | undefined {
  const { ledgerVersion, chainwebVersion } = configSchema.safeParse(report).data ?? {};
  const served = ledgerVersion ?? chainwebVersion;
  return served === undefined ? undefined : quote(served);
}

/**
 * @param report the JSON of `/config`
 * @param network any network is right where it is undefined
 * @param miner any miner is right where it is undefined
 */
export function checkConfig(report: unknown, network: string | undefined, miner: MinerIdentity | undefined): Finding[] {
  const parsed = configSchema.safeParse(report);
  if (!parsed.success) {
    return [{ state: 'info', reason: 'the node reports its configuration in a form that is not known here' }];
  }
  const served = servedNetwork(report);
  const coordination = parsed.data.mining?.coordination;
  const warnings: string[] = [];
  if (served !== undefined && network !== undefined && served !== network) {
    warnings.push(`the node serves the network ${served}, not ${network}: check the network or the node URL`);
  }
  if (coordination?.enabled === false) {
    warnings.push('mining is disabled at the node: set mining.coordination.enabled in its configuration');
  }
  const miners = coordination?.miners ?? [];
  if (miner && miners.length > 0 && !miners.some((known) => isSame(known, miner))) {
    warnings.push(`the node does not list this miner. ${explainMiner(miner)}`);
  }
  if (warnings.length > 0) return warnings.map((reason) => ({ state: 'warning', reason }));
  return [
    {
      state: 'info',
      reason: `the node serves ${served ?? network ?? 'some network'} and its configuration allows mining`,
    },
  ];
}

/** Keys and predicate count only where the report gives them. */
function isSame(known: z.infer<typeof minerSchema>, { account, predicate, publicKeys }: MinerIdentity): boolean {
  const keys = known['public-keys'];
  return (
    known.account === account &&
    (known.predicate === undefined || known.predicate === predicate) &&
    (keys === undefined || [...keys].sort().join() === [...publicKeys].sort().join())
  );
}
