/** The lines of the log as JSON: their shape, the options that make pino write it, and the last of them for the API. */

import type { LoggerOptions } from 'pino';
import { z } from 'zod';
import { OUTCOMES } from '../source/vocabulary.ts';
import type { LogAnswer } from './answers.ts';
import { millis } from './shapes.ts';

/** From the least urgent to the most urgent. */
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** A line of `--log-format json`. */
export const LogLine = z.object({
  level: z.enum(LEVELS),
  timeMillis: millis,
  tag: z.string().describe('what it is about: miner, node, cpu, …'),
  outcome: z.enum(OUTCOMES).exactOptional().describe('what became of a block, in the line that says so'),
  isSnippet: z
    .literal(true)
    .exactOptional()
    .describe('the message is a line of a text to be copied, whose indentation counts'),
  message: z.string(),
});
export type LogLine = z.infer<typeof LogLine>;

/** Every logger of pickaxe needs a child with a `tag`, or a tag in each line. */
export const LOG_LINE_OPTIONS = {
  base: null,
  messageKey: 'message',
  timestamp: () => `,"timeMillis":${Date.now()}`,
  formatters: { level: (level) => ({ level }) },
} as const satisfies LoggerOptions;

/** @returns the line as JSON, its newline included */
export function logLineAsJson(line: LogLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** @returns whether a line of one level is at least as urgent as another level */
export function isAtLeast(level: LogLine['level'], least: LogLine['level']): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

/* Keeps the last lines of the log, numbered, for the API. */

/** About an hour of mining. */
const MOST_LINES = 500;
/** A longer message is cut: some quote what a node answered. */
const MOST_CHARACTERS = 1_000;

type KeptLine = LogAnswer['lines'][number];

/** One of the streams that the log writes to. */
export class LogTail {
  readonly #lines: KeptLine[] = [];
  /** The number of the last line: 1, 2, 3 … */
  #last = 0;

  /** @param json a line of the log. Lines below `info` are not kept */
  write(json: string): void {
    const { level, timeMillis, tag, message } = JSON.parse(json) as LogLine;
    if (!isAtLeast(level, 'info')) return;
    this.#lines.push({
      number: ++this.#last,
      timeMillis,
      level: level === 'info' || level === 'warn' ? level : 'error',
      tag: tag ?? '',
      message: (message ?? '').slice(0, MOST_CHARACTERS),
    });
    if (this.#lines.length > MOST_LINES) this.#lines.shift();
  }

  /** The lines with a higher number, oldest first. */
  after(number: number): KeptLine[] {
    return this.#lines.filter((line) => line.number > number);
  }
}
