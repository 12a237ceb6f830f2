/**
 * Examines whether the miner's account can be paid: an account that exists on a chain with other keys or another predicate cannot,
 * and then the node makes no work there.
 */

import { type ChainReading, readDetails } from '../accounts/read-account.ts';
import { defaultAccount } from '../app/choose-source.ts';
import { UsageError } from '../app/exit-codes.ts';
import { NodesInTurn } from '../app/nodes-in-turn.ts';
import type { Config } from '../config/settings.ts';
import { type Keyset, sameKeyset } from '../ledger/command/coin.ts';
import type { AccountDetails } from '../ledger/command/coin-results.ts';
import { LedgerFormatError } from '../ledger/errors.ts';
import { stringifyExactJson } from '../ledger/exact-json.ts';
import { COIN } from '../ledger/transfers.ts';
import { ApiError } from '../node/api/api-error.ts';
import { oneLine } from '../text/one-line.ts';
import type { Finding } from './finding.ts';

type Reading = ChainReading<AccountDetails | undefined>;

/** A node that is slow here is not asked again: the rest of the examination says more about it. */
const LIMITS = { attempts: 1, answerTimeoutMs: 10_000 };
/** The most characters of a foreign guard. */
const MOST = 200;

/** Judges what was read of an account. */
type Judge = (account: string, miner: Keyset, readings: readonly Reading[]) => Finding[];

/**
 * Asks the first node that can be reached.
 * @param judge by default there is a finding about an account with which nothing is wrong, too
 * @returns nothing without a node or a key, which the examination of the nodes reports
 */
export async function examineAccount(
  config: Pick<Config, 'node' | 'ledger' | 'miner'>,
  judge: Judge = findingsAbout,
): Promise<Finding[]> {
  const { account: given, publicKeys = [], predicate: pred } = config.miner;
  if (publicKeys.length === 0 || config.node.urls === undefined) return [];
  const account = given ?? defaultAccount(publicKeys);
  try {
    // The examination of the nodes reports which of them cannot be reached.
    const nodes = new NodesInTurn(config, () => {}, { limits: LIMITS });
    try {
      return await nodes.ask(async (api) => {
        const { heads } = await api.cut();
        const readings = await readDetails(api, heads.keys(), { account, module: COIN });
        return judge(account, { keys: publicKeys, pred }, readings);
      });
    } finally {
      await nodes.close();
    }
  } catch (fault) {
    if (!(fault instanceof ApiError || fault instanceof LedgerFormatError || fault instanceof UsageError)) throw fault;
    return [notChecked(account, fault.message)];
  }
}

/** @param miner the keys and the predicate that the configuration names */
export function findingsAbout(account: string, miner: Keyset, readings: readonly Reading[]): Finding[] {
  const troubles = troublesOf(account, miner, readings);
  if (troubles.length > 0) return troubles;
  const known = existing(readings);
  const what =
    known.length === 0
      ? `${account} does not exist yet: its first reward on each chain makes it`
      : `${account} has the configured keys on ${known.length} of ${readings.length} chains; rewards make it on the others`;
  const everywhere = `${account} has the configured keys on all chains`;
  return [{ about: 'account', state: 'ok', what: known.length === readings.length ? everywhere : what }];
}

/** @returns what is wrong with the account, and where it was not checked */
export function troublesOf(account: string, miner: Keyset, readings: readonly Reading[]): Finding[] {
  const unread = readings.flatMap((each) => ('error' in each ? [each] : []));
  const others = existing(readings).filter(({ keyset }) => !keyset || !sameKeyset(keyset, miner));
  const findings: Finding[] = [];
  if (others.length > 0) {
    findings.push({
      about: 'account',
      state: others.length === readings.length ? 'fault' : 'warning',
      what:
        `${account} exists with other keys or another predicate on ${on(others)}: ` +
        oneLine(stringifyExactJson(others[0].guard), MOST),
      why: 'blocks there cannot pay it, so the node gives no work for these chains',
      mend: 'configure the keys and the predicate that it has, or another account; a k: account has nobody else’s keys',
    });
  }
  if (unread.length > 0) findings.push(notChecked(account, unread[0].error.message, on(unread)));
  return findings;
}

function existing(readings: readonly Reading[]): (AccountDetails & { readonly chain: number })[] {
  return readings.flatMap((each) => ('value' in each && each.value ? [{ ...each.value, chain: each.chain }] : []));
}

function notChecked(account: string, reason: string, where?: string): Finding {
  const place = where === undefined ? '' : ` on ${where}`;
  return { about: 'account', state: 'skipped', what: `${account} was not checked${place}: ${oneLine(reason)}` };
}

function on(places: readonly { readonly chain: number }[]): string {
  return `${places.length === 1 ? 'chain' : 'chains'} ${places.map(({ chain }) => chain).join(', ')}`;
}
