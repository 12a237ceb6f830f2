/**
 * Examines whether the miner's account can be paid: an account that exists on a chain with other keys or another
 * predicate cannot, and then the node makes no work there.
 */

import { defaultAccount } from '../app/choose-source.ts';
import { UsageError } from '../app/exit.ts';
import { NodesInTurn } from '../app/nodes-in-turn.ts';
import { difficultyOf } from '../chain/target.ts';
import { networkNumberOf, type Work } from '../chain/work.ts';
import type { Config } from '../config/settings.ts';
import type { CoreGroup } from '../engine/cpu/threads.ts';
import { type AccountDetails, type Keyset, sameKeyset } from '../ledger/command/coin.ts';
import { LedgerFormatError, stringifyExactJson } from '../ledger/json.ts';
import { COIN } from '../ledger/payload.ts';
import { NodeError } from '../node/errors.ts';
import { type ChainReading, readDetails } from '../node/ledger-reader.ts';
import { type EarningsTerms, earningsOf, timeToBlockSeconds } from '../report/earnings.ts';
import {
  approximately,
  describeChance,
  describeCoins,
  describePowerCost,
  formatDuration,
  formatHashrate,
} from '../report/units.ts';
import { oneLine } from '../text/plain-text.ts';
import type { Finding } from './finding.ts';
import type { CpuFacts } from './machine.ts';

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
    if (!(fault instanceof NodeError || fault instanceof LedgerFormatError || fault instanceof UsageError)) throw fault;
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

/* What this machine would earn on the configured nodes or pools, and what its power would cost. */

/** What mines. */
export interface Miners {
  /** Absent where the CPU does not mine. */
  readonly cpu?: CpuFacts | undefined;
  /** The names of the GPUs that mine. */
  readonly gpus: readonly string[];
}

/**
 * The rate is what measuring the CPU's kernels has shown. GPUs are not measured: that takes them from whoever uses them
 * now.
 * @param works what nodes or pools gave, one each
 * @param isPool whether pools gave it, whose jobs name the network only by a number that nobody else confirms
 * @returns nothing without work, whose absence the examination of the nodes or pools reports
 */
export function examineEarnings(
  works: readonly Work[],
  miners: Miners,
  terms: EarningsTerms,
  isPool = false,
): Finding[] {
  const [first] = works;
  if (!first) return [];
  // Nodes of other networks are warned of.
  const network = networkNumberOf(first.header);
  const alike = works.filter(({ header }) => networkNumberOf(header) === network);
  const { what, ...finding } = estimate(alike, miners, terms);
  return [{ ...finding, what: isPool && finding.state === 'ok' ? `${what}; ${OF_POOL}` : what }];
}

const OF_POOL =
  'a pool pays by its own rules: this is what the hashrate finds, before its fee, at the rewards of the network that its jobs name';

function estimate(works: readonly Work[], { cpu, gpus }: Miners, terms: EarningsTerms): Finding {
  const about = 'earnings';
  const skipped = (why: string): Finding => ({ about, state: 'skipped', what: `were not estimated: ${why}` });
  const hashesPerSecond = cpu === undefined ? 0 : rateOf(cpu);
  const bench = 'pickaxe bench measures it, and pickaxe mine then says what it earns';
  if (hashesPerSecond === undefined) return skipped(`the CPU was too busy to be measured; ${bench}`);
  const others = gpus.length > 0 ? `the rate of ${gpus.join(', ')} is not known here; ${bench}` : '';
  if (hashesPerSecond === 0) return skipped(others || 'no device mines');
  const chains = works.map(({ blockTarget, header, height }) => ({
    difficulty: difficultyOf(blockTarget),
    coins: terms.coinsAt?.(networkNumberOf(header), height),
  }));
  const { powerWatts, powerPrice } = terms;
  const earnings = earningsOf({ hashesPerSecond, chains, powerWatts, powerPrice });
  const block = `a block in ${approximately(formatDuration(timeToBlockSeconds(earnings) ?? 0))} on average`;
  const what = [
    `the CPU at ${formatHashrate(hashesPerSecond)}: ${describeCoins(earnings)}; ${block}; ${describeChance(earnings)}`,
    powerWatts === undefined && powerPrice !== undefined
      ? 'what power costs is shown while mining, when sensors tell the watts, or with --power-watts'
      : describePowerCost(earnings),
    others,
  ];
  return { about, state: 'ok', what: what.filter((part) => part !== '').join('; ') };
}

/** @returns H/s of all threads; undefined where a kernel could not be measured */
function rateOf({ threads, kernels }: CpuFacts): number | undefined {
  const groups = threads?.groups ?? [];
  return groups.reduce<number | undefined>((sum, { kind, places }: CoreGroup) => {
    const each = kernels.find((row) => row.chosen && row.cores === kind)?.hashesPerSecond;
    return sum === undefined || each === undefined ? undefined : sum + each * places.length;
  }, 0);
}
