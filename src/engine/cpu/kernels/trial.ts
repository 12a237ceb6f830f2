/**
 * Lets the kernels that measurement cannot tell apart prove themselves while mining. They take turns, in which all
 * threads of a group search with the same kernel; the tasks are those that they would search anyway. Pure.
 */

import { sizeOf } from '../../../chain/nonce.ts';
import { splitRows } from '../columns.ts';
import type { KernelName } from '../kernel-names.ts';
import type { TaskThread } from '../pool.ts';
import { judge, type Verdict } from './speed.ts';

/** Which kernel searches a task, and in which turn. */
interface Assigned {
  readonly kernel: KernelName;
  readonly turn: number;
}

/** What a thread did in a task. */
export interface Done {
  /** The thread's number in its group. */
  readonly thread: number;
  readonly hashes: number;
  /** The processor time that it took. */
  readonly ms: number;
}

/** How many tasks of each thread, on average, are counted in a turn, and at least how much of its processor time. */
const TASKS_COUNTED = 2;
const MS_COUNTED = 40;

/**
 * Shorter tasks, such as those that a new job ends, are not counted: their setup (10 µs) is too large a part of them.
 * On a busy machine, where threads of the lowest priority get little of the processor, no task is much longer.
 */
const LEAST_MS = 0.3;

/** After how many rounds a trial is decided if there is no doubt, and after how many it ends in any case. */
const LEAST_ROUNDS = 5;
const MOST_ROUNDS = 20;

export class Trial {
  readonly #contenders: readonly KernelName[];
  readonly #threads: number;
  readonly #ended: (verdict: Verdict) => void;
  readonly #results: ReadonlyMap<KernelName, number[]>;
  /** Number of the turn, from 0 on. The turns of a round have each contender once. */
  #turn = 0;
  #assigned: Assigned;
  #isOver = false;
  /** What was counted in this turn. */
  #tasks = 0;
  #hashes = 0;
  #ms = 0;
  /**
   * The threads that have ended a task in this turn. The first is not counted: other threads may still run another
   * kernel.
   */
  readonly #begun = new Set<number>();

  /**
   * @param contenders the first is used until the trial has ended, and longer if it ends in doubt
   * @param threads how many threads search
   * @param ended called once
   */
  constructor(contenders: readonly KernelName[], threads: number, ended: (verdict: Verdict) => void) {
    this.#contenders = contenders;
    this.#threads = threads;
    this.#ended = ended;
    this.#results = new Map(contenders.map((name) => [name, []]));
    this.#assigned = { kernel: contenders[0], turn: 0 };
    if (contenders.length < 2) this.#isOver = true;
    else this.#begin();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The kernel for the next task. */
  get next(): Assigned {
    return this.#assigned;
  }

  take({ turn }: Assigned, { thread, hashes, ms }: Done): void {
    if (this.#isOver || turn !== this.#turn || ms < LEAST_MS) return;
    if (!this.#begun.has(thread)) {
      this.#begun.add(thread);
      return;
    }
    this.#tasks++;
    this.#hashes += hashes;
    this.#ms += ms;
    if (this.#tasks >= TASKS_COUNTED * this.#threads && this.#ms >= MS_COUNTED * this.#threads) this.#endTurn();
  }

  #begin(): void {
    const { length } = this.#contenders;
    const order = inTurns(this.#contenders, Math.floor(this.#turn / length));
    this.#assigned = { kernel: order[this.#turn % length], turn: this.#turn };
    this.#tasks = this.#hashes = this.#ms = 0;
    this.#begun.clear();
  }

  #endTurn(): void {
    this.#results.get(this.#assigned.kernel)?.push(this.#hashes / this.#ms);
    this.#turn++;
    const rounds = this.#turn / this.#contenders.length;
    if (rounds >= LEAST_ROUNDS && Number.isInteger(rounds)) {
      const verdict = judge(this.#results);
      if (verdict.doubt === undefined || rounds >= MOST_ROUNDS) this.#end(verdict);
    }
    if (!this.#isOver) this.#begin();
  }

  #end(verdict: Verdict): void {
    const [first] = this.#contenders;
    this.#isOver = true;
    this.#assigned = { kernel: verdict.doubt === undefined ? (verdict.fastest ?? first) : first, turn: this.#turn };
    this.#ended(verdict);
  }
}

/* A hashing thread whose tasks are part of a trial of kernels, until the trial is over. */

/** @param number the thread's number in its group */
export function proving(thread: TaskThread, number: number, trial: Trial): TaskThread {
  return {
    ...thread,
    run: async (task) => {
      const assigned = trial.next;
      const result = await thread.run({ ...task, kernel: assigned.kernel });
      if (!trial.isOver) {
        const { searched } = splitRows(task.range, result.rows);
        const hashes = searched.reduce((sum, range) => sum + sizeOf(range), 0);
        trial.take(assigned, { thread: number, hashes, ms: result.cpuMs });
      }
      return result;
    },
  };
}

/**
 * @returns the contenders in another order in each round, so that a load that comes back at regular times does not
 *   always hit the same kernel
 */
export function inTurns<T>(contenders: readonly T[], round: number): T[] {
  const from = Math.floor(round / 2) % Math.max(1, contenders.length);
  const order = [...contenders.slice(from), ...contenders.slice(0, from)];
  return round % 2 === 0 ? order : order.reverse();
}
