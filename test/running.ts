import { readFileSync } from 'node:fs';

/** Whether a process exists and has not ended. @param pid minus the leader's id for a group, of which zombies count */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie is not running; its parent has not looked yet.
    return pid < 0 || process.platform !== 'linux' || !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
