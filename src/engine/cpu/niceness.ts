/** The niceness of threads. On Linux each thread has its own. */

import { getPriority, setPriority } from 'node:os';

/** Changes nothing. @returns why threads may not change their niceness, as in some sandboxes; undefined when they may */
export function nicenessFault(): string | undefined {
  try {
    setPriority(getPriority());
    return undefined;
  } catch (error) {
    return `Linux refuses it (${(error as { info: { message: string } }).info.message})`;
  }
}

/**
 * Sets the niceness of the calling thread (on Linux). Two alternatives were measured, and new jobs began no sooner with them:
 * SCHED_IDLE instead of niceness 19, and a shorter time slice for the main thread.
 * @throws Error that says what to do when it is below the process's own niceness, which requires privileges.
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
