/** Counts refused requests for the metrics, and logs them with their addresses, at most one line per minute. */

import type { Logger } from 'pino';

/**
 * Most are codes of error answers. Clients are cut off without an answer for `crowded`, `pipelined`, `unread`, and some of
 * `timeout`.
 */
const REASONS = [
  'bad-request',
  'body-too-large',
  'crowded',
  'forbidden-host',
  'forbidden-origin',
  'headers-too-large',
  'no-token',
  'pipelined',
  'read-only',
  'timeout',
  'too-many-clients',
  'unread',
  'wrong-token',
] as const;
export type Reason = (typeof REASONS)[number];
export type RefusalCounts = Readonly<Record<Reason, number>>;

/** A line of the log names at most so many addresses. */
const MOST_ADDRESSES = 4;

export class Refusals {
  readonly #log: Logger;
  readonly #logMs: number;
  readonly #counts = none();
  /** The counts that are not in the log yet. */
  #unlogged = none();
  readonly #addresses = new Set<string>();
  #others = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param logMs the time between two lines of the log */
  constructor(log: Logger, logMs: number) {
    this.#log = log;
    this.#logMs = logMs;
  }

  /** The counts since the start. */
  get counts(): RefusalCounts {
    return this.#counts;
  }

  /** @param address that of the client, as far as it is known */
  note(reason: Reason, address: string | undefined): void {
    this.#counts[reason]++;
    this.#unlogged[reason]++;
    if (address !== undefined) this.#noteAddress(address.replace(/^::ffff:/, ''));
    this.#timer ??= setTimeout(() => this.#tell(), this.#logMs).unref();
  }

  /** Logs what has not been logged yet. */
  close(): void {
    if (this.#timer) this.#tell();
  }

  #noteAddress(address: string): void {
    if (this.#addresses.size < MOST_ADDRESSES) this.#addresses.add(address);
    else if (!this.#addresses.has(address)) this.#others = true;
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = REASONS.filter((reason) => this.#unlogged[reason] > 0);
    const what = counts.map((reason) => `${reason} ${this.#unlogged[reason]}`).join(', ');
    const from = [...this.#addresses].join(', ') + (this.#others ? ' and others' : '');
    this.#log.warn({ tag: 'http' }, `refused: ${what}${from === '' ? '' : `; from ${from}`}`);
    this.#unlogged = none();
    this.#addresses.clear();
    this.#others = false;
  }
}

export function isReason(code: string): code is Reason {
  return (REASONS as readonly string[]).includes(code);
}

function none(): Record<Reason, number> {
  return Object.fromEntries(REASONS.map((reason) => [reason, 0])) as Record<Reason, number>;
}
