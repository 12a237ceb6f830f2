/** Keeps the last lines of the log, numbered, for the API. */

import { isAtLeast, type LogLine } from './log-line.ts';

/** About an hour of mining. */
const MOST_LINES = 500;
/** A longer message is cut: some quote what a node answered. */
const MOST_CHARACTERS = 1_000;

export const LOG_LEVELS = ['info', 'warn', 'error'] as const;

interface KeptLine extends Pick<LogLine, 'timeMillis' | 'tag' | 'message'> {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly level: (typeof LOG_LEVELS)[number];
}

/** One of the streams that the log writes to. */
export class LogTail {
  readonly #lines: KeptLine[] = [];
  #last = 0;

  /** @param json a line of the log. Lines below `info` are not kept */
  write(json: string): void {
    const { level, timeMillis, tag, message } = JSON.parse(json) as LogLine;
    if (!isAtLeast(level, 'info')) return;
    this.#lines.push({
      number: ++this.#last,
      timeMillis,
      level: LOG_LEVELS.find((each) => each === level) ?? 'error',
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
