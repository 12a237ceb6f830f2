/** Keeps the last lines of the log, numbered, for the API. */

import { pino } from 'pino';

/** About an hour of mining. */
const MOST_LINES = 500;
/** A longer message is cut: some quote what a node answered. */
const MOST_CHARACTERS = 1_000;

export const LOG_LEVELS = ['info', 'warn', 'error'] as const;

interface LogLine {
  /** 1, 2, 3 … */
  readonly number: number;
  /** Milliseconds since the UNIX epoch. */
  readonly timeMillis: number;
  readonly level: (typeof LOG_LEVELS)[number];
  /** What it is about: `miner`, `node`, `cpu`, … */
  readonly tag: string;
  readonly message: string;
}

const BY_VALUE = new Map(LOG_LEVELS.map((level) => [pino.levels.values[level], level]));

/** One of the streams that the log writes to. */
export class LogTail {
  readonly #lines: LogLine[] = [];
  #last = 0;

  /** @param json a line as pino writes it. Lines below `info` are not kept */
  write(json: string): void {
    const { level, time, tag, msg } = JSON.parse(json) as { level: number; time: number; tag?: string; msg?: string };
    if (level < pino.levels.values.info) return;
    this.#lines.push({
      number: ++this.#last,
      timeMillis: time,
      level: BY_VALUE.get(level) ?? 'error',
      tag: tag ?? '',
      message: (msg ?? '').slice(0, MOST_CHARACTERS),
    });
    if (this.#lines.length > MOST_LINES) this.#lines.shift();
  }

  /** The lines with a higher number, oldest first. */
  after(number: number): LogLine[] {
    return this.#lines.filter((line) => line.number > number);
  }
}
