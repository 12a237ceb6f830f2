/** Estimates what this machine earns on the configured nodes or pools, and what its power costs. */

import type { Finding } from '../../base/finding.ts';
import type { CoreGroup } from '../../miner/engine/cpu/threads.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import { networkNumberOf, type Work } from '../../protocol/chain/work.ts';
import { type EarningsTerms, earningsOf, timeToBlockSeconds } from '../../rig/status/earnings.ts';
import {
  approximately,
  describeChance,
  describeCoins,
  describePowerCost,
  formatDuration,
  formatHashrate,
} from '../../rig/status/units.ts';
import type { CpuFacts } from './examine-machine.ts';

interface Miners {
  /** Absent if the CPU does not mine. */
  readonly cpu?: CpuFacts | undefined;
  /** Names of the GPUs that mine. */
  readonly gpus: readonly string[];
}

/**
 * Estimates from the measured speeds of the CPU's kernels. GPUs are not measured, because somebody may be using them.
 * @param works at most one from each node or pool
 * @param isPool whether the works are from pools. The estimate then relies on what the pool reports, as the finding's
 *   text adds: only the network's number in its jobs shows which network's rewards apply
 * @returns one finding; no finding if `works` is empty, because the examination of the nodes or pools reports that
 */
export function examineEarnings(
  works: readonly Work[],
  miners: Miners,
  terms: EarningsTerms,
  isPool = false,
): Finding[] {
  const [first] = works;
  if (!first) return [];
  // Works of other networks do not count here. The examination of the nodes warns of nodes that serve another network.
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

/** @returns hashes per second of all CPU threads; undefined if a chosen kernel could not be measured */
function rateOf({ threads, kernels }: CpuFacts): number | undefined {
  const groups = threads?.groups ?? [];
  return groups.reduce<number | undefined>((sum, { kind, places }: CoreGroup) => {
    const each = kernels.find((row) => row.chosen && row.cores === kind)?.hashesPerSecond;
    return sum === undefined || each === undefined ? undefined : sum + each * places.length;
  }, 0);
}
