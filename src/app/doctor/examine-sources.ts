/** Examines the nodes, pools, fleet and account of the settings, for `pickaxe doctor` and `pickaxe init`. */

import { type Finding, together } from '../../base/finding.ts';
import type { PoolAccount } from '../../miner/source/pool/client-session.ts';
import { readDetails } from '../../node/client/ledger-reader.ts';
import { minerIdentity } from '../../node/client/miner-identity.ts';
import { NodeError } from '../../node/http/node-error.ts';
import { numberRepeated, shownUrl } from '../../node/http/url.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { LedgerFormatError } from '../../protocol/ledger/json.ts';
import { COIN } from '../../protocol/ledger/payload.ts';
import { accountFindings, notChecked } from '../../rig/survey/examine-account.ts';
import { type Examination, examineNode, type NodeQuestion } from '../../rig/survey/examine-node.ts';
import { examinePool } from '../../rig/survey/examine-pool.ts';
import { insecureTlsRisk, poolAccount } from '../composition/choose-source.ts';
import { type Config, DEFAULTS } from '../config/settings.ts';
import { nodeTrust, poolTrust } from '../nodes/node-clients.ts';
import { NodesInTurn } from '../nodes/nodes-in-turn.ts';
import { UsageError } from '../process/exit.ts';

/** The findings about nodes or pools, and the works that these gave: at most one from each. */
export interface ExaminedSources {
  readonly findings: readonly Finding[];
  readonly works: readonly Work[];
}

/**
 * @param examine replaced by tests
 * @returns findings and works. If at least one node can be mined on, the faults of other nodes are only warnings
 */
export async function examineNodes(
  { node, miner: settings }: Pick<Config, 'node' | 'miner'>,
  examine: (question: NodeQuestion) => Promise<Examination> = examineNode,
): Promise<ExaminedSources> {
  const { urls = [], network } = node;
  if (urls.length === 0) return { findings: [NO_NODE], works: [] };
  const miner = minerIdentity(settings);
  const names = numberRepeated(urls.map(shownUrl));
  const each = await Promise.all(
    urls.map((url, index) =>
      named('node', names[index], () => examine({ url, network, miner, trust: nodeTrust(url, node) })),
    ),
  );
  return joined(each, [...riskOf({ node, pool: DEFAULTS.pool }), ...(miner ? [] : [NO_KEY])]);
}

/** @returns findings and works. If at least one pool can be mined on, the faults of other pools are only warnings */
export async function examinePools({ node, pool }: Pick<Config, 'node' | 'pool'>): Promise<ExaminedSources> {
  let account: PoolAccount;
  try {
    account = poolAccount(pool);
  } catch (fault) {
    return { findings: [refusal('pool', fault)], works: [] };
  }
  const examine = async (url: string) => examinePool({ url, account, trust: poolTrust(url, pool, node) });
  const each = await Promise.all((pool.urls ?? []).map((url) => named('pool', url, () => examine(url))));
  return joined(each, riskOf({ node, pool }));
}

/**
 * @returns findings about the fleet's NATS servers. If at least one server can be used, the faults of other servers are
 *   only warnings
 */
export async function examineFleet(
  { nats, rig }: Pick<Config, 'nats' | 'rig'>,
  isCoordinator: boolean,
): Promise<readonly Finding[]> {
  const [{ fleetMember }, { examineFleetServer }] = await Promise.all([
    import('../composition/fleet-link.ts'),
    import('../../fleet/survey.ts'),
  ]);
  const examine = async (url: string) => {
    const denials: string[] = [];
    const member = fleetMember({ rig, nats: { ...nats, urls: [url] } }, (line) => denials.push(line));
    member.link.open();
    try {
      return { findings: await examineFleetServer({ ...member, isCoordinator, denials }) };
    } finally {
      await member.link.close();
    }
  };
  const each = await Promise.all((nats.urls ?? []).map((url) => named('fleet', url, () => examine(url))));
  return together(each.map(({ findings }) => findings));
}

const NO_NODE: Finding = {
  about: 'node',
  state: 'fault',
  what: 'no node is configured, so none was asked, and the clock was not checked',
  why: 'pickaxe mine does not start without one',
  remedy: 'run pickaxe init, or give --node URL',
};
const NO_KEY: Finding = {
  about: 'miner',
  state: 'fault',
  what: 'no public key is configured, so no work was asked for',
  why: 'pickaxe mine does not start without one, since rewards go to a key',
  remedy: 'run pickaxe init, or give --public-key HEX; pickaxe keygen pickaxe-key.json makes a key',
};

/**
 * Puts the name of a node, pool or NATS server before each of its findings.
 * @param name must not contain secrets
 * @param examine a UsageError that it throws becomes a finding
 */
async function named(
  kind: 'node' | 'pool' | 'fleet',
  name: string,
  examine: () => Promise<Pick<Examination, 'findings' | 'work'>>,
): Promise<Pick<Examination, 'findings' | 'work'>> {
  try {
    const { findings, ...rest } = await examine();
    const say = ({ about, what, ...more }: Finding) => ({ ...more, about: kind, what: `${name} ${about}: ${what}` });
    return { ...rest, findings: findings.map(say) };
  } catch (fault) {
    return { findings: [refusal(kind, fault)] };
  }
}

/** @throws any fault that is not a UsageError */
function refusal(about: string, fault: unknown): Finding {
  if (!(fault instanceof UsageError)) throw fault;
  return notStarting(about, fault.message);
}

/** @param more a further consequence, appended to the reason */
export function notStarting(about: string, what: string, more = ''): Finding {
  return { about, state: 'fault', what, why: `pickaxe mine does not start until this is corrected${more}` };
}

function joined(each: readonly Pick<Examination, 'findings' | 'work'>[], more: readonly Finding[]): ExaminedSources {
  return {
    findings: [...together(each.map(({ findings }) => findings)), ...more],
    works: each.flatMap(({ work }) => work ?? []),
  };
}

function riskOf(settings: Pick<Config, 'node' | 'pool'>): Finding[] {
  const risk = insecureTlsRisk(settings);
  const about = settings.pool.urls === undefined ? 'node' : 'pool';
  return risk ? [{ about, state: 'warning', ...risk }] : [];
}

/** A slow node is not asked again, because the examination of the nodes reports that it is slow. */
const LIMITS = { attempts: 1, answerTimeoutMs: 10_000 };

/** @returns an empty list if no node or no key is configured, because the examination of the nodes reports that */
export async function examineAccount(config: Pick<Config, 'node' | 'ledger' | 'miner'>): Promise<Finding[]> {
  const miner = minerIdentity(config.miner);
  if (!miner || config.node.urls === undefined) return [];
  const { account, publicKeys: keys, predicate: pred } = miner;
  try {
    // Warnings about unreachable nodes are dropped, because the examination of the nodes reports them.
    const nodes = new NodesInTurn(config, () => {}, { limits: LIMITS });
    try {
      return await nodes.ask(async (api) => {
        const { heads } = await api.cut();
        const readings = await readDetails(api, heads.keys(), { account, module: COIN });
        return accountFindings(account, { keys, pred }, readings);
      });
    } finally {
      await nodes.close();
    }
  } catch (fault) {
    if (!(fault instanceof NodeError || fault instanceof LedgerFormatError || fault instanceof UsageError)) throw fault;
    return [notChecked(account, fault.message)];
  }
}
