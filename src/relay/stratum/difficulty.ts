/**
 * Finds the difficulty at which a session's shares come as often as they should. Pure: shares and the time are
 * arguments.
 *
 * Shares come as a Poisson process, so what is known of a hashrate is a Gamma distribution: `#shares` of them came
 * while `#exposure` seconds per hash of difficulty passed, and their quotient is the rate. Difficulties may
 * change meanwhile. Old shares are forgotten, so that the rate follows a miner that drifts.
 *
 * While little is known, shares are asked for several times a second (learning); at the end of that, the rate is known
 * to 4 %. Without any share, the difficulty falls to a tenth again and again (searching).
 */

import { BoundedMap } from '../../system/bounded.ts';
import { networkOf } from './limits.ts';

/** Number of shares that are remembered: with these, the rate is known to 1/√600 = 4 %, and learning is over. */
const REMEMBERED_SHARES = 600;
/** Shares needed before the estimate is used (standard error 1/3), and before a change of rate is noticed (1/6). */
const SOME_SHARES = 8;
const MANY_SHARES = 32;
/** While learning, the difficulty need not be exact. Each new one makes a miner begin a new job. */
const LEARNING_RATIO = 1.5;
/** Afterwards it changes when it is this wrong, which chance alone hardly ever makes of 4 %. */
const SETTLED_RATIO = 1.2;
/** Silence while learning after which the difficulty falls to a tenth. */
const SILENCE_MS = 2_000;
/** After the first share, a silence must also be as long as this number of shares takes. */
const SILENT_SHARES = 10;
/**
 * The lowest difficulties that silence leads to, while nothing is known of a miner: quickly to one that 1 GH/s meets
 * eight times a second, then slowly to one that 1 MH/s meets once a second. An ASIC that begins late must not drown the
 * server in shares.
 */
const QUICK_FLOOR = 2 ** 27;
const SLOW_FLOOR = 2 ** 20;
const SLOW_SILENCE_MS = 60_000;
/** Maximum share rate of a miner that comes back after a silence, as fast as it ever was. */
const MOST_SHARES_PER_SECOND = 500;
/** Least time between two shares: by the clock they may come at the same instant, but a rate must not be infinite. */
const LEAST_APART_MS = 0.05;
/** A difficulty that the worker has chosen is kept until shares come this often. */
const MOST_CHOSEN_PER_SECOND = 10;
/**
 * Where an address sends too many lines, the rate of shares at a chosen difficulty is halved, not below this rate, and
 * at most once in this time.
 */
const LEAST_CHOSEN_PER_SECOND = 0.1;
const SLOWER_MS = 10_000;

export interface VardiffOptions {
  /** The seconds between two shares, once the rate is known. */
  readonly aimSeconds: number;
  /** The seconds between two shares while learning. All sessions share a budget, so this can change. */
  readonly learningSeconds: () => number;
  /** The difficulty to begin with, in hashes per share. */
  readonly difficulty: number;
  /** The worker has chosen the difficulty, so it stays unless shares become a flood. */
  readonly isChosen?: boolean;
  /** What is known from an earlier session of the same worker. It sets the difficulty to begin with. */
  readonly known?: Known | undefined;
}

/** What is known of a miner's rate: `shares` ÷ `exposure` hashes per second. */
export interface Known {
  readonly shares: number;
  /** Seconds ÷ (hashes per share), summed up. */
  readonly exposure: number;
}

export class Vardiff {
  readonly #options: VardiffOptions;
  readonly #detector = new RateChangeDetector();
  /** The difficulty that the session should have, in hashes per share. */
  #difficulty: number;
  /** The difficulty when it was last asked for. */
  #sent: number;
  /** The difficulty of the miner's job, which is lower where a block is easier than the session's shares. */
  #offered: number | undefined;
  #shares = 0;
  #exposure = 0;
  /** Whether no share has come yet, or none since the difficulty was lowered for that reason. */
  #isSearching = true;
  /** The rate that was last known well. A miner that falls silent may come back as fast. */
  #knownRate: number | undefined;
  /** Whether that rate is an earlier session's, so that it may be another machine's: anyone can use a name. */
  #isHearsay = false;
  #nowMs = 0;
  #lastShareMs = 0;
  /** How often shares may come at a chosen difficulty. */
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
    this.#isHearsay = true;
    this.#isSearching = false;
    if (!options.isChosen) this.#difficulty = this.#wanted();
    this.#sent = this.#difficulty;
  }

  /** The difficulty that the session should have, in hashes per share. */
  get difficulty(): number {
    return this.#difficulty;
  }

  /** The rate as it is estimated from the shares; 0 while there is nothing to estimate it from. */
  get hashesPerSecond(): number {
    return this.#shares === 0 ? 0 : this.#shares / this.#exposure;
  }

  /** Whether the rate is known at least to a sixth. */
  get isKnown(): boolean {
    return this.#shares >= MANY_SHARES;
  }

  /** Whether shares are asked for more often than they will be. */
  get isLearning(): boolean {
    return !this.#options.isChosen && this.#shares < REMEMBERED_SHARES;
  }

  /** For a later session of the same worker. */
  get known(): Known {
    return { shares: this.#shares, exposure: this.#exposure };
  }

  /** The miner has a job of this difficulty from now on. @param nowMs on a clock that never jumps */
  offer(difficulty: number, nowMs: number): void {
    if (this.#offered === undefined) {
      this.#nowMs = nowMs;
      this.#lastShareMs = nowMs;
    }
    this.#pass(nowMs);
    this.#offered = difficulty;
  }

  /** Notes a share that meets the target of its job, which has this difficulty. */
  share(difficulty: number, nowMs: number): void {
    if (this.#offered === undefined) return;
    this.#lastShareMs = nowMs;
    this.#isHearsay = false;
    if (this.#isSearching) {
      // The time before the first share says nothing about the rate: the miner may not have begun. Measuring starts
      // here.
      this.#isSearching = false;
      this.#shares = 0;
      this.#exposure = 0;
      this.#detector.reset();
      this.#nowMs = nowMs;
      return;
    }
    this.#pass(Math.max(nowMs, this.#nowMs + LEAST_APART_MS));
    // Shares of an easier job that are still on their way when a harder one is given out stand for less.
    const weight = Math.min(1, difficulty / this.#offered);
    this.#shares += weight;
    if (this.#shares > REMEMBERED_SHARES) {
      this.#exposure *= REMEMBERED_SHARES / this.#shares;
      this.#shares = REMEMBERED_SHARES;
    }
    this.#watch(weight, 0);
  }

  /**
   * Call this after shares and every second.
   * @returns whether the difficulty has changed since the last time
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

  /** The worker suggests a difficulty to begin with. What is known better stays. */
  suggest(difficulty: number): void {
    if (!this.isKnown && !this.#options.isChosen) this.#difficulty = difficulty;
  }

  /** Shares at a chosen difficulty come too often for the client's address, so they may come less often from now on. */
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
    // The estimate is made of what came since then; all that was known before counts as one more share.
    const rate = (this.hashesPerSecond * (since.shares + 1)) / (since.expected + 1);
    this.#shares = since.shares + 1;
    this.#exposure = this.#shares / rate;
    this.#detector.reset();
    if (!this.#options.isChosen) this.#difficulty = this.#wanted();
  }

  #isSilent(leastMs: number): boolean {
    if (!this.isLearning || this.#shares >= MANY_SHARES) return false;

    const sharesMs = this.#isSearching ? 0 : 1000 * SILENT_SHARES * this.#options.learningSeconds();
    const patienceMs = Math.max(leastMs, sharesMs);
    return this.#nowMs - this.#lastShareMs >= patienceMs;
  }

  #search(nowMs: number): void {
    if (this.#isHearsay && this.#isSilent(SLOW_SILENCE_MS)) this.#knownRate = undefined;
    const floor = this.#knownRate === undefined ? SLOW_FLOOR : this.#knownRate / MOST_SHARES_PER_SECOND;
    const isSlow = this.#knownRate === undefined && this.#difficulty <= QUICK_FLOOR;
    if (this.#difficulty <= floor || !this.#isSilent(isSlow ? SLOW_SILENCE_MS : SILENCE_MS)) return;
    this.#isSearching = true;
    this.#lastShareMs = nowMs;
    const isQuick = this.#knownRate === undefined && !isSlow;
    this.#difficulty = Math.max(1, floor, isQuick ? QUICK_FLOOR : 0, this.#difficulty / 10);
  }

  #adjust(): void {
    // A few shares that came in a burst may make a rate seem a thousand times as high.
    if (this.isKnown) this.#knownRate = this.hashesPerSecond;
    const wanted = this.#wanted();
    const ratio = this.isLearning ? LEARNING_RATIO : SETTLED_RATIO;
    if (wanted > ratio * this.#difficulty || ratio * wanted < this.#difficulty) this.#difficulty = wanted;
  }

  #holdChosen(): void {
    const { difficulty } = this.#options;
    const least = this.#shares < SOME_SHARES ? 0 : this.hashesPerSecond / this.#mostChosenPerSecond;
    if (least > LEARNING_RATIO * this.#difficulty) this.#difficulty = least;
    else if (LEARNING_RATIO * least < this.#difficulty && this.#difficulty > difficulty) {
      this.#difficulty = Math.max(difficulty, least);
    }
  }

  #wanted(): number {
    const { aimSeconds, learningSeconds } = this.#options;
    const seconds = this.isLearning ? Math.min(aimSeconds, learningSeconds()) : aimSeconds;
    return Math.max(1, this.hashesPerSecond * seconds);
  }
}

/*
 * Detects that shares come at another rate than before: Page's cumulative sums (CUSUM), one for a rate twice as high
 * and one for a rate half as high. Each is the logarithm of how much better the other rate explains the shares since
 * that sum was last zero. Pure.
 */

/** The rates that are compared with the known one: this many times as high, and as low. */
const RATIO = 2;
/**
 * Sums above this say that the rate has changed. Of a steady miner they say so once in e^8 = 3,000 shares at most,
 * which is 8 hours at 10 s a share; a rate that falls to a tenth is noticed after 19 shares that should have come, one
 * that rises to the tenfold after 14.
 */
const SURPRISING = 8;

/** What has come since a sum was last zero. */
interface Since {
  readonly shares: number;
  /** How many shares should have come. */
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
   * @param shares how many have come
   * @param expected how many should have come
   * @returns what has come since the rate has changed; undefined while it has not
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
 * Remembers how fast workers were, so that their next sessions begin with the right difficulty. Anyone can use a name,
 * so a rate counts only for clients of the address from which it came. Pure.
 */
export class RememberedRates {
  /** By the client's network and the worker's name, the oldest first. */
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

/** A network has no blanks, so no two pairs have the same key. */
function keyOf(address: string, worker: string): string {
  return `${networkOf(address)} ${worker}`;
}
