/** Runs one of the user's commands, within a time limit. */

import type { ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { onAbort } from '../system/abort.ts';
import { type Command, killGroup, startGroup } from '../system/process-group.ts';

/** How much of a command's output is kept, to be quoted. */
const MAX_OUTPUT_BYTES = 2_000;
/** How long to wait for the rest of the output after a command's end: a process that it left behind may keep it open. */
const OUTPUT_MS = 200;
/** A priority below that of the main thread (0) and above that of the hashing threads (19). */
const NICENESS = 10;

interface CommandOptions {
  readonly command: Command;
  /** Environment variables in addition to pickaxe's own. */
  readonly env: Readonly<Record<string, string>>;
  /** The text for the command's stdin. */
  readonly input: string;
  readonly timeoutMs: number;
}

interface CommandResult {
  /** What went wrong; undefined for exit code 0. */
  readonly fault: string | undefined;
  /** The beginning of the output on stdout and stderr. */
  readonly output: string;
}

/**
 * Runs a command. When its time is up, or at `stop`, it is killed together with every process that it started.
 * @returns settles when the command has ended
 * @throws Error for some of the reasons why it cannot be started
 */
export async function runCommand(options: CommandOptions, stop: AbortSignal): Promise<CommandResult> {
  const { command, env, input, timeoutMs } = options;
  const child = startGroup(command, { env: { ...process.env, ...env } });
  let killed: string | undefined;
  const kill = (why: string) => {
    killed ??= `killed: ${why}`;
    killGroup(child);
  };
  const timer = setTimeout(() => kill(`it took more than ${timeoutMs / 1000} s`), timeoutMs);
  const ended = endOf(child);
  const heard = listen(child);
  beNice(child);
  child.stdin?.on('error', () => {}); // A command may ignore its stdin.
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

/** Keeps the beginning of the output and discards the rest, so that the command never waits for a reader. */
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

function beNice({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, NICENESS);
  } catch {} // The command has ended already, or a sandbox forbids it. The lower priority is not essential.
}
