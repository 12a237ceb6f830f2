/**
 * Estimates what a rig earns and what its power costs while rate, difficulty and rewards stay as they are.
 * docs/rewards.md lists what such an estimate leaves out.
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
  /** The hashrate in H/s. If it is 0, the earnings are not known. */
  readonly hashesPerSecond: number;
  /**
   * One entry for each mined chain: hashes that a block takes on average, and its reward in coins where known. A node
   * gives work for its chains in turn, so all count equally.
   */
  readonly chains: readonly { readonly difficulty: number; readonly coins?: number | undefined }[];
  readonly powerWatts?: number | undefined;
  /** The price of a kilowatt-hour. */
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

/** @returns the average time to a block; null while it is not known */
export function timeToBlockSeconds({ blocksPerDay }: Earnings): number | null {
  return blocksPerDay === null ? null : DAY_SECONDS / blocksPerDay;
}

/** @returns the probability of at least one event in a Poisson process with this expected number */
function chanceOfOne(expected: number): number {
  return -Math.expm1(-expected);
}

/** @returns NaN without values, or if one is NaN */
function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The inputs of an estimate that do not come from events. */
export interface EarningsTerms {
  /** @returns the reward for a block in coins, before fees; undefined where it is not known */
  readonly coinsAt?: ((networkCode: number, height: bigint) => number | undefined) | undefined;
  /** The power of the whole rig; replaces the readings of sensors. */
  readonly powerWatts?: number | undefined;
  readonly powerPrice?: number | undefined;
}

export class EarningsEstimate {
  readonly works: LastWork;
  readonly #terms: EarningsTerms;
  /** Coins of the last block that this run has won. */
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

  /** @param hashesPerSecond of the devices and of the relays' workers */
  at(hashesPerSecond: number, devices: readonly DeviceStatus[]): Earnings {
    const { coinsAt, powerWatts = powerOf(devices), powerPrice } = this.#terms;
    const chains = this.works.recent().map(({ difficulty, networkCode, height }) => {
      const table = networkCode === undefined ? undefined : coinsAt?.(networkCode, height);
      return { difficulty, coins: table ?? this.#won };
    });
    return earningsOf({ hashesPerSecond, chains, powerWatts, powerPrice });
  }

  /** Records a reward, unless the block is of an earlier run (perhaps on another network) or pays another account. */
  #paid({ reward, paidTo, isEarlier }: MinerEvent & { type: 'block-state' | 'block-reward' }): void {
    if (reward !== undefined && paidTo === undefined && !isEarlier) this.#won = Number(reward);
  }
}

/** @returns watts of the devices that hash; undefined unless each of them has a sensor */
function powerOf(devices: readonly DeviceStatus[]): number | undefined {
  const hashing = devices.filter(({ state }) => state === 'ready');
  const known = hashing.flatMap(({ sensors }) => sensors.powerWatts ?? []);
  const isKnown = hashing.length > 0 && known.length === hashing.length;
  return isKnown ? known.reduce((sum, watts) => sum + watts) : undefined;
}

/* The balance of the account that is mined for, as a node reports it. pickaxe cannot prove it. */

export type Balance = Omit<BalanceAnswer, 'timeMillis'>;
export type ChainBalance = Balance['chains'][number];

/** @throws NoBalance when no node answers */
export type AskBalance = (stop: AbortSignal) => Promise<Balance>;

/** Thrown when no node answers. The message contains the reasons. */
export class NoBalance extends Error {
  override readonly name = 'NoBalance';
}
