/**
 * Finds the difficulty at which a session's shares come as often as they should. Pure: shares and times are arguments.
 *
 * Shares come as a Poisson process, so knowledge of a hashrate is a Gamma distribution. Its parameters are the number
 * of shares (`#shares`) and the exposure (`#exposure`): the sum of seconds ÷ difficulty, over all difficulties. Their
 * quotient is the rate. Old shares lose their weight, so that the rate follows a miner that drifts.
 *
 * Until the rate is known to 4 %, the difficulty is such that several shares come each second (learning). While no
 * share comes at all, the difficulty falls to a tenth again and again (searching).
 */

import { BoundedMap } from '../../../base/system/bounded.ts';
import { networkOf } from './client-network.ts';

/** Maximum of `#shares`. With these, the rate is known to 1/√600 = 4 %, and learning ends. */
const REMEMBERED_SHARES = 600;
/** With this number of shares the estimated rate is used: its standard error is 1/3. */
const SOME_SHARES = 8;
/** With this number of shares the rate counts as known, and changes are noticed: its standard error is 1/6. */
const MANY_SHARES = 32;
/** Minimum change of the difficulty while learning: each change makes a miner begin a new job. */
const LEARNING_RATIO = 1.5;
/** Minimum change of the difficulty afterwards: far more than the 4 % that chance alone explains. */
const SETTLED_RATIO = 1.2;
/** Time without a share while learning, after which the difficulty falls to a tenth. */
const SILENCE_MS = 2_000;
/** The same after the first share, in expected shares, if that takes longer. */
const SILENT_SHARES = 10;
/**
 * While nothing is known about a miner that brings no share, the difficulty falls quickly to one that 1 GH/s meets
 * eight times a second, then slowly to one that 1 MH/s meets once a second. An ASIC that begins late must not flood the
 * server with shares.
 */
const QUICK_FLOOR = 2 ** 27;
const SLOW_FLOOR = 2 ** 20;
const SLOW_SILENCE_MS = 60_000;
/** Maximum share rate of a miner that brings shares again after a pause, if its hashrate is as before. */
const MOST_SHARES_PER_SECOND = 500;
/** Time that passes at least between two shares: both may have the same time on the clock, but a rate is finite. */
const LEAST_APART_MS = 0.05;
/** A difficulty chosen by the worker is kept unless more shares come. */
const MOST_CHOSEN_PER_SECOND = 10;
/** Too many lines from an address halve that maximum down to this rate, at most once in SLOWER_MS. */
const LEAST_CHOSEN_PER_SECOND = 0.1;
const SLOWER_MS = 10_000;

export interface VardiffOptions {
  /** Seconds between two shares once the rate is known. */
  readonly aimSeconds: number;
  /** Seconds between two shares while learning. They vary, because all learning sessions share a budget. */
  readonly learningSeconds: () => number;
  /** The first difficulty, in hashes per share. */
  readonly difficulty: number;
  /** Whether the worker has chosen the difficulty, so that it stays unless shares become a flood. */
  readonly isChosen?: boolean;
  /** Known from an earlier session of the same worker. It sets the first difficulty. */
  readonly known?: Known | undefined;
}

/** The knowledge of a miner's rate: `shares` ÷ `exposure` hashes per second. */
export interface Known {
  readonly shares: number;
  /** Sum of seconds ÷ (hashes per share). */
  readonly exposure: number;
}

export class Vardiff {
  readonly #options: VardiffOptions;
  readonly #detector = new RateChangeDetector();
  #difficulty: number;
  /** The difficulty at the last call of `retarget`. */
  #sent: number;
  /** The difficulty of the miner's job. It is lower than the session's if a block is easier than a share. */
  #offered: number | undefined;
  #shares = 0;
  #exposure = 0;
  /** Whether no share has come yet, or none since the difficulty was lowered for want of shares. */
  #isSearching = true;
  /** The last rate that counted as known. A miner that brings no shares for a while may come back as fast. */
  #knownRate: number | undefined;
  /** Whether `#knownRate` comes from an earlier session and may be another machine's: anyone can use a name. */
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

  /** The difficulty that the session should have, in hashes per share. */
  get difficulty(): number {
    return this.#difficulty;
  }

  /** The rate estimated from the shares; 0 before the first share. */
  get hashesPerSecond(): number {
    return this.#shares === 0 ? 0 : this.#shares / this.#exposure;
  }

  /** Whether the standard error of the rate is at most a sixth. */
  get isKnown(): boolean {
    return this.#shares >= MANY_SHARES;
  }

  /** Whether the difficulty is lower than later, so that more shares come. */
  get isLearning(): boolean {
    return !this.#options.isChosen && this.#shares < REMEMBERED_SHARES;
  }

  /** For a later session of the same worker. */
  get known(): Known {
    return { shares: this.#shares, exposure: this.#exposure };
  }

  /** Notes that the miner has a job of this difficulty. @param nowMs on a clock that never jumps */
  offer(difficulty: number, nowMs: number): void {
    if (this.#offered === undefined) {
      this.#nowMs = nowMs;
      this.#lastShareMs = nowMs;
    }
    this.#pass(nowMs);
    this.#offered = difficulty;
  }

  /** Notes a share that meets its job's target. @param difficulty of that target */
  share(difficulty: number, nowMs: number): void {
    if (this.#offered === undefined) return;
    this.#lastShareMs = nowMs;
    this.#isUnproven = false;
    if (this.#isSearching) {
      // The miner may have begun just now, so the time before its first share is not measured.
      this.#isSearching = false;
      this.#shares = 0;
      this.#exposure = 0;
      this.#detector.reset();
      this.#nowMs = nowMs;
      return;
    }
    this.#pass(Math.max(nowMs, this.#nowMs + LEAST_APART_MS));
    // Shares of an easier job that arrive after a harder one was given count for less.
    const weight = Math.min(1, difficulty / this.#offered);
    this.#shares += weight;
    if (this.#shares > REMEMBERED_SHARES) {
      this.#exposure *= REMEMBERED_SHARES / this.#shares;
      this.#shares = REMEMBERED_SHARES;
    }
    this.#watch(weight, 0);
  }

  /** Call it after each share and every second. @returns whether the difficulty has changed since the last call */
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

  /** Takes the worker's suggestion, unless the rate is known better. */
  suggest(difficulty: number): void {
    if (!this.isKnown && !this.#options.isChosen) this.#difficulty = difficulty;
  }

  /** Lowers the share rate at a chosen difficulty, because the client's address sends too many lines. */
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
    // The estimate is made from what came since then; all earlier knowledge counts as one more share.
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
    if (this.#isUnproven && this.#isSilent(SLOW_SILENCE_MS)) this.#knownRate = undefined;
    const floor = this.#knownRate === undefined ? SLOW_FLOOR : this.#knownRate / MOST_SHARES_PER_SECOND;
    const isSlow = this.#knownRate === undefined && this.#difficulty <= QUICK_FLOOR;
    if (this.#difficulty <= floor || !this.#isSilent(isSlow ? SLOW_SILENCE_MS : SILENCE_MS)) return;
    this.#isSearching = true;
    this.#lastShareMs = nowMs;
    const isQuick = this.#knownRate === undefined && !isSlow;
    this.#difficulty = Math.max(1, floor, isQuick ? QUICK_FLOOR : 0, this.#difficulty / 10);
  }

  #adjust(): void {
    // A few shares in a burst can make the rate seem a thousand times too high.
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
 * Detects a change of the share rate with Page's cumulative sums (CUSUM): one compares the known rate with twice that
 * rate, one with half of it. A sum is the logarithm of how much better the other rate explains the shares since the sum
 * was last reset. Pure.
 */

/** The compared rates are this many times higher and lower than the known one. */
const RATIO = 2;
/**
 * A sum above this means that the rate has changed. By chance that happens at most once in e^8 = 3,000 shares, or 8
 * hours at 10 s a share. A fall to a tenth is noticed after 19 expected shares, a tenfold rise after 14 shares.
 */
const SURPRISING = 8;

/** CUSUM state: the shares since a sum was last reset. */
interface Since {
  readonly shares: number;
  /** Number of shares that should have come at the known rate. */
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
   * @param shares number of shares that have come
   * @param expected number of shares that should have come
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
 * Remembers workers' rates, so that later sessions begin with the right difficulty. Anyone can use a name, so a rate is
 * used only for clients of the network in which it was measured. Pure.
 */
export class RememberedRates {
  /** By the client's network and the worker's name, oldest first. */
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

/** A network contains no blank, so keys are unique. */
function keyOf(address: string, worker: string): string {
  return `${networkOf(address)} ${worker}`;
}
