/** What a GPU's child process has been given to search and has not dispatched yet. */

import type { Search } from '../../../chain/job.ts';
import type { Range } from '../../../chain/nonce.ts';

/** One job, as long as its search lasts. */
export interface Task extends Search {
  readonly id: number;
  readonly waiting: Range[];
  /** Counters per dispatch that this job's hits surely leave room for, as far as is known. */
  most: number;
  dispatched: number;
  stopped: boolean;
}

export interface Piece {
  readonly task: Task;
  readonly range: Range;
}

export class WorkQueue {
  /** In the order of their arrival. */
  readonly #tasks = new Map<number, Task>();

  begin(id: number, { midstate, tail, target }: Search): void {
    this.#tasks.set(id, {
      id,
      midstate,
      tail,
      target,
      waiting: [],
      most: Number.POSITIVE_INFINITY,
      dispatched: 0,
      stopped: false,
    });
  }

  add(id: number, range: Range): void {
    this.#tasks.get(id)?.waiting.push(range);
  }

  /** Drops what waits; what is dispatched goes on. */
  stop(id: number): Task | undefined {
    const task = this.#tasks.get(id);
    if (task) {
      task.stopped = true;
      task.waiting.length = 0;
    }
    return task;
  }

  forget(id: number): void {
    this.#tasks.delete(id);
  }

  /** Cuts the next dispatch, of the newest job: an older one that still lives is about to be stopped. */
  next(size: number): Piece | undefined {
    const task = [...this.#tasks.values()].findLast(({ waiting }) => waiting.length > 0);
    if (!task) return undefined;
    const strip = task.waiting[0];
    const counters = Math.min(strip.counters, size, task.most);
    if (counters === strip.counters) task.waiting.shift();
    else task.waiting[0] = { ...strip, counter: strip.counter + counters, counters: strip.counters - counters };
    task.dispatched++;
    return { task, range: { ...strip, counters } };
  }

  /** Takes a piece whose hits did not fit, to be searched again in parts. */
  again({ task, range }: Piece, most: number): void {
    task.most = Math.min(task.most, most);
    if (!task.stopped) task.waiting.unshift(range);
  }
}
