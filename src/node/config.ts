/**
 * Reads a node's report of its configuration (document 1, "Configuration") and checks whether the miner can mine there.
 * The report's schema is not stable, and not every node serves it, so there are notes but no errors.
 */

import { z } from 'zod';
import { configRefusal, NodeError, quote } from './errors.ts';
import type { NodeHttp, NodeRequest } from './http.ts';
import { explainMiner, type MinerIdentity, nodeConfigurationFor } from './miner-identity.ts';
import { CONFIG_PATH } from './url.ts';

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

/** For people: a sentence about what the report says. */
interface ConfigNote {
  /** Whether it is about the network, about mining at all, or about this miner. */
  readonly about: 'network' | 'mining' | 'miner';
  readonly state: 'info' | 'warning';
  readonly reason: string;
  /** What the node's configuration must have, line by line, where that would help. */
  readonly nodeConfiguration?: readonly string[];
}

/**
 * Sends GET /config, at the host root.
 * @returns the JSON of the answer, unchecked
 * @throws NodeError
 */
export async function getConfig(http: NodeHttp, stop: AbortSignal): Promise<unknown> {
  const { address, limits } = http;
  const request: NodeRequest = { method: 'GET', path: CONFIG_PATH, headers: { accept: 'application/json' } };
  const { status, body } = await http.ask(request, limits.configTimeoutMs, stop);
  if (status !== 200) throw configRefusal(status, body.toString(), address);
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    throw new NodeError('not understood', `${address.origin}${CONFIG_PATH} is not JSON.`, { cause });
  }
}

/**
 * @param report the JSON of `/config`
 * @returns the network that the node says it serves
 */
export function servedNetwork(report: unknown): string | undefined {
  const { ledgerVersion, chainwebVersion } = configSchema.safeParse(report).data ?? {};
  const served = ledgerVersion ?? chainwebVersion;
  return served === undefined ? undefined : quote(served);
}

/**
 * @param report the JSON of `/config`
 * @param network the expected network; undefined when any will do
 * @param miner the miner that must be configured; undefined when any will do
 * @returns a warning for each problem, or one note that there is none
 */
export function checkConfig(
  report: unknown,
  network: string | undefined,
  miner: MinerIdentity | undefined,
): ConfigNote[] {
  const parsed = configSchema.safeParse(report);
  if (!parsed.success) {
    return [{ about: 'mining', state: 'info', reason: 'the node reports its configuration in an unknown form' }];
  }
  const served = servedNetwork(report);
  const coordination = parsed.data.mining?.coordination;
  const isForeign = served !== undefined && network !== undefined && served !== network;
  // At a node of another network an entry would not help.
  const entry = miner && !isForeign && { nodeConfiguration: nodeConfigurationFor(miner) };
  const warnings: ConfigNote[] = [];
  if (isForeign) {
    const reason = `the node serves the network ${served}, not ${network}: check the network or the node URL`;
    warnings.push({ about: 'network', state: 'warning', reason });
  }
  const miners = coordination?.miners ?? [];
  const isDisabled = coordination?.enabled === false;
  const isUnlisted = miner !== undefined && miners.length > 0 && !miners.some((known) => isSame(known, miner));
  if (isDisabled) {
    const reason = 'mining is disabled at the node: set mining.coordination.enabled in its configuration';
    warnings.push({ about: 'mining', state: 'warning', reason, ...(!isUnlisted && entry) });
  }
  if (isUnlisted) {
    const reason = `the node does not list this miner. ${explainMiner(miner)}`;
    warnings.push({ about: 'miner', state: 'warning', reason, ...entry });
  }
  if (warnings.length > 0) return warnings;
  return [
    {
      about: 'mining',
      state: 'info',
      reason: `the node serves ${served ?? network ?? 'some network'} and its configuration allows mining`,
    },
  ];
}

/** Whether a miner in the report is this one. Keys and predicate are compared only if the report has them. */
function isSame(known: z.infer<typeof minerSchema>, { account, predicate, publicKeys }: MinerIdentity): boolean {
  const keys = known['public-keys'];
  return (
    known.account === account &&
    (known.predicate === undefined || known.predicate === predicate) &&
    (keys === undefined || [...keys].sort().join() === [...publicKeys].sort().join())
  );
}
