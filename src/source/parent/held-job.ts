/** A job that a parent has given and not cancelled. */

import { difficultyOf, targetForDifficulty } from '../../chain/target.ts';
import type { Work } from '../../chain/work.ts';
import { targetOf, workOf } from '../../wire/worker-job.ts';
import type { JobRequest } from '../../wire/worker-requests.ts';

/** A target is moved for the sake of the share rate only when the rate would change by this factor. */
const WORTH_MOVING = 1.25;
/** How many works of a job are remembered, to be condemned together. Solutions of earlier ones came long ago. */
const REMEMBERED = 8;

export class HeldJob {
  readonly id: string;
  /** Of two jobs, the one with the higher number is newer. */
  readonly number: number;
  /** Whether the parent sends verdicts on its shares. */
  readonly verdicts: boolean;
  /** Set when it was cancelled or solved: its solutions are worth nothing then. */
  hasEnded = false;
  readonly #workId: string;
  #version = 1;
  #works: readonly Work[];
  /** The target that the parent has asked for: 32 bytes, little-endian. */
  #wanted: Uint8Array;

  /** @param number unique among all jobs of all sessions */
  constructor(request: JobRequest, number: number) {
    const workId = `${number} “${request.id}”`;
    const work = workOf(request, workId);
    this.id = request.id;
    this.number = number;
    this.verdicts = request.verdicts ?? false;
    this.#workId = workId;
    this.#works = [work];
    this.#wanted = work.target;
  }

  /** The job as work, with the target of now. Each of its works has the same header. */
  get work(): Work {
    return this.#works[0];
  }

  /** The works that may still be searched: of this target, and of earlier ones. */
  get works(): readonly Work[] {
    return this.#works;
  }

  /** @param target hex digits that have been checked */
  wants(target: string): void {
    this.#wanted = targetOf(target);
  }

  /**
   * Moves the target to the one that the parent wants, or to a harder one where that is needed to keep within a share rate. It is
   * never made harder than a block's: no block may be missed.
   * @param leastDifficulty how many hashes a share must take on average
   * @returns whether there is new work
   */
  aim(leastDifficulty: number): boolean {
    const { target, blockTarget, until } = this.work;
    const wanted = difficultyOf(this.#wanted);
    const ofBlock = difficultyOf(blockTarget);
    const least = until === 'replaced' ? Math.min(leastDifficulty, ofBlock) : 0;
    if (wanted >= least) return this.#moveTo(this.#wanted);
    // The block's own target, because a difficulty is rounded.
    if (least === ofBlock) return this.#moveTo(blockTarget);
    const factor = least / difficultyOf(target);
    const isClose = factor < WORTH_MOVING && factor > 1 / WORTH_MOVING;
    return isClose ? false : this.#moveTo(targetForDifficulty(least));
  }

  #moveTo(target: Uint8Array): boolean {
    if (target.every((byte, i) => byte === this.work.target[i])) return false;
    this.#version++;
    const work = { ...this.work, id: `${this.#workId} (${this.#version})`, target };
    this.#works = [work, ...this.#works].slice(0, REMEMBERED);
    return true;
  }
}
