/** Examines all pools that are configured. */

import { insecureTlsRisk, poolAccount } from '../app/choose-source.ts';
import { UsageError } from '../app/exit-codes.ts';
import { poolTrust } from '../app/node-trust.ts';
import type { Config } from '../config/settings.ts';
import type { PoolAccount } from '../source/pool/session.ts';
import { version } from '../system/version.ts';
import { examinePool } from './examine-pool.ts';
import { type Finding, softened } from './finding.ts';
import type { OnWork } from './nodes.ts';

/** @returns findings, with faults only if no pool is left to mine on */
export async function examinePools(
  { node, pool }: Pick<Config, 'node' | 'pool'>,
  onWork: OnWork = () => {},
): Promise<Finding[]> {
  let account: PoolAccount;
  try {
    account = poolAccount(pool);
  } catch (fault) {
    return [refusal(fault)];
  }
  const each = await Promise.all((pool.urls ?? []).map((url) => findingsOf(url, { node, pool }, account, onWork)));
  const canMine = each.some((findings) => findings.every(({ state }) => state !== 'fault'));
  const findings = each.flat().map((finding) => (canMine ? softened(finding) : finding));
  const risk = insecureTlsRisk({ node, pool });
  return [...findings, ...(risk ? [{ about: 'pool', state: 'warning', ...risk } satisfies Finding] : [])];
}

async function findingsOf(
  url: string,
  { node, pool }: Pick<Config, 'node' | 'pool'>,
  account: PoolAccount,
  onWork: OnWork,
): Promise<Finding[]> {
  try {
    const trust = poolTrust(url, pool, node);
    const { findings, work } = await examinePool({ url, account, trust, userAgent: `pickaxe/${version}` });
    if (work) onWork(work);
    return findings.map(({ about, what, ...rest }) => ({ ...rest, about: 'pool', what: `${url} ${about}: ${what}` }));
  } catch (fault) {
    return [refusal(fault)];
  }
}

/** @throws what is no UsageError */
function refusal(fault: unknown): Finding {
  if (!(fault instanceof UsageError)) throw fault;
  const why = 'pickaxe mine does not start until this is corrected';
  return { about: 'pool', state: 'fault', what: fault.message, why };
}
