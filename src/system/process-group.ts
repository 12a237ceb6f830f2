/** Programs that are started to be killed, together with every process that they start. */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';

/** Windows has no signals for process groups, and would open a console window for a detached process. */
const GROUPS = process.platform !== 'win32';
/** The full path, because a bare name would be looked for in the current folder first. */
const TASKKILL = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'taskkill.exe');
/** Far longer than it takes. */
const TASKKILL_MS = 5_000;

/** A command line that the shell interprets; as a list, a program and its arguments, without a shell. */
export type Command = string | readonly string[];

/**
 * Starts a command in a process group of its own.
 * @param argument its last argument: letters and digits only, so that no shell sees anything else in it
 */
export function startGroup(command: Command, argument: string, options: SpawnOptions = {}): ChildProcess {
  const isLine = typeof command === 'string';
  const [program, ...args] = isLine ? [`${command} ${argument}`] : [...command, argument];
  return spawn(program, args, { ...options, shell: isLine, detached: GROUPS, windowsHide: true });
}

/** Kills a process that `startGroup` has started, and its group. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return; // It could not be started.
  try {
    if (GROUPS) process.kill(-child.pid, 'SIGKILL');
    else killTree(child);
  } catch {} // It has just ended.
}

/** Windows knows the processes that a process has started only as long as it lives, so it is killed last. */
function killTree(child: ChildProcess): void {
  const options = { stdio: 'ignore', windowsHide: true, timeout: TASKKILL_MS } as const;
  const taskkill = spawn(TASKKILL, ['/pid', `${child.pid}`, '/t', '/f'], options);
  const killRoot = () => void child.kill('SIGKILL');
  taskkill.once('error', killRoot).once('exit', killRoot);
}
