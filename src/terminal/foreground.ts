/**
 * Whether this process has its terminal to itself. A job in the background (`pickaxe mine &`) that changes the terminal's
 * mode or reads from it is stopped (POSIX.1-2017 §11.1.4), and what it draws lands in what the user types.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Milliseconds between two looks from the background: outside Linux, each look starts a process. */
export const FOREGROUND_LOOK_MS = process.platform === 'linux' ? 1_000 : 5_000;

export function isForeground(): boolean {
  if (process.platform === 'win32') return true;
  const [group, terminalGroup] = process.platform === 'linux' ? fromProc() : fromPs();
  // A process without a terminal of its own (-1 and the like) is not stopped.
  return !(terminalGroup > 0) || group === terminalGroup;
}

/** proc(5): after the name in brackets come state, ppid, pgrp, session, tty_nr, tpgid. */
function fromProc(): [number, number] {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [Number(fields[2]), Number(fields[5])];
}

/** Other systems have a program to ask. */
function fromPs(): [number, number] {
  const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' });
  const [group, terminalGroup] = String(stdout).trim().split(/\s+/).map(Number);
  return [group, terminalGroup];
}
