/** When a simulated hasher has solved a work. */

import { difficultyOf } from '../../chain/target.ts';
import type { Work } from '../../chain/work.ts';
import type { Verdict } from '../../source/source.ts';
import { LONGEST_TIMER_MS } from '../../system/abort.ts';

/**
 * How many chains the networks have. The reference client divides its constant delay by it, so that each chain gets a
 * block in it.
 */
const CHAINS = 20;

export interface Pace {
  /** One line for people: what is simulated. */
  readonly what: string;
  /**
   * Calls `solve` when the work counts as solved.
   * @returns a function that gives the work up
   */
  begin(work: Work, solve: () => void): () => void;
  /** Called with the verdict on each solution. */
  judged?(work: Work, verdict: Verdict): void;
  /** Opens what the pace listens on. @throws Error that says why that is not possible */
  open?(): Promise<void>;
  close?(): Promise<void>;
}

/**
 * Waits as long as devices of this hashrate would: exponentially distributed, with the work's difficulty as the mean of
 * hashes.
 */
export class HashratePace implements Pace {
  readonly what: string;
  readonly #hashesPerSecond: number;
  readonly #random: () => number;

  /** @param random returns uniformly distributed numbers in [0, 1) */
  constructor(hashesPerSecond: number, random: () => number) {
    this.#hashesPerSecond = hashesPerSecond;
    this.#random = random;
    this.what = `a hashrate of ${hashesPerSecond} H/s`;
  }

  begin({ target }: Work, solve: () => void): () => void {
    const hashes = -Math.log(1 - this.#random()) * difficultyOf(target);
    return later((1000 * hashes) / this.#hashesPerSecond, solve);
  }
}

/** Waits for a constant time, so that each chain gets a block in `seconds` if they take turns. */
export class DelayPace implements Pace {
  readonly what: string;
  readonly #ms: number;

  constructor(seconds: number) {
    this.#ms = (1000 * seconds) / CHAINS;
    this.what = `a block of each of ${CHAINS} chains in ${seconds} s`;
  }

  begin(_: Work, solve: () => void): () => void {
    return later(this.#ms, solve);
  }
}

function later(ms: number, action: () => void): () => void {
  const timer = setTimeout(action, Math.min(ms, LONGEST_TIMER_MS));
  return () => clearTimeout(timer);
}
