/**
 * Checks a node's report of its configuration (document 1, "Configuration") for problems with mining. The schema of the
 * report is not stable, and some nodes do not serve the report. So problems are findings, not errors.
 */

import { z } from 'zod';
import type { Finding } from '../../base/finding.ts';
import { quote } from '../http/node-error.ts';
import { explainMiner, type MinerIdentity, nodeConfigurationFor } from './miner-identity.ts';

const minerSchema = z.looseObject({
  account: z.string(),
  predicate: z.string().optional(),
  'public-keys': z.array(z.string()).optional(),
});

const configSchema = z.looseObject({
  /** The name of the network. Document 1 calls the field `ledgerVersion`, and real nodes call it `chainwebVersion`. */
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

/**
 * @param report the JSON of `/config`
 * @returns the network's name, safe to show; undefined if the report does not have it
 */
export function servedNetwork(report: unknown): string | undefined {
  const { ledgerVersion, chainwebVersion } = configSchema.safeParse(report).data ?? {};
  const served = ledgerVersion ?? chainwebVersion;
  return served === undefined ? undefined : quote(served);
}

/**
 * @returns the text after the node's name in a message about a node of the wrong network. Undefined if the networks are
 *   equal, or if one of them is unknown
 */
export function otherNetworkText(served: string | undefined, wanted: string | undefined): string | undefined {
  if (served === undefined || !wanted || served === wanted) return undefined;
  return `serves the network ${quote(served)}, not ${wanted}`;
}

type ConfigFinding = Finding & {
  readonly about: 'network' | 'mining' | 'miner';
  readonly state: 'ok' | 'warning';
};

/**
 * @param report the JSON of `/config`
 * @param network the wanted network; undefined or empty if any is acceptable
 * @param miner the miner that the node must accept; undefined if the list of miners does not matter
 * @returns a warning for each problem. If there is none, one finding with the state `ok`
 */
export function checkConfig(
  report: unknown,
  network: string | undefined,
  miner: MinerIdentity | undefined,
): ConfigFinding[] {
  const parsed = configSchema.safeParse(report);
  if (!parsed.success) {
    return [{ about: 'mining', state: 'ok', what: 'the node reports its configuration in an unknown form' }];
  }
  const served = servedNetwork(report);
  const coordination = parsed.data.mining?.coordination;
  const other = otherNetworkText(served, network);
  const entry = miner && other === undefined ? { nodeConfiguration: nodeConfigurationFor(miner) } : {};
  const warnings: ConfigFinding[] = [];
  const warn = (about: ConfigFinding['about'], what: string, more: Pick<Finding, 'nodeConfiguration'> = {}) =>
    warnings.push({ about, state: 'warning', what, ...more });
  if (other !== undefined) warn('network', `the node ${other}: check the network or the node URL`);
  const miners = coordination?.miners ?? [];
  const isUnlisted = miner !== undefined && miners.length > 0 && !miners.some((known) => isSame(known, miner));
  if (coordination?.enabled === false) {
    const what = 'mining is disabled at the node: set mining.coordination.enabled in its configuration';
    warn('mining', what, isUnlisted ? {} : entry);
  }
  if (isUnlisted) warn('miner', `the node does not list this miner. ${explainMiner(miner)}`, entry);
  if (warnings.length > 0) return warnings;
  const what = `the node serves ${served ?? (network || 'some network')} and its configuration allows mining`;
  return [{ about: 'mining', state: 'ok', what }];
}

/** Always compares the accounts. Keys and predicate are compared only if the report has them. */
function isSame(known: z.infer<typeof minerSchema>, { account, predicate, publicKeys }: MinerIdentity): boolean {
  const keys = known['public-keys'];
  return (
    known.account === account &&
    (known.predicate === undefined || known.predicate === predicate) &&
    (keys === undefined || [...keys].sort().join() === [...publicKeys].sort().join())
  );
}
