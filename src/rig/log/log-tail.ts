/** The shape of the log's JSON lines, pino's options for this shape, and the last lines, which the HTTP API serves. */

import type { LoggerOptions } from 'pino';
import { z } from 'zod';
import type { LogAnswer } from '../http/api-answers.ts';
import { millis, outcome } from '../status/shapes.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** A line of `--log-format json`. */
export const LogLine = z
  .object({
    level: z.enum(LEVELS),
    timeMillis: millis,
    tag: z.string().describe('a device, or a part such as `miner`'),
    outcome: outcome.exactOptional().describe('if it reports a block'),
    isSnippet: z.literal(true).exactOptional().describe('`true` in a line of a text to copy'),
    message: z.string().describe('its wording may change'),
  })
  .describe('each line on stderr, and of the log file');
export type LogLine = z.infer<typeof LogLine>;

/** Options with which pino writes lines of this shape. Callers add the `tag`, to each line or to a child logger. */
export const LOG_LINE_OPTIONS = {
  base: null,
  messageKey: 'message',
  timestamp: () => `,"timeMillis":${Date.now()}`,
  formatters: { level: (level) => ({ level }) },
} as const satisfies LoggerOptions;

export function logLineAsJson(line: LogLine): string {
  return `${JSON.stringify(line)}\n`;
}

export function isAtLeast(level: LogLine['level'], least: LogLine['level']): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

/* The last lines of the log, numbered */

/** Number of lines that are kept: about an hour of mining. */
const MOST_LINES = 500;
/** Maximum length of a kept message in UTF-16 units. A message that quotes a node's answer can be long. */
const MOST_CHARACTERS = 1_000;

type KeptLine = LogAnswer['lines'][number];

/** Keeps the last lines of the log. It is a destination stream of pino. */
export class LogTail {
  readonly #lines: KeptLine[] = [];
  /** Number of the last kept line, counted from 1; 0 before the first line. */
  #last = 0;

  /** @param json a line of the log. It is kept if its level is at least `info` */
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

  after(number: number): KeptLine[] {
    return this.#lines.filter((line) => line.number > number);
  }
}
