/** The niceness of threads: on Linux each has its own. */

import { getPriority, setPriority } from 'node:os';

/** @returns why Linux lets no thread change its niceness, as sandboxes do; undefined where it lets them. Changes nothing. */
export function nicenessFault(): string | undefined {
  try {
    setPriority(getPriority());
    return undefined;
  } catch (error) {
    return `Linux refuses it (${(error as { info: { message: string } }).info.message})`;
  }
}

/**
 * On Linux, sets the calling thread's niceness alone. Measured with no gain in how soon new jobs are begun: SCHED_IDLE
 * instead of niceness 19, and a shorter slice for the main thread.
 * @throws Error that says what to do when it is below the process's own, which takes privileges.
 */
export function beNice(niceness: number): void {
  try {
    setPriority(niceness);
  } catch (error) {
    const own = getPriority();
    if (niceness >= own) throw error;
    throw new Error(`niceness ${niceness} requires privileges, because this process has ${own}: choose ${own} or more`);
  }
}
