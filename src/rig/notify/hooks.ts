/**
 * Hooks are the user's commands for notices. A notice is passed in the environment and on stdin, and never inserted
 * into the command line, because its values can come from a node.
 */

import type { ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Logger } from 'pino';
import { onAbort } from '../../base/system/abort.ts';
import { type Command, killGroup, startGroup } from '../../base/system/process-group.ts';
import { jsonText, oneLine } from '../../base/text/plain-text.ts';
import type { Notice, NoticeType } from './notices.ts';
import { Queue } from './webhook.ts';

export type HookCommands = Readonly<Partial<Record<NoticeType, Command>>>;

interface HookLimits {
  /** Time limit of a command. A command that takes longer is killed. */
  readonly timeoutMs: number;
  /** Maximum number of commands that run at the same time. */
  readonly atOnce: number;
  /** Maximum number of notices that wait until their commands are started. */
  readonly waiting: number;
}

export const HOOK_LIMITS: HookLimits = { timeoutMs: 30_000, atOnce: 2, waiting: 16 };

export class Hooks {
  readonly #commands: HookCommands;
  readonly #log: Logger;
  readonly #limits: HookLimits;
  readonly #queue: Queue<Notice>;
  /** Types of notices whose last command failed. Only the first of several failures in a row is logged as a warning. */
  readonly #failing = new Set<NoticeType>();
  /**
   * Whether a notice has been dropped since the last command ended. If so, dropping further notices is logged at the
   * level debug, and not as a warning.
   */
  #dropping = false;

  constructor(commands: HookCommands, log: Logger, limits = HOOK_LIMITS) {
    this.#commands = commands;
    this.#log = log;
    this.#limits = limits;
    this.#queue = new Queue({
      atOnce: limits.atOnce,
      most: limits.waiting,
      work: (notice, stop) => this.#run(notice, stop),
      dropped: ({ type }) => {
        const level = this.#dropping ? 'debug' : 'warn';
        this.#dropping = true;
        this.#log[level](
          { tag: 'hook' },
          `${type}: its command was not run, because too many commands are running or waiting`,
        );
      },
    });
  }

  readonly send = (notice: Notice): void => {
    if (this.#commands[notice.type] !== undefined) this.#queue.push(notice);
  };

  /** Waits until no command runs or waits. After `timeoutMs`, running commands are killed and waiting ones dropped. */
  end(): Promise<void> {
    return this.#queue.end(this.#limits.timeoutMs);
  }

  async #run(notice: Notice, stop: AbortSignal): Promise<void> {
    const { type } = notice;
    const command = this.#commands[type];
    if (command === undefined) return;
    const options = {
      command,
      env: environmentOf(notice),
      input: `${jsonText(notice)}\n`,
      timeoutMs: this.#limits.timeoutMs,
    };
    const { fault, output } = await runCommand(options, stop).catch(({ message }) => ({ fault: message, output: '' }));
    this.#dropping = false;
    const quoted = output === '' ? '' : `; its output: "${oneLine(output)}"`;
    if (fault === undefined) {
      this.#failing.delete(type);
      this.#log.debug({ tag: 'hook' }, `${type}: its command has run${quoted}`);
      return;
    }
    const level = this.#failing.has(type) ? 'debug' : 'warn';
    this.#failing.add(type);
    this.#log[level]({ tag: 'hook' }, `${type}: its command failed (${fault})${quoted}`);
  }
}

/**
 * @returns environment variables: `PICKAXE_EVENT` has the notice's type, and each field has a variable of its own, such
 *   as `PICKAXE_EVENT_HARDWARE_ERRORS` for `hardwareErrors`. Other variables that begin with `PICKAXE_` are settings
 */
export function environmentOf(
  { type, ...fields }: Notice,
  platform: string = process.platform,
): Record<string, string> {
  const given = platform === 'win32' ? inertOnWindows : (text: string) => text;
  const variables = Object.entries(fields).map(([name, value]) => {
    return [`PICKAXE_EVENT_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`, given(`${value}`)];
  });
  return { PICKAXE_EVENT: type, ...Object.fromEntries(variables) };
}

/**
 * Replaces characters that could be dangerous in a command line. cmd.exe inserts the value of `%NAME%` before it parses
 * the line, so quotes do not help. Therefore only characters without a meaning for cmd.exe and PowerShell are kept.
 * Characters beyond ASCII are replaced, too, because Windows converts some of them to quotes. Values for a command that
 * is given as a list are treated alike: pickaxe runs the command without cmd.exe, but the command may start cmd.exe.
 */
function inertOnWindows(text: string): string {
  return text.replace(/[^A-Za-z0-9 .,:/_+=@#-]/g, '_');
}

/* Running of commands. */

/** Maximum number of bytes of a command's output that are kept. The log quotes them. */
const MAX_OUTPUT_BYTES = 2_000;
/** Time limit for further output after a command's end. A process that the command started may keep stdout open. */
const OUTPUT_MS = 200;
/** Niceness of commands: between that of the main thread (0) and the default of the hashing threads (19). */
const NICENESS = 10;

interface CommandOptions {
  readonly command: Command;
  /** Environment variables in addition to those of the pickaxe process. */
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeoutMs: number;
}

interface CommandResult {
  /** The failure, for people; undefined for exit code 0. */
  readonly fault: string | undefined;
  /** The beginning of the output on stdout and stderr. */
  readonly output: string;
}

/**
 * Runs a command. After `timeoutMs`, or when `stop` is aborted, the command and the processes that it started are
 * killed.
 * @throws Error when `startGroup` throws. If the command cannot be started for another cause, `fault` reports it
 */
async function runCommand(options: CommandOptions, stop: AbortSignal): Promise<CommandResult> {
  const { command, env, input, timeoutMs } = options;
  const child = startGroup(command, { env: { ...process.env, ...env } });
  let killed: string | undefined;
  const kill = (why: string) => {
    killed ??= `killed: ${why}`;
    killGroup(child);
  };
  const timer = setTimeout(() => kill(`it took more than ${timeoutMs / 1000} s`), timeoutMs);
  const ended = endOf(child);
  const output = collectOutput(child);
  beNice(child);
  child.stdin?.on('error', () => {}); // A command may ignore its stdin.
  child.stdin?.end(input);
  const release = onAbort(stop, () => kill('pickaxe ended before it did'));

  const fault = await ended;
  clearTimeout(timer);
  release();
  return { fault: killed ?? fault, output: output() };
}

/**
 * Waits until the command has ended, and then at most `OUTPUT_MS` until its output has ended, too.
 * @returns the failure, for people; undefined for exit code 0
 */
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

/**
 * Reads all output, so that the command never waits for a reader, but keeps only its first `MAX_OUTPUT_BYTES`.
 * @returns a function that stops reading and returns the kept output
 */
function collectOutput({ stdout, stderr }: ChildProcess): () => string {
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
  } catch {} // The command has ended already, or a sandbox forbids the change. The lower priority is not essential.
}
