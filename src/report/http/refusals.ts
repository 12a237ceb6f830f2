/** What was refused, and whom: counted for the metrics, and told in the log, one line a minute at most. */

import type { Logger } from 'pino';

/** Most are codes of errors that were answered; `crowded`, `pipelined`, `unread` and some of `timeout` are cut off without one. */
const REASONS = [
  'bad_request',
  'body_too_large',
  'crowded',
  'forbidden_host',
  'forbidden_origin',
  'headers_too_large',
  'no_token',
  'pipelined',
  'read_only',
  'timeout',
  'too_many_clients',
  'unread',
  'wrong_token',
] as const;
export type Reason = (typeof REASONS)[number];
export type RefusalCounts = Readonly<Record<Reason, number>>;

/** Addresses in one line of the log. */
const MOST_ADDRESSES = 4;

export class Refusals {
  readonly #log: Logger;
  readonly #logMs: number;
  readonly #counts = none();
  /** What the log has not told yet. */
  #untold = none();
  readonly #addresses = new Set<string>();
  #others = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param logMs between two lines of the log */
  constructor(log: Logger, logMs: number) {
    this.#log = log;
    this.#logMs = logMs;
  }

  /** Since the start. */
  get counts(): RefusalCounts {
    return this.#counts;
  }

  /** @param address whose request or connection it was, as far as that is known */
  note(reason: Reason, address: string | undefined): void {
    this.#counts[reason]++;
    this.#untold[reason]++;
    if (address !== undefined) this.#noteAddress(address.replace(/^::ffff:/, ''));
    this.#timer ??= setTimeout(() => this.#tell(), this.#logMs).unref();
  }

  /** Tells what has not been told. */
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
    const counts = REASONS.filter((reason) => this.#untold[reason] > 0);
    const what = counts.map((reason) => `${reason} ${this.#untold[reason]}`).join(', ');
    const from = [...this.#addresses].join(', ') + (this.#others ? ' and others' : '');
    this.#log.warn({ tag: 'http' }, `refused: ${what}${from === '' ? '' : `; from ${from}`}`);
    this.#untold = none();
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
