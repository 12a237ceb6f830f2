import { readFileSync } from 'node:fs';

/**
 * @param pid minus the leader's id for a group, of which zombies count @returns whether a process exists and has not
 *   ended
 */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie does not run: only its parent has not read its exit code yet.
    return pid < 0 || process.platform !== 'linux' || !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
