/** Programs that are started to be killed, together with every process that they start. */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
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
 * The processes that live. A group of its own gets no signals of the terminal, so it would outlive a forced end of
 * pickaxe.
 */
const living = new Set<ChildProcess>();
const killLiving = (): void => living.forEach(killGroup);

/** @param argument the command's last one: letters and digits only, so that no shell sees anything else in it */
export function withArgument(command: Command, argument: string): Command {
  return typeof command === 'string' ? `${command} ${argument}` : [...command, argument];
}

/**
 * Starts a command in a process group of its own, which is killed when pickaxe's process exits before the command does.
 * @throws Error for some of the reasons why it cannot be started. For others, the process emits `error`
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
 * A shell that kills the groups that it was told of last, when its input ends: because pickaxe was killed itself, with
 * SIGKILL or by the system for lack of memory, and could not do it.
 */
const WATCHER = 'while read -r line; do groups=$line; done; for group in $groups; do kill -9 "-$group"; done';
let watcher: ChildProcess | undefined;
/** The processes whose groups the watcher knows. */
const watched = new Set<ChildProcess>();

/**
 * Lets a group that `startGroup` has started end with pickaxe even if pickaxe is killed. The shell that sees to it
 * lives until pickaxe ends. Windows has no such shell: there, the group would live on.
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
  // A group of its own: a terminal's signals would end it before pickaxe.
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
