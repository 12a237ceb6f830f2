import { readFileSync } from 'node:fs';

/** Whether a process exists and has not ended. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie is not running; its parent has not looked yet.
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
