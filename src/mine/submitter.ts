/** Submits solutions in the background: none twice, and none whose work is known to be stale. */

import { toHex } from '../chain/bytes.ts';
import type { Solution } from '../chain/verify.ts';
import type { Listener } from '../events/events.ts';
import type { Verdict, WorkSource } from '../source/source.ts';
import type { Clock } from '../system/clock.ts';

/** How many solutions are remembered, so that none is submitted twice. Far fewer are ever in flight. */
const REMEMBERED = 1_024;

export interface SubmitterOptions {
  readonly source: WorkSource;
  readonly emit: Listener;
  readonly clock: Clock;
  /** Whether the solution's work is known to be stale. Called right before the solution is sent. */
  readonly isStale: (solution: Solution) => boolean;
}

export class Submitter {
  readonly #options: SubmitterOptions;
  readonly #pending = new Set<Promise<void>>();
  /** The proof-of-work hashes of the solutions seen so far, in hex, oldest first. */
  readonly #seen = new Set<string>();

  constructor(options: SubmitterOptions) {
    this.#options = options;
  }

  /**
   * Submits a solution in the background, unless it was submitted before. Its verdict becomes an event.
   * @param device the name of the engine that found the solution
   * @param stop asks the source to end its attempts soon
   */
  submit(solution: Solution, device: string, stop: AbortSignal): void {
    const key = toHex(solution.powHash);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (this.#seen.size > REMEMBERED) this.#seen.delete(this.#seen.values().next().value as string);
    const task = this.#send(solution, device, stop).finally(() => this.#pending.delete(task));
    this.#pending.add(task);
  }

  /** Settles when no submission is pending. The source's time limits bound this. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #send(solution: Solution, device: string, stop: AbortSignal): Promise<void> {
    const { emit, clock, source, isStale } = this.#options;
    const { nonce, powHash: hash, work } = solution;
    const about = { device, chain: work.chain, height: work.height, nonce };
    const foundAtMs = clock.monotonicMs();
    emit({ type: 'solution', ...about, hash });
    let verdict: Verdict;
    try {
      verdict = isStale(solution)
        ? { outcome: 'stale', reason: 'found after its work went stale; not sent' }
        : await source.submit(solution, stop);
    } catch (fault) {
      // The WorkSource interface forbids throwing, but every solution must get a verdict.
      verdict = { outcome: 'unknown', reason: `the source failed: ${fault instanceof Error ? fault.message : fault}` };
    }
    const { outcome, reason } = verdict;
    emit({ type: 'verdict', outcome, reason, ...about, answerSeconds: (clock.monotonicMs() - foundAtMs) / 1000 });
  }
}
