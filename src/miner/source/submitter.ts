/** Submits solutions in the background: none twice, and none whose work is known to be stale. */

import { BoundedSet } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import { toHex } from '../../protocol/chain/bytes.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import type { Listener } from '../events/events.ts';
import type { Outcome } from '../events/vocabulary.ts';
import type { CompleteSource } from './complete-source.ts';
import type { Verdict } from './source.ts';

/** Number of remembered solutions, so that each is submitted once. Far fewer are ever in flight. */
const REMEMBERED = 4_096;

/** The event about a sent block, by the outcome of its submission. A delivered block's outcome is never known. */
const BLOCK_EVENTS = {
  accepted: 'accepted-block',
  unknown: 'unanswered-block',
  rejected: 'refused-block',
  stale: 'refused-block',
} as const satisfies Partial<Record<Outcome, string>>;

const NOT_SENT: Verdict = { outcome: 'stale', reason: 'found after its work went stale; not sent' };

export interface SubmitterOptions {
  readonly source: Pick<CompleteSource, 'nameOf' | 'submit'>;
  readonly emit: Listener;
  readonly clock: Clock;
  /** Whether the solution's work is known to be stale. Called right before the solution is sent. */
  readonly isStale: (solution: Solution) => boolean;
  /** Called with the number of pending submissions when one begins or ends. */
  readonly pending?: (count: number) => void;
}

interface Finder {
  /** The name of a device or of a relay. */
  readonly name: string;
  readonly isRelay: boolean;
  /** As in the events: another coordinator gave the work, or the work is not known. */
  readonly isElsewhere?: boolean;
}

export class Submitter {
  readonly #options: SubmitterOptions;
  readonly #pending = new Set<Promise<Verdict>>();
  /** The proof-of-work hashes of the solutions seen so far, in hex, oldest first. */
  readonly #seen = new BoundedSet<string>(REMEMBERED);

  constructor(options: SubmitterOptions) {
    this.#options = options;
  }

  /**
   * Submits a solution in the background. Its verdict becomes an event.
   * @param stop asks the source to end its attempts soon
   * @returns the verdict; undefined if the solution was submitted before
   */
  submit(solution: Solution, finder: Finder, stop: AbortSignal): Promise<Verdict> | undefined {
    const key = toHex(solution.powHash);
    if (this.#seen.has(key)) return undefined;
    this.#seen.add(key);
    const task = this.#send(solution, finder, stop);
    this.#pending.add(task);
    this.#options.pending?.(this.#pending.size);
    void task.finally(() => {
      this.#pending.delete(task);
      this.#options.pending?.(this.#pending.size);
    });
    return task;
  }

  /** Settles when no submission is pending. The source's time limits bound this. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  async #send(solution: Solution, { name, isRelay, isElsewhere }: Finder, stop: AbortSignal): Promise<Verdict> {
    const { emit, clock, source, isStale } = this.#options;
    const { nonce, powHash: hash, work, header, isBlock, isShare } = solution;
    const { chain, height } = work;
    const about = {
      device: name,
      isRelay,
      chain,
      height,
      nonce,
      isBlock,
      isShare,
      difficulty: difficultyOf(work.target),
    };
    const block = { ...about, header, ...(isElsewhere && { isElsewhere }) };
    const foundAtMs = clock.monotonicMs();
    emit({ type: 'solution', ...about, hash });
    const isSent = !isStale(solution);
    let verdict: Verdict;
    try {
      const answer = isSent ? source.submit(solution, stop) : NOT_SENT;
      // The event comes after the call of the source, so that no listener delays the submission.
      if (isSent && isBlock) emit({ type: 'sent-block', ...block, source: source.nameOf(work) });
      verdict = await answer;
    } catch (fault) {
      // The WorkSource interface forbids throwing, but every solution must get a verdict.
      verdict = { outcome: 'unknown', reason: `the source failed: ${fault instanceof Error ? fault.message : fault}` };
    }
    const { outcome, reason, by = source.nameOf(work) } = verdict;
    const answerSeconds = (clock.monotonicMs() - foundAtMs) / 1000;
    emit({ type: 'verdict', outcome, reason, ...about, answerSeconds });
    if (!isSent || !isBlock || outcome === 'delivered') return verdict;
    emit({ type: BLOCK_EVENTS[outcome], ...block, source: by, answerSeconds });
    return verdict;
  }
}
