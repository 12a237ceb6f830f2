/**
 * Bounds on what others can cause. Collections drop their oldest entries, so that data from outside cannot fill the
 * memory. Buckets limit rates. Refusals are logged together, so that they cannot fill the log.
 */

import type { Clock, Timer } from './clock.ts';

/** A map that keeps only its newest entries. Setting a key again makes its entry the newest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number;

  /** @param most maximum number of entries */
  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#most) this.delete(this.keys().next().value as Key);
    return this;
  }
}

/** A set that keeps only its newest members. Adding a member again makes this member the newest. */
export class BoundedSet<Member> extends Set<Member> {
  readonly #most: number;

  /** @param most maximum number of members */
  constructor(most: number) {
    super();
    this.#most = most;
  }

  override add(member: Member): this {
    this.delete(member);
    super.add(member);
    if (this.size > this.#most) this.delete(this.values().next().value as Member);
    return this;
  }
}

export class TokenBucket {
  readonly #most: number;
  readonly #perMs: number;
  #tokens: number;
  #atMs: number;

  /** @param most capacity, which is also the number of tokens at the start @param perSecond tokens added each second */
  constructor(most: number, perSecond: number, nowMs: number) {
    this.#most = most;
    this.#perMs = perSecond / 1000;
    this.#tokens = most;
    this.#atMs = nowMs;
  }

  /**
   * Takes tokens if there are enough of them.
   * @param count number of tokens to take
   * @param kept number of tokens that must be left in the bucket afterwards
   * @returns whether the tokens were taken
   */
  take(count: number, nowMs: number, kept = 0): boolean {
    this.#tokens = Math.min(this.#most, this.#tokens + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
    if (this.#tokens < count + kept) return false;
    this.#tokens -= count;
    return true;
  }
}

/** Default rate of log lines after a burst: one every ten seconds. */
const PER_SECOND = 0.1;

/** Limits the rate of log lines that others can cause at will. */
export class LogBucket {
  readonly #bucket: TokenBucket;
  #leftOut = 0;

  /** @param most maximum number of lines in a burst @param perSecond number of further lines per second */
  constructor(most: number, nowMs: number, perSecond = PER_SECOND) {
    this.#bucket = new TokenBucket(most, perSecond, nowMs);
  }

  /**
   * Decides whether a line may be logged now.
   * @returns the number of lines that were suppressed since the last logged line; undefined if this one is suppressed
   */
  take(nowMs: number): number | undefined {
    if (!this.#bucket.take(1, nowMs)) {
      this.#leftOut++;
      return undefined;
    }
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    return leftOut;
  }
}

/** Maximum number of addresses in a log line. */
const MOST_ADDRESSES = 4;

/**
 * Counts a server's refusals by their reasons, for metrics. It logs the counts and the clients' addresses, at most once
 * in `logMs`.
 */
export class Refusals<Reason extends string> {
  readonly #clock: Clock;
  readonly #reasons: readonly Reason[];
  readonly #warn: (line: string) => void;
  readonly #logMs: number;
  readonly #counts: Record<Reason, number>;
  /** Number of refusals since the last log line, by reason. */
  #unlogged: Record<Reason, number>;
  readonly #addresses = new Set<string>();
  #others = false;
  #timer: Timer | undefined;

  constructor(clock: Clock, reasons: readonly Reason[], warn: (line: string) => void, logMs: number) {
    this.#clock = clock;
    this.#reasons = reasons;
    this.#warn = warn;
    this.#logMs = logMs;
    this.#counts = this.#none();
    this.#unlogged = this.#none();
  }

  /** Number of refusals since the start, by reason. */
  get counts(): Readonly<Record<Reason, number>> {
    return this.#counts;
  }

  /** @param address the client's address; undefined when it is not known */
  note(reason: Reason, address: string | undefined): void {
    this.#counts[reason]++;
    this.#unlogged[reason]++;
    if (address !== undefined) this.#noteAddress(address.replace(/^::ffff:/, ''));
    this.#timer ??= this.#clock.setTimeout(() => this.#report(), this.#logMs).unref();
  }

  /** Logs the counts that have not been logged yet. */
  close(): void {
    if (this.#timer) this.#report();
  }

  #noteAddress(address: string): void {
    if (this.#addresses.size < MOST_ADDRESSES) this.#addresses.add(address);
    else if (!this.#addresses.has(address)) this.#others = true;
  }

  #report(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const counts = this.#reasons.filter((reason) => this.#unlogged[reason] > 0);
    const what = counts.map((reason) => `${reason} ${this.#unlogged[reason]}`).join(', ');
    const from = [...this.#addresses].join(', ') + (this.#others ? ' and others' : '');
    this.#warn(`refused: ${what}${from === '' ? '' : `; from ${from}`}`);
    this.#unlogged = this.#none();
    this.#addresses.clear();
    this.#others = false;
  }

  #none(): Record<Reason, number> {
    return Object.fromEntries(this.#reasons.map((reason) => [reason, 0])) as Record<Reason, number>;
  }
}
