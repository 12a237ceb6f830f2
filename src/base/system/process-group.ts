/** Starts programs that can be killed together with all their descendants. */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';

/**
 * Whether commands run in process groups of their own. Windows has no signals for process groups, and would open a
 * console window for a detached process.
 */
const GROUPS = process.platform !== 'win32';
/** The full path of taskkill, because Windows looks up a bare name in the current folder first. */
const TASKKILL = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'taskkill.exe');
/** Time limit for taskkill, far above the time that it needs. */
const TASKKILL_MS = 5_000;

/** A command line for the shell, or a program and its arguments. */
export type Command = string | readonly string[];

/** The running processes. Their groups get no signals from the terminal, so pickaxe kills them when it exits. */
const living = new Set<ChildProcess>();
const killLiving = (): void => living.forEach(killGroup);

/** @param argument has only letters and digits, so that no shell interprets it */
export function withArgument(command: Command, argument: string): Command {
  return typeof command === 'string' ? `${command} ${argument}` : [...command, argument];
}

/**
 * Starts a command in a new process group. If pickaxe exits before the command, pickaxe kills the group.
 * @throws Error if the command cannot be started. For some causes, such as a missing program, nothing is thrown.
 *   Instead, the process emits `error`
 */
export function startGroup(command: Command, options: SpawnOptions = {}): ChildProcess {
  const isLine = typeof command === 'string';
  const [program, ...args] = isLine ? [command] : command;
  const child = spawn(program, args, { ...options, shell: isLine, detached: GROUPS, windowsHide: true });
  if (child.pid !== undefined) killAtExit(child);
  return child;
}

function killAtExit(child: ChildProcess): void {
  if (living.size === 0) process.once('exit', killLiving);
  living.add(child);
  child.once('exit', () => {
    living.delete(child);
    if (living.size === 0) process.off('exit', killLiving);
  });
}

/**
 * A shell script for the case that pickaxe is killed by SIGKILL or for lack of memory, and cannot kill the groups
 * itself. Each line of the script's input lists all groups. When the input ends, the script kills the groups of the
 * last line.
 */
const WATCHER = 'while read -r line; do groups=$line; done; for group in $groups; do kill -9 "-$group"; done';
let watcher: ChildProcess | undefined;
/** The processes whose groups the watcher kills. */
const watched = new Set<ChildProcess>();

/**
 * Makes sure that a group ends with pickaxe even if pickaxe is killed: a shell waits for pickaxe's end, and then kills
 * the group. Windows has no such shell, so the group continues to run there.
 */
export function endWithPickaxe(child: ChildProcess): void {
  if (!GROUPS || child.pid === undefined) return;
  watcher ??= startWatcher();
  watched.add(child);
  nameWatched();
  child.once('exit', () => {
    watched.delete(child);
    nameWatched();
  });
}

function startWatcher(): ChildProcess {
  // The shell is detached from pickaxe's group. Otherwise, a signal from the terminal would end the shell first.
  const shell = spawn('/bin/sh', ['-c', WATCHER], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.on('error', () => {});
  shell.stdin?.on('error', () => {});
  shell.unref();
  (shell.stdin as Socket | null)?.unref();
  return shell;
}

function nameWatched(): void {
  watcher?.stdin?.write(`${Array.from(watched, ({ pid }) => pid).join(' ')}\n`);
}

export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return; // The process was not started.
  try {
    if (GROUPS) process.kill(-child.pid, 'SIGKILL');
    else killTree(child);
  } catch {} // The process has just ended.
}

/** The root is killed last, because taskkill finds the children of a process only while the process exists. */
function killTree(child: ChildProcess): void {
  const options = { stdio: 'ignore', windowsHide: true, timeout: TASKKILL_MS } as const;
  const taskkill = spawn(TASKKILL, ['/pid', `${child.pid}`, '/t', '/f'], options);
  const killRoot = () => void child.kill('SIGKILL');
  taskkill.once('error', killRoot).once('exit', killRoot);
}
