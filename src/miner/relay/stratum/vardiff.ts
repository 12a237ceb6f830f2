/**
 * Finds the difficulty at which a session's shares come at the planned rate. Pure: shares and times are arguments.
 *
 * Shares come as a Poisson process, so what is known of a hashrate is a Gamma distribution with two parameters: the
 * number of shares (`#shares`) and the exposure (`#exposure`). The exposure is a sum: for each difficulty, the seconds
 * at this difficulty, divided by the difficulty. The estimated hashrate is `#shares` ÷ `#exposure`. Both numbers are
 * scaled down when there are many shares, so that the estimate follows a hashrate that drifts.
 *
 * Until the standard error of the hashrate is 4 %, the difficulty is so low that several shares come each second
 * (learning). While no share comes at all, the difficulty falls to a tenth repeatedly (searching).
 */

import { BoundedMap } from '../../../base/system/bounded.ts';
import { networkOf } from './client-network.ts';

/** Maximum of `#shares`. With 600 shares, the standard error of the rate is 1/√600 = 4 %, and learning ends. */
const REMEMBERED_SHARES = 600;
/** From this number of shares on, the difficulty is set by the estimated rate, whose standard error is about 1/3. */
const SOME_SHARES = 8;
/**
 * From this number of shares on, the rate counts as known, and changes of the rate are detected. Its standard error is
 * about 1/6.
 */
const MANY_SHARES = 32;
/**
 * Minimum ratio by which the difficulty changes while learning. Smaller changes are not made, because each change makes
 * the miner begin a new job.
 */
const LEARNING_RATIO = 1.5;
/** Minimum ratio by which the difficulty changes after learning. It is far more than the standard error of 4 %. */
const SETTLED_RATIO = 1.2;
/** Until `MANY_SHARES` shares have come, the difficulty falls to a tenth after this time without a share. */
const SILENCE_MS = 2_000;
/**
 * Once a share has come, the difficulty falls only after a time in which this number of shares was planned, if that
 * time is longer than `SILENCE_MS`.
 */
const SILENT_SHARES = 10;
/**
 * While a miner of unknown rate sends no share, the difficulty falls quickly to `QUICK_FLOOR`, at which 1 GH/s makes
 * 7.5 shares a second. Then it falls slowly (every minute) to `SLOW_FLOOR`, at which 1 MH/s makes about one share a
 * second. It falls slowly so that an ASIC which begins late does not flood the server with shares.
 */
const QUICK_FLOOR = 2 ** 27;
const SLOW_FLOOR = 2 ** 20;
const SLOW_SILENCE_MS = 60_000;
/** Maximum share rate of a miner that sends shares again after a pause, if its hashrate is the same as before. */
const MOST_SHARES_PER_SECOND = 500;
/**
 * Minimum time that is counted between two shares. They can have the same time on the clock, but the exposure must
 * grow.
 */
const LEAST_APART_MS = 0.05;
/**
 * A difficulty that the worker has chosen is raised so far that about this number of shares come per second. It is
 * raised only if more than `LEARNING_RATIO` times this number come.
 */
const MOST_CHOSEN_PER_SECOND = 10;
/**
 * `slowDown` halves `MOST_CHOSEN_PER_SECOND` for a session, at most once in `SLOWER_MS`. The maximum never falls below
 * `LEAST_CHOSEN_PER_SECOND`.
 */
const LEAST_CHOSEN_PER_SECOND = 0.1;
const SLOWER_MS = 10_000;

export interface VardiffOptions {
  /** Planned seconds between two shares after learning. */
  readonly aimSeconds: number;
  /**
   * Returns the planned seconds between two shares while learning. The result varies, because the total rate of all
   * learning sessions is limited.
   */
  readonly learningSeconds: () => number;
  /** The first difficulty, in hashes per share. */
  readonly difficulty: number;
  /** Whether the worker has chosen the difficulty. A chosen difficulty is raised only if too many shares come. */
  readonly isChosen?: boolean;
  /**
   * What is known of the rate from an earlier session of the same worker. This rate sets the first difficulty, unless
   * the worker has chosen a difficulty.
   */
  readonly known?: Known | undefined;
}

/** What is known of a miner's rate. The estimate is `shares` ÷ `exposure` hashes per second. */
export interface Known {
  readonly shares: number;
  /** Sum of seconds ÷ (hashes per share), over all difficulties. */
  readonly exposure: number;
}

export class Vardiff {
  readonly #options: VardiffOptions;
  readonly #detector = new RateChangeDetector();
  #difficulty: number;
  /** The difficulty at the last call of `retarget`. */
  #sent: number;
  /**
   * The difficulty of the miner's newest job; undefined before the first job. It is lower than `#difficulty` if a
   * solution of the work is easier than a share.
   */
  #offered: number | undefined;
  #shares = 0;
  #exposure = 0;
  /**
   * Whether the difficulty is lowered until a share comes. This begins at the start, unless the rate is known from an
   * earlier session, and again with each lowering for lack of shares. It ends with the next share.
   */
  #isSearching = true;
  /**
   * The last rate that counted as known, in hashes per second. After a time without shares, the miner may be as fast
   * again.
   */
  #knownRate: number | undefined;
  /**
   * Whether `#knownRate` comes from an earlier session, and no share has come since. It may be another machine's rate,
   * because anyone can use a worker's name.
   */
  #isUnproven = false;
  #nowMs = 0;
  #lastShareMs = 0;
  #mostChosenPerSecond = MOST_CHOSEN_PER_SECOND;
  #slowerMs = Number.NEGATIVE_INFINITY;

  constructor(options: VardiffOptions) {
    this.#options = options;
    this.#difficulty = options.difficulty;
    this.#sent = this.#difficulty;
    const { known } = options;
    if (!known || known.shares < SOME_SHARES) return;
    this.#shares = known.shares;
    this.#exposure = known.exposure;
    this.#knownRate = this.hashesPerSecond;
    this.#isUnproven = true;
    this.#isSearching = false;
    if (!options.isChosen) this.#difficulty = this.#wanted();
    this.#sent = this.#difficulty;
  }

  /** The difficulty that the session's next job should have, in hashes per share. */
  get difficulty(): number {
    return this.#difficulty;
  }

  /** The hashrate estimated from the shares, in hashes per second; 0 if there is no estimate. */
  get hashesPerSecond(): number {
    return this.#shares === 0 ? 0 : this.#shares / this.#exposure;
  }

  /** Whether the standard error of the rate is at most about a sixth. */
  get isKnown(): boolean {
    return this.#shares >= MANY_SHARES;
  }

  /** Whether the session is learning: its difficulty is lower than later, so that more shares come. */
  get isLearning(): boolean {
    return !this.#options.isChosen && this.#shares < REMEMBERED_SHARES;
  }

  /** What is known of the rate, for a later session of the same worker. */
  get known(): Known {
    return { shares: this.#shares, exposure: this.#exposure };
  }

  /** Must be called when the miner gets a job of a new difficulty. @param nowMs monotonic */
  offer(difficulty: number, nowMs: number): void {
    if (this.#offered === undefined) this.#lastShareMs = nowMs;
    this.#pass(nowMs);
    this.#offered = difficulty;
  }

  /** Counts a share that meets its job's target. @param difficulty of this target, in hashes per share */
  share(difficulty: number, nowMs: number): void {
    if (this.#offered === undefined) return;
    this.#lastShareMs = nowMs;
    this.#isUnproven = false;
    if (this.#isSearching) {
      // The miner may have begun only now, so the time before its first share does not count, and neither does this
      // share.
      this.#isSearching = false;
      this.#shares = 0;
      this.#exposure = 0;
      this.#nowMs = nowMs;
      return;
    }
    this.#pass(Math.max(nowMs, this.#nowMs + LEAST_APART_MS));
    // Late shares of an earlier job that is easier than the newest job count for less.
    const weight = Math.min(1, difficulty / this.#offered);
    this.#shares += weight;
    if (this.#shares > REMEMBERED_SHARES) {
      this.#exposure *= REMEMBERED_SHARES / this.#shares;
      this.#shares = REMEMBERED_SHARES;
    }
    this.#watch(weight, 0);
  }

  /**
   * Sets the difficulty. Must be called after each share and every second.
   * @returns whether the difficulty has changed since the last call
   */
  retarget(nowMs: number): boolean {
    if (this.#offered === undefined) return false;
    this.#pass(nowMs);
    if (this.#options.isChosen) this.#holdChosen();
    else if (this.#isSearching || this.#isSilent(SILENCE_MS)) this.#search(nowMs);
    else if (this.#shares >= SOME_SHARES) this.#adjust();
    const hasChanged = this.#difficulty !== this.#sent;
    this.#sent = this.#difficulty;
    return hasChanged;
  }

  /** Sets the difficulty that the client suggests, unless the rate is known or the worker has chosen a difficulty. */
  suggest(difficulty: number): void {
    if (!this.isKnown && !this.#options.isChosen) this.#difficulty = difficulty;
  }

  /**
   * Lowers the maximum share rate at a chosen difficulty. Called when the client must wait because too many lines come
   * from it or from its address.
   */
  slowDown(nowMs: number): void {
    if (nowMs - this.#slowerMs < SLOWER_MS) return;
    this.#slowerMs = nowMs;
    this.#mostChosenPerSecond = Math.max(LEAST_CHOSEN_PER_SECOND, this.#mostChosenPerSecond / 2);
  }

  #pass(nowMs: number): void {
    const seconds = (nowMs - this.#nowMs) / 1000;
    this.#nowMs = nowMs;
    if (this.#offered === undefined || seconds <= 0) return;
    const exposure = seconds / this.#offered;
    const expected = this.hashesPerSecond * exposure;
    this.#exposure += exposure;
    this.#watch(0, expected);
  }

  #watch(shares: number, expected: number): void {
    if (this.#shares < MANY_SHARES) return;
    const since = this.#detector.note(shares, expected);
    if (!since) return;
    // The new estimate is made from the shares since the change. The estimate before the change counts only as much as
    // one share.
    const rate = (this.hashesPerSecond * (since.shares + 1)) / (since.expected + 1);
    this.#shares = since.shares + 1;
    this.#exposure = this.#shares / rate;
    this.#detector.reset();
    if (!this.#options.isChosen) this.#difficulty = this.#wanted();
  }

  #isSilent(leastMs: number): boolean {
    if (this.#shares >= MANY_SHARES) return false;
    const sharesMs = this.#isSearching ? 0 : 1000 * SILENT_SHARES * this.#options.learningSeconds();
    const patienceMs = Math.max(leastMs, sharesMs);
    return this.#nowMs - this.#lastShareMs >= patienceMs;
  }

  #search(nowMs: number): void {
    if (this.#isUnproven && this.#isSilent(SLOW_SILENCE_MS)) this.#knownRate = undefined;
    const floor = this.#knownRate === undefined ? SLOW_FLOOR : this.#knownRate / MOST_SHARES_PER_SECOND;
    const isSlow = this.#knownRate === undefined && this.#difficulty <= QUICK_FLOOR;
    if (this.#difficulty <= floor || !this.#isSilent(isSlow ? SLOW_SILENCE_MS : SILENCE_MS)) return;
    this.#isSearching = true;
    this.#lastShareMs = nowMs;
    const isQuick = this.#knownRate === undefined && !isSlow;
    this.#difficulty = Math.max(floor, isQuick ? QUICK_FLOOR : 1, this.#difficulty / 10);
  }

  #adjust(): void {
    // A rate from few shares is not kept: when they come in a burst, it can be a thousand times too high.
    if (this.isKnown) this.#knownRate = this.hashesPerSecond;
    const wanted = this.#wanted();
    const ratio = this.isLearning ? LEARNING_RATIO : SETTLED_RATIO;
    if (wanted > ratio * this.#difficulty || ratio * wanted < this.#difficulty) this.#difficulty = wanted;
  }

  #holdChosen(): void {
    const { difficulty } = this.#options;
    const least = this.#shares < SOME_SHARES ? 0 : this.hashesPerSecond / this.#mostChosenPerSecond;
    if (least > LEARNING_RATIO * this.#difficulty) this.#difficulty = least;
    else if (LEARNING_RATIO * least < this.#difficulty) this.#difficulty = Math.max(difficulty, least);
  }

  #wanted(): number {
    const { aimSeconds, learningSeconds } = this.#options;
    const seconds = this.isLearning ? Math.min(aimSeconds, learningSeconds()) : aimSeconds;
    return Math.max(1, this.hashesPerSecond * seconds);
  }
}

/*
 * Detects a change of the share rate with two of Page's cumulative sums (CUSUM). The first sum compares the known rate
 * with twice this rate, the second sum compares it with half of this rate. Each sum is the logarithm of a likelihood
 * ratio: how much better the doubled or halved rate explains the shares since the sum was last 0. Pure.
 */

/** The known rate is compared with the rate times this number, and with the rate divided by it. */
const RATIO = 2;
/**
 * A sum above this number counts as a change of the rate. Without a change, chance makes a sum so large at most once in
 * about e^8 = 3,000 shares, which is 8 hours at 10 s a share. A fall of the rate to a tenth is detected after about 19
 * expected shares, and a tenfold rise after about 14 shares.
 */
const SURPRISING = 8;

/** The shares since a sum was last 0: probably, the rate changed at this time. */
interface Since {
  readonly shares: number;
  /** Number of shares that were to be expected at the known rate. */
  readonly expected: number;
}

interface Sum {
  readonly perShare: number;
  readonly perExpected: number;
  value: number;
  shares: number;
  expected: number;
}

const sum = (ratio: number): Sum => {
  return { perShare: Math.log(ratio), perExpected: 1 - ratio, value: 0, shares: 0, expected: 0 };
};

export class RateChangeDetector {
  #sums: readonly Sum[] = [sum(RATIO), sum(1 / RATIO)];

  /**
   * @param shares number of shares since the last call
   * @param expected number of shares that were to be expected since the last call
   * @returns the shares since the rate changed; undefined if it has not
   */
  note(shares: number, expected: number): Since | undefined {
    for (const sum of this.#sums) {
      sum.value += shares * sum.perShare + expected * sum.perExpected;
      sum.shares += shares;
      sum.expected += expected;
      if (sum.value <= 0) Object.assign(sum, { value: 0, shares: 0, expected: 0 });
    }
    return this.#sums.find(({ value }) => value > SURPRISING);
  }

  reset(): void {
    this.#sums = [sum(RATIO), sum(1 / RATIO)];
  }
}

/**
 * Remembers workers' rates, so that later sessions begin with the right difficulty. Anyone can use a worker's name, so
 * a rate is used only for clients of the network in which it was measured. Pure.
 */
export class RememberedRates {
  /** The rates by the client's network and the worker's name, oldest first. */
  readonly #rates: BoundedMap<string, Known>;

  constructor(most: number) {
    this.#rates = new BoundedMap(most);
  }

  get(address: string, worker: string): Known | undefined {
    return this.#rates.get(keyOf(address, worker));
  }

  put(address: string, worker: string, known: Known): void {
    this.#rates.set(keyOf(address, worker), known);
  }
}

/** The network never contains a blank, so different workers have different keys. */
function keyOf(address: string, worker: string): string {
  return `${networkOf(address)} ${worker}`;
}
