/**
 * Estimates what a rig earns and what its power costs, on the assumption that its hashrate, the difficulties and the
 * rewards do not change. docs/rewards.md lists what the estimate leaves out.
 */

import type { Clock } from '../../base/system/clock.ts';
import type { MinerEvent } from '../../miner/events/events.ts';
import type { BalanceAnswer } from '../http/api-answers.ts';
import { LastWork } from './source-stats.ts';
import type { DeviceStatus, Earnings } from './status.ts';

const DAY_SECONDS = 86_400;
const MONTH_DAYS = 30;
const DAY_HOURS = 24;
const WATTS_IN_KILOWATT = 1_000;

interface EarningsBasis {
  /** Hashrate in H/s. If it is 0, all estimates of blocks and coins are null. */
  readonly hashesPerSecond: number;
  /**
   * One entry for each mined chain. `difficulty` is the number of hashes that a block takes on average. `coins` is the
   * reward of a block in coins; undefined if it is not known. A node gives work for each of its chains in turn, so all
   * chains have the same weight.
   */
  readonly chains: readonly { readonly difficulty: number; readonly coins?: number | undefined }[];
  readonly powerWatts?: number | undefined;
  /** Price of a kilowatt-hour, in any currency. */
  readonly powerPrice?: number | undefined;
}

export function earningsOf({ hashesPerSecond, chains, powerWatts, powerPrice }: EarningsBasis): Earnings {
  const blocksPerHash = meanOf(chains.map(({ difficulty }) => 1 / difficulty));
  const coinsPerHash = meanOf(chains.map(({ difficulty, coins }) => (coins ?? Number.NaN) / difficulty));
  const blocksPerDay = hashesPerSecond * DAY_SECONDS * blocksPerHash;
  const earns = blocksPerDay > 0;
  const earnsCoins = earns && !Number.isNaN(coinsPerHash);
  return {
    blocksPerDay: earns ? blocksPerDay : null,
    chanceInDayRatio: earns ? chanceOfOne(blocksPerDay) : null,
    chanceInMonthRatio: earns ? chanceOfOne(blocksPerDay * MONTH_DAYS) : null,
    coinsPerBlock: earnsCoins ? coinsPerHash / blocksPerHash : null,
    coinsPerDay: earnsCoins ? hashesPerSecond * DAY_SECONDS * coinsPerHash : null,
    powerWatts: powerWatts ?? null,
    powerPrice: powerPrice ?? null,
    powerCostPerDay:
      powerWatts === undefined || powerPrice === undefined
        ? null
        : (powerWatts / WATTS_IN_KILOWATT) * DAY_HOURS * powerPrice,
  };
}

/** @returns the average time to a block in seconds; null while it is not known */
export function timeToBlockSeconds({ blocksPerDay }: Earnings): number | null {
  return blocksPerDay === null ? null : DAY_SECONDS / blocksPerDay;
}

/** @returns the probability of at least one event, if the number of events has a Poisson distribution with this mean */
function chanceOfOne(expected: number): number {
  return -Math.expm1(-expected);
}

/** @returns the mean; NaN if there are no values or one of them is NaN */
function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The inputs of an estimate that do not come from events. */
export interface EarningsTerms {
  /** @returns the reward of a block in coins, without fees; undefined if it is not known */
  readonly coinsAt?: ((networkCode: number, height: bigint) => number | undefined) | undefined;
  /** Power of the whole rig in watts. If it is given, readings of sensors are not used. */
  readonly powerWatts?: number | undefined;
  readonly powerPrice?: number | undefined;
}

export class EarningsEstimate {
  readonly works: LastWork;
  readonly #terms: EarningsTerms;
  /** Reward in coins of the last block that this run has won for the rig's account. */
  #won: number | undefined;

  constructor(clock: Clock, terms: EarningsTerms) {
    this.works = new LastWork(clock);
    this.#terms = terms;
  }

  readonly listen = (event: MinerEvent): void => {
    if (event.type === 'work') this.works.add(event);
    if (event.type === 'block-state' && (event.state === 'won' || event.state === 'settled')) this.#paid(event);
    if (event.type === 'block-reward') this.#paid(event);
  };

  /**
   * @param hashesPerSecond hashrate in H/s at which blocks are searched
   * @param devices the devices whose sensors measure the power, unless the settings give the power
   */
  at(hashesPerSecond: number, devices: readonly DeviceStatus[]): Earnings {
    const { coinsAt, powerWatts = powerOf(devices), powerPrice } = this.#terms;
    const chains = this.works.recent().map(({ difficulty, networkCode, height }) => {
      const table = networkCode === undefined ? undefined : coinsAt?.(networkCode, height);
      return { difficulty, coins: table ?? this.#won };
    });
    return earningsOf({ hashesPerSecond, chains, powerWatts, powerPrice });
  }

  /**
   * Records the reward, if it is known. Blocks of earlier runs are ignored, because they may be of another network.
   * Blocks that pay another account are ignored, too.
   */
  #paid({ reward, paidTo, isEarlier }: MinerEvent & { type: 'block-state' | 'block-reward' }): void {
    if (reward !== undefined && paidTo === undefined && !isEarlier) this.#won = Number(reward);
  }
}

/**
 * @returns the total power of the ready devices in watts; undefined if no device is ready, or if a ready device has no
 *   reading
 */
function powerOf(devices: readonly DeviceStatus[]): number | undefined {
  const hashing = devices.filter(({ state }) => state === 'ready');
  const known = hashing.flatMap(({ sensors }) => sensors.powerWatts ?? []);
  const isKnown = hashing.length > 0 && known.length === hashing.length;
  return isKnown ? known.reduce((sum, watts) => sum + watts) : undefined;
}

/* The balance of the miner's account, as a node reports it. pickaxe cannot verify this report. */

export type Balance = Omit<BalanceAnswer, 'timeMillis'>;
export type ChainBalance = Balance['chains'][number];

/** Asks nodes for the balance. @throws NoBalance when no node gives one */
export type AskBalance = (stop: AbortSignal) => Promise<Balance>;

/** Thrown when no node gives a balance. The message contains the error of each node. */
export class NoBalance extends Error {
  override readonly name = 'NoBalance';
}
