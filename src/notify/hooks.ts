/**
 * Hooks are commands of the user that run when something happens. They get the notice in their environment and on their stdin.
 * It is never inserted into the command line, because its values can come from a node.
 */

import type { Logger } from 'pino';
import type { Command } from '../system/process-group.ts';
import { jsonText } from '../text/json-text.ts';
import { oneLine } from '../text/one-line.ts';
import { runCommand } from './command.ts';
import type { Notice, NoticeType } from './notice.ts';
import { Queue } from './queue.ts';

export type HookCommands = Readonly<Partial<Record<NoticeType, Command>>>;

interface HookLimits {
  /** A command that takes longer is killed. */
  readonly timeoutMs: number;
  readonly atOnce: number;
  /** How many notices may wait for their command. */
  readonly waiting: number;
}

export const HOOK_LIMITS: HookLimits = { timeoutMs: 30_000, atOnce: 2, waiting: 16 };

export class Hooks {
  readonly #commands: HookCommands;
  readonly #log: Logger;
  readonly #limits: HookLimits;
  readonly #queue: Queue<Notice>;
  /** The hooks whose last run failed. A hook that fails again and again is logged as a warning only once. */
  readonly #failing = new Set<NoticeType>();
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

  readonly tell = (notice: Notice): void => {
    if (this.#commands[notice.type] !== undefined) this.#queue.push(notice);
  };

  /** Waits for the hooks that run or wait. One time limit applies to all of them together. */
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
    const said = output === '' ? '' : `; its output: "${oneLine(output)}"`;
    if (fault === undefined) {
      this.#failing.delete(type);
      this.#log.debug({ tag: 'hook' }, `${type}: its command has run${said}`);
      return;
    }
    const level = this.#failing.has(type) ? 'debug' : 'warn';
    this.#failing.add(type);
    this.#log[level]({ tag: 'hook' }, `${type}: its command failed (${fault})${said}`);
  }
}

/**
 * @returns `PICKAXE_EVENT` with the notice's type, and `PICKAXE_EVENT_DEVICE` … with its fields: `hardwareErrors` becomes
 * `PICKAXE_EVENT_HARDWARE_ERRORS`. Other variables with the prefix `PICKAXE_` are settings.
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
 * Replaces characters that could be dangerous in a command line. cmd.exe inserts the value of `%NAME%` before it parses the line,
 * so quotes do not help, and only characters without a meaning for cmd.exe and PowerShell are kept. Characters beyond ASCII are
 * replaced, too, because in the system's code page Windows converts some of them to quotes. A list is run without cmd.exe, but
 * its program may start cmd.exe.
 */
function inertOnWindows(text: string): string {
  return text.replace(/[^A-Za-z0-9 .,:/_+=@#-]/g, '_');
}
