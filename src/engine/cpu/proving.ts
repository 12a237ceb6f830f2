/** A hashing thread whose tasks are part of a trial of kernels, until the trial is over. */

import { sizeOf } from '../../chain/nonce.ts';
import { splitRows } from './columns.ts';
import type { Trial } from './kernels/trial.ts';
import type { TaskThread } from './search-run.ts';

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
