/** Asks the nodes of a rig what the account that is mined for has: for the page and the API, when somebody wants to know. */

import { type ChainReading, readDetails } from '../accounts/read-account.ts';
import type { Config } from '../config/settings.ts';
import type { AccountDetails } from '../ledger/command/coin-results.ts';
import { formatDecimal } from '../ledger/decimal.ts';
import { LedgerFormatError } from '../ledger/errors.ts';
import { COIN } from '../ledger/transfers.ts';
import { ApiError } from '../node/api/api-error.ts';
import { nodeAddress } from '../node/url.ts';
import { type Balance, type ChainBalance, NoBalance } from '../report/balance.ts';
import { oneLine } from '../text/one-line.ts';
import { minerAccount } from './choose-source.ts';
import { UsageError } from './exit-codes.ts';
import { type ConfiguredNode, configuredNodes, openNodeApi, shownNode } from './node-api.ts';

type Settings = Pick<Config, 'node' | 'ledger' | 'miner'>;
type Reading = ChainReading<AccountDetails | undefined>;

/**
 * Short, because a person waits for the answer and can ask again. An answer about an account has a kilobyte, but all chains are
 * asked at once, while the rig mines.
 */
const LIMITS = { attempts: 1, answerTimeoutMs: 3_000, mostAnswerBytes: 2 ** 18 };

/**
 * @param stop ends the question, with its reason
 * @returns the answer of the first configured node that has one
 * @throws NoBalance that says of each node why it cannot
 */
export async function askBalance(settings: Settings, stop: AbortSignal): Promise<Balance> {
  const faults: string[] = [];
  for (const node of configuredNodes(settings)) {
    try {
      return await askNode(settings, node, stop);
    } catch (fault) {
      if (!(fault instanceof ApiError || fault instanceof LedgerFormatError || fault instanceof UsageError))
        throw fault;
      // What the client of the API says names the node already.
      faults.push(oneLine(fault instanceof ApiError ? fault.message : `${shownNode(node)}: ${fault.message}`));
    }
  }
  throw new NoBalance(faults.join(' '));
}

/** @throws the first fault when no chain answers */
async function askNode(settings: Settings, node: ConfiguredNode, stop: AbortSignal): Promise<Balance> {
  const account = minerAccount(settings.miner);
  const api = await openNodeApi(node, settings, { limits: LIMITS });
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
