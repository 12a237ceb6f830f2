/**
 * What a rig earns on average, and what its power costs, while rate, difficulty and rewards stay as they are.
 * docs/rewards.md says what such an estimate leaves out.
 */

import type { MinerEvent } from '../events/events.ts';
import type { Clock } from '../system/clock.ts';
import type { BalanceAnswer } from './answers.ts';
import { LastWork } from './source-stats.ts';
import type { DeviceStatus, Earnings } from './status.ts';

const DAY_SECONDS = 86_400;
const MONTH_DAYS = 30;
const DAY_HOURS = 24;
const WATTS_IN_KILOWATT = 1_000;

interface EarningsBasis {
  /** H/s; without a rate nothing is earned that could be estimated. */
  readonly hashesPerSecond: number;
  /**
   * For each chain that is mined, the hashes that a block takes on average, and the coins that it brings where that is
   * known. A node gives work for its chains in turn, so each counts as much as the others.
   */
  readonly chains: readonly { readonly difficulty: number; readonly coins?: number | undefined }[];
  readonly powerWatts?: number | undefined;
  /** What a kilowatt-hour costs. */
  readonly powerPrice?: number | undefined;
}

/** @returns the estimate, with every figure for which the basis suffices */
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

/** @returns how long a block takes on average; null while it is not known */
export function timeToBlockSeconds({ blocksPerDay }: Earnings): number | null {
  return blocksPerDay === null ? null : DAY_SECONDS / blocksPerDay;
}

/**
 * @param expected how many there are on average.
 * @returns how likely at least one is; blocks come as a Poisson process does
 */
function chanceOfOne(expected: number): number {
  return -Math.expm1(-expected);
}

/** @returns NaN when there are no values, or one is NaN */
function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** What an estimate needs beside events. */
export interface EarningsTerms {
  /**
   * What the network pays for a block of this height, before fees. The network is named by the number in its headers.
   * @returns coins; undefined where it is not known
   */
  readonly coinsAt?: ((networkCode: number, height: bigint) => number | undefined) | undefined;
  /** What the whole rig draws, in place of the sensors' readings. */
  readonly powerWatts?: number | undefined;
  /** What a kilowatt-hour costs. */
  readonly powerPrice?: number | undefined;
}

/** Keeps from events what an estimate needs. */
export class EarningsEstimate {
  readonly works: LastWork;
  readonly #terms: EarningsTerms;
  /** The coins of the block of this run that was won last. */
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

  /** @param hashesPerSecond the rate of the devices and of the relays' workers */
  at(hashesPerSecond: number, devices: readonly DeviceStatus[]): Earnings {
    const { coinsAt, powerWatts = powerOf(devices), powerPrice } = this.#terms;
    const chains = this.works.recent().map(({ difficulty, networkCode, height }) => {
      const table = networkCode === undefined ? undefined : coinsAt?.(networkCode, height);
      return { difficulty, coins: table ?? this.#won };
    });
    return earningsOf({ hashesPerSecond, chains, powerWatts, powerPrice });
  }

  /** A block of an earlier run may be of another network. One that pays somebody else brings nothing. */
  #paid({ reward, paidTo, isEarlier }: MinerEvent & { type: 'block-state' | 'block-reward' }): void {
    if (reward !== undefined && paidTo === undefined && !isEarlier) this.#won = Number(reward);
  }
}

/** @returns the power of the devices that hash; undefined unless each has a sensor for it */
function powerOf(devices: readonly DeviceStatus[]): number | undefined {
  const hashing = devices.filter(({ state }) => state === 'ready');
  const known = hashing.flatMap(({ sensors }) => sensors.powerWatts ?? []);
  const isKnown = hashing.length > 0 && known.length === hashing.length;
  return isKnown ? known.reduce((sum, watts) => sum + watts) : undefined;
}

/* What the account that is mined for has, as a node says. pickaxe cannot prove it. */

export type Balance = Omit<BalanceAnswer, 'timeMillis'>;
export type ChainBalance = Balance['chains'][number];

/**
 * Asks now.
 * @param stop ends the question, with its reason
 * @throws NoBalance when no node has an answer
 */
export type AskBalance = (stop: AbortSignal) => Promise<Balance>;

/** No node has an answer; the message says why. */
export class NoBalance extends Error {
  override readonly name = 'NoBalance';
}
