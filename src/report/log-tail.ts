/** The last lines of the log, numbered, for those who were not there to read them. */

import { pino } from 'pino';

/** An hour or so of mining. */
const MOST_LINES = 500;
/** Of a message: some quote what a node answered. */
const MOST_CHARACTERS = 1_000;

export interface LogLine {
  /** 1, 2, 3 … */
  readonly number: number;
  /** Milliseconds since the UNIX epoch. */
  readonly time: number;
  readonly level: 'info' | 'warn' | 'error';
  /** What it is about: `miner`, `node`, `cpu`, … */
  readonly tag: string;
  readonly message: string;
}

const LEVELS = new Map<number, LogLine['level']>([
  [pino.levels.values.info, 'info'],
  [pino.levels.values.warn, 'warn'],
  [pino.levels.values.error, 'error'],
]);

/** To be one of the log's streams. */
export class LogTail {
  readonly #lines: LogLine[] = [];
  #last = 0;

  /** @param json a line of pino's. What is below `info` is not kept */
  write(json: string): void {
    const { level, time, tag, msg } = JSON.parse(json) as { level: number; time: number; tag?: string; msg?: string };
    if (level < pino.levels.values.info) return;
    this.#lines.push({
      number: ++this.#last,
      time,
      level: LEVELS.get(level) ?? 'error',
      tag: tag ?? '',
      message: (msg ?? '').slice(0, MOST_CHARACTERS),
    });
    if (this.#lines.length > MOST_LINES) this.#lines.shift();
  }

  /** Lines with a higher number, oldest first. */
  after(number: number): LogLine[] {
    return this.#lines.filter((line) => line.number > number);
  }
}
