/** Submits solutions in the background. Does not submit a solution twice, or one whose work is known to be stale. */

import { BoundedSet } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import { toHex } from '../../protocol/chain/bytes.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import type { Listener } from '../events/events.ts';
import type { Outcome } from '../events/vocabulary.ts';
import type { CompleteSource } from './complete-source.ts';
import type { Verdict } from './source.ts';

/** Number of the latest solutions that are not submitted again. Far fewer are pending at the same time. */
const REMEMBERED = 4_096;

/** The event about a sent block, by its outcome. `delivered` has no event, because the result is never known. */
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
  /** Called with the number of pending submissions whenever a submission begins or ends. */
  readonly pending?: (count: number) => void;
}

interface Finder {
  /** The name of a device or of a relay. */
  readonly name: string;
  readonly isRelay: boolean;
  /** Whether another coordinator issued the work, or the work is not known. Copied into the events about a block. */
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
   * Submits a solution in the background, and emits events about it and its verdict.
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

  /** Settles when no submission is pending. The time limits of the source bound this wait. */
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
      // The event is emitted after the source was called, so that no listener delays the submission.
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
