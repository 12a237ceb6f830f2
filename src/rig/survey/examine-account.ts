/**
 * Examines on which chains the miner's account can be paid. A node gives no work for a chain on which the account
 * exists with other keys than the configured ones.
 */

import type { Finding } from '../../base/finding.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { ChainReading } from '../../node/client/ledger-reader.ts';
import { type AccountDetails, type Keyset, sameKeyset } from '../../protocol/ledger/command/coin.ts';
import { stringifyExactJson } from '../../protocol/ledger/json.ts';

type Reading = ChainReading<AccountDetails | undefined>;

/** Maximum number of characters of an account's guard that a finding quotes. */
const MAX_GUARD = 200;

/** @param miner the configured keys and predicate @param readings the account on each chain, or why it is not known */
export function accountFindings(account: string, miner: Keyset, readings: readonly Reading[]): Finding[] {
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

function troublesOf(account: string, miner: Keyset, readings: readonly Reading[]): Finding[] {
  const unread = readings.flatMap((each) => ('error' in each ? [each] : []));
  const others = existing(readings).filter(({ keyset }) => !keyset || !sameKeyset(keyset, miner));
  const findings: Finding[] = [];
  if (others.length > 0) {
    findings.push({
      about: 'account',
      state: others.length === readings.length ? 'fault' : 'warning',
      what:
        `${account} exists with other keys or another predicate on ${on(others)}: ` +
        oneLine(stringifyExactJson(others[0].guard), MAX_GUARD),
      why: 'blocks there cannot pay it, so the node gives no work for these chains',
      remedy:
        'configure the keys and the predicate that it has, or another account; a k: account has nobody else’s keys',
    });
  }
  if (unread.length > 0) findings.push(notChecked(account, unread[0].error.message, on(unread)));
  return findings;
}

function existing(readings: readonly Reading[]): (AccountDetails & { readonly chain: number })[] {
  return readings.flatMap((each) => ('value' in each && each.value ? [{ ...each.value, chain: each.chain }] : []));
}

/**
 * @param reason why the account was not checked; may be foreign text
 * @param where the chains on which the account was not checked; absent for all chains
 */
export function notChecked(account: string, reason: string, where?: string): Finding {
  const place = where === undefined ? '' : ` on ${where}`;
  return { about: 'account', state: 'skipped', what: `${account} was not checked${place}: ${oneLine(reason)}` };
}

function on(places: readonly { readonly chain: number }[]): string {
  return `${places.length === 1 ? 'chain' : 'chains'} ${places.map(({ chain }) => chain).join(', ')}`;
}
