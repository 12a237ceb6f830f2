/**
 * Renames files, also on Windows: there a virus scanner or an indexer may have a file open for a moment just after it was
 * written. Meanwhile that file can be neither renamed nor replaced.
 */

import { renameSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits before the second and further attempts: 1.3 seconds in all. */
const WAITS_MS: readonly number[] = [10, 20, 40, 80, 150, 300, 700];

/** What Windows reports while another program has one of the files open. */
const HELD: ReadonlySet<string | undefined> = new Set(['EACCES', 'EBUSY', 'EPERM']);

interface System {
  readonly platform: string;
  readonly rename: (from: string, to: string) => void | Promise<void>;
  readonly wait: (ms: number) => void | Promise<void>;
}

const isHeld = (fault: unknown, { platform }: System) =>
  platform === 'win32' && HELD.has((fault as NodeJS.ErrnoException).code);

/** @throws Error of the system when the file cannot be renamed. */
export async function renameFile(
  from: string,
  to: string,
  system: System = { platform: process.platform, rename, wait: (ms) => sleep(ms) },
): Promise<void> {
  for (const ms of WAITS_MS) {
    try {
      return await system.rename(from, to);
    } catch (fault) {
      if (!isHeld(fault, system)) throw fault;
    }
    await system.wait(ms);
  }
  await system.rename(from, to);
}

/**
 * The same for those who cannot wait for a promise: the thread stands still between two attempts.
 * @throws Error of the system when the file cannot be renamed.
 */
export function renameFileSync(
  from: string,
  to: string,
  system: System = { platform: process.platform, rename: renameSync, wait: standStill },
): void {
  for (const ms of WAITS_MS) {
    try {
      return void system.rename(from, to);
    } catch (fault) {
      if (!isHeld(fault, system)) throw fault;
    }
    system.wait(ms);
  }
  system.rename(from, to);
}

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
