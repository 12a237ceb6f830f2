/** Asks nodes about the blocks and the account of a rig. */

import { oneLine } from '../../base/text/plain-text.ts';
import type { LedgerView } from '../../node/blocks/observation.ts';
import { type ChainReading, LedgerReader, readDetails } from '../../node/client/ledger-reader.ts';
import { minerIdentity } from '../../node/client/miner-identity.ts';
import { NodeError } from '../../node/http/node-error.ts';
import { nodeAddress, numberRepeated } from '../../node/http/url.ts';
import type { AccountDetails } from '../../protocol/ledger/command/coin.ts';
import { formatDecimal } from '../../protocol/ledger/decimal.ts';
import { networkOf } from '../../protocol/ledger/header.ts';
import { LedgerFormatError } from '../../protocol/ledger/json.ts';
import { COIN } from '../../protocol/ledger/payload.ts';
import { rewardByTable } from '../../protocol/ledger/reward.ts';
import { type Balance, type ChainBalance, type EarningsTerms, NoBalance } from '../../rig/status/earnings.ts';
import type { Config } from '../config/settings.ts';
import { UsageError } from '../process/exit.ts';
import {
  type ApiSettings,
  type ConfiguredNode,
  configuredNodes,
  type NodeContext,
  nodeApi,
  openNodeApi,
  RIG_LIMITS,
  shownNode,
} from './node-clients.ts';

export interface LedgerViews {
  readonly views: readonly LedgerView[];
  close(): Promise<void>;
}

/**
 * Opens a view of each node's ledger. The view has the same name as the source of work on that node.
 * @param settings must name the network, unless all URLs name it
 * @throws UsageError when a file of certificates cannot be used
 */
export function openLedgerViews(settings: ApiSettings, context: NodeContext = {}): LedgerViews {
  const { urls = [], network = '' } = settings.node;
  const names = numberRepeated(urls.map((url) => nodeAddress(url, network).name));
  const apis = urls.map((url) => nodeApi({ url }, network, settings, { ...context, limits: RIG_LIMITS }));
  return {
    views: apis.map((api, i) => new LedgerReader(api, names[i])),
    close: async () => {
      await Promise.all(apis.map((api) => api.close()));
    },
  };
}

/* The balance of the miner's account, for the page and the API. */

type Settings = Pick<Config, 'node' | 'ledger' | 'miner'>;
type Reading = ChainReading<AccountDetails | undefined>;

/**
 * The limits are short, because a person waits and can ask again. They suffice, because the balances of all chains are
 * requested at once, and each answer has about a kilobyte.
 */
const LIMITS = { attempts: 1, answerTimeoutMs: 3_000, mostAnswerBytes: 2 ** 18 };

/** @returns the balance from the first node that gives one @throws NoBalance with the errors of all nodes */
export async function askBalance(settings: Settings, stop: AbortSignal, context: NodeContext = {}): Promise<Balance> {
  const faults: string[] = [];
  for (const node of configuredNodes(settings)) {
    try {
      return await askNode(settings, node, stop, context);
    } catch (fault) {
      if (!(fault instanceof NodeError || fault instanceof LedgerFormatError || fault instanceof UsageError))
        throw fault;
      // The messages of NodeErrors already name the node.
      faults.push(oneLine(fault instanceof NodeError ? fault.message : `${shownNode(node)}: ${fault.message}`));
    }
  }
  throw new NoBalance(`${faults.map((fault) => fault.replace(/\.$/, '')).join('; ')}.`);
}

/** @throws among others, the error of the first chain, when the balance of no chain could be read */
async function askNode(
  settings: Settings,
  node: ConfiguredNode,
  stop: AbortSignal,
  context: NodeContext,
): Promise<Balance> {
  const account = settings.miner.account ?? minerIdentity(settings.miner)!.account;
  const api = await openNodeApi(node, settings, { ...context, limits: LIMITS });
  try {
    const { heads } = await api.cut({}, stop);
    const readings = await readDetails(api, heads.keys(), { account, module: COIN }, stop);
    const faults = readings.flatMap((each) => ('error' in each ? [each.error] : []));
    if (faults.length === readings.length) throw faults[0];
    const total = faults.length > 0 ? null : formatDecimal(sumOf(readings));
    return { account, node: nodeAddress(shownNode(node), api.network).name, total, chains: readings.map(chainBalance) };
  } finally {
    await api.close();
  }
}

function sumOf(readings: readonly Reading[]): bigint {
  return readings.reduce((sum, each) => sum + ('value' in each && each.value ? each.value.balance : 0n), 0n);
}

function chainBalance(reading: Reading): ChainBalance {
  const { chain } = reading;
  if ('error' in reading) return { chain, balance: null, exists: null, fault: oneLine(reading.error.message) };
  const { value } = reading;
  return { chain, balance: formatDecimal(value?.balance ?? 0n), exists: value !== undefined, fault: null };
}

/** @returns the table of rewards and the settings about power, for estimates of earnings */
export function earningsTerms({ node, power }: Pick<Config, 'node' | 'power'>): EarningsTerms {
  return {
    coinsAt: (version, height) => {
      // Another network may have the same version number in its headers, but pay other rewards.
      if (node.network !== undefined && node.network !== networkOf(version)) return undefined;
      const reward = rewardByTable({ version, height });
      return reward === undefined ? undefined : Number(formatDecimal(reward));
    },
    powerWatts: power.watts,
    powerPrice: power.price,
  };
}
