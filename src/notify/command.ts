/** Runs one command of the user's, for so long and no longer. */

import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { onAbort } from '../system/abort.ts';

/** Of its output, to say what it said. */
const MAX_OUTPUT_BYTES = 2_000;
/** After its end, its output is waited for this long: what it left running in the background may hold it open. */
const OUTPUT_MS = 200;
/** It gives way to what hands out work, and not to the threads that hash (19). */
const NICENESS = 10;
/** Windows has no process groups to signal, and would open a window for one. */
const GROUPS = process.platform !== 'win32';

export interface CommandOptions {
  /** As the user wrote it: the shell's. */
  readonly command: string;
  /** Added to pickaxe's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What it gets on stdin. */
  readonly input: string;
  readonly timeoutMs: number;
}

export interface CommandResult {
  /** What went wrong; undefined when it ended with exit code 0. */
  readonly fault: string | undefined;
  /** The beginning of what it said on stdout and stderr. */
  readonly output: string;
}

/**
 * When its time is up, or at `stop`, it is killed with all that it started.
 * @returns once it has ended
 */
export async function runCommand(options: CommandOptions, stop: AbortSignal): Promise<CommandResult> {
  const { command, env, input, timeoutMs } = options;
  const child = spawn(command, {
    shell: true,
    detached: GROUPS,
    env: { ...process.env, ...env },
    windowsHide: true,
  });
  let killed: string | undefined;
  const kill = (why: string) => {
    killed ??= `killed: ${why}`;
    killGroup(child);
  };
  const timer = setTimeout(() => kill(`it took more than ${timeoutMs / 1000} s`), timeoutMs);
  const ended = endOf(child);
  const heard = listen(child);
  beNice(child);
  child.stdin?.on('error', () => {}); // commands need not read
  child.stdin?.end(input);
  const release = onAbort(stop, () => kill('pickaxe ended before it did'));

  const fault = await ended;
  clearTimeout(timer);
  release();
  return { fault: killed ?? fault, output: heard() };
}

/** @returns what went wrong, if anything did */
function endOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', (code, signal) => {
      const fault = code === 0 ? undefined : signal ? `ended by ${signal}` : `exit code ${code}`;
      const timer = setTimeout(resolve, OUTPUT_MS, fault);
      child.once('close', () => {
        clearTimeout(timer);
        resolve(fault);
      });
    });
  });
}

/** What comes first is kept, the rest is read and forgotten: a command must not wait for a reader. */
function listen({ stdout, stderr }: ChildProcess): () => string {
  const streams = [stdout, stderr].filter((stream) => stream !== null && stream !== undefined);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (const stream of streams) {
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => {
      if (bytes < MAX_OUTPUT_BYTES) chunks.push(chunk.subarray(0, MAX_OUTPUT_BYTES - bytes));
      bytes += chunk.length;
    });
  }
  return () => {
    for (const stream of streams) stream.destroy();
    return Buffer.concat(chunks).toString().trim();
  };
}

function killGroup(child: ChildProcess): void {
  try {
    if (GROUPS && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {} // it has just ended
}

function beNice({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, NICENESS);
  } catch {} // it has ended already, or a sandbox forbids it: a courtesy only
}
