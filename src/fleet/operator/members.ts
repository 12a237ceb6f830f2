/** Keeps the last message of each member of one kind (rigs, or coordinators), within bounds. Pure. */

import { BoundedMap, TokenBucket } from '../../base/system/bounded.ts';
import type { Ignored } from './fleet-status.ts';

/** Time without a message after which a member is dropped: a day. */
const FORGET_MS = 86_400_000;
/** Time for which a name counts as the name of two members after messages of two instances have alternated. */
const DUPLICATE_MS = 60_000;

interface Rate {
  /** Capacity of the token bucket: the maximum number of messages, or of bytes, at once. */
  readonly most: number;
  /** Number of messages, or of bytes, per second after that. */
  readonly perSecond: number;
}

interface MembersOptions {
  /** Maximum number of members. */
  readonly most: number;
  /** Time without a message after which a member is unresponsive. */
  readonly unresponsiveMs: number;
  /** Maximum rate of messages of one member. */
  readonly rate: Rate;
  /** Maximum rate of messages of all members together. It also limits a flood of messages under many names. */
  readonly rateOfAll: Rate;
  /** Maximum rate of bytes of all members together, because long messages take long to parse. */
  readonly bytesOfAll: Rate;
  /** Maximum total length of the kept messages, in bytes. One message is kept for each member. */
  readonly mostBytes: number;
}

export class Member<Message extends { readonly instance: string }> {
  message: Message;
  /** Length of the message, in bytes. */
  bytes: number;
  /** Time at which the message came (monotonic). */
  lastMessageMs: number;
  /** The instance before the last change of the instance; undefined before the first change. */
  #instanceBefore: string | undefined;
  #alternatedMs = Number.NEGATIVE_INFINITY;

  constructor(message: Message, bytes: number, nowMs: number) {
    this.message = message;
    this.bytes = bytes;
    this.lastMessageMs = nowMs;
  }

  take(message: Message, bytes: number, nowMs: number): void {
    const { instance } = this.message;
    if (message.instance !== instance) {
      // A restarted member has a new instance. An earlier instance comes back only if two members have this name.
      if (message.instance === this.#instanceBefore) this.#alternatedMs = nowMs;
      this.#instanceBefore = instance;
    }
    this.message = message;
    this.bytes = bytes;
    this.lastMessageMs = nowMs;
  }

  isDuplicate(nowMs: number): boolean {
    return nowMs - this.#alternatedMs < DUPLICATE_MS;
  }
}

export class Members<Message extends { readonly instance: string }> {
  readonly #options: MembersOptions;
  /** The members, by name. The member with the newest message comes last. */
  readonly #members = new Map<string, Member<Message>>();
  /** Total length of the kept messages, in bytes. */
  #bytes = 0;
  /**
   * The token bucket of each sender for its messages, by name. A sender of unreadable messages has one, too. If a
   * bucket is dropped, the sender gets a new, full one, but the rate of all members together still applies.
   */
  readonly #buckets: BoundedMap<string, TokenBucket>;
  readonly #all: TokenBucket;
  readonly #allBytes: TokenBucket;

  constructor(options: MembersOptions, nowMs: number) {
    const { most, rateOfAll, bytesOfAll } = options;
    this.#options = options;
    this.#buckets = new BoundedMap(2 * most);
    this.#all = new TokenBucket(rateOfAll.most, rateOfAll.perSecond, nowMs);
    this.#allBytes = new TokenBucket(bytesOfAll.most, bytesOfAll.perSecond, nowMs);
  }

  /**
   * Takes the tokens for a message. Must be called before the message is parsed.
   * @param bytes length of the message
   * @returns whether the message may be parsed
   */
  admits(name: string, bytes: number, nowMs: number): boolean {
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      const { most, perSecond } = this.#options.rate;
      bucket = new TokenBucket(most, perSecond, nowMs);
      this.#buckets.set(name, bucket);
    }
    return bucket.take(1, nowMs) && this.#all.take(1, nowMs) && this.#allBytes.take(bytes, nowMs);
  }

  /**
   * Keeps a message as the last one of its member. If there is no room, drops unresponsive members.
   * @param bytes length of the message
   * @returns why the message is ignored; undefined if it is kept
   */
  take(name: string, message: Message, bytes: number, nowMs: number): Ignored | undefined {
    const { most, mostBytes } = this.#options;
    const member = this.#members.get(name);
    for (const [oldest, { lastMessageMs }] of this.#members) {
      const room = mostBytes - this.#bytes + (member?.bytes ?? 0);
      if ((member || this.#members.size < most) && bytes <= room) break;
      if (oldest === name) continue;
      if (!this.isUnresponsive({ lastMessageMs }, nowMs)) return 'tooManyMembers';
      this.#delete(oldest);
    }
    this.#delete(name);
    member?.take(message, bytes, nowMs);
    this.#members.set(name, member ?? new Member(message, bytes, nowMs));
    this.#bytes += bytes;
    return undefined;
  }

  get(name: string): Member<Message> | undefined {
    return this.#members.get(name);
  }

  isUnresponsive({ lastMessageMs }: Pick<Member<Message>, 'lastMessageMs'>, nowMs: number): boolean {
    return nowMs - lastMessageMs > this.#options.unresponsiveMs;
  }

  #delete(name: string): void {
    this.#bytes -= this.#members.get(name)?.bytes ?? 0;
    this.#members.delete(name);
  }

  /** Drops the members that have sent nothing for a day. @returns the other members in the order of their names */
  all(nowMs: number): [name: string, member: Member<Message>][] {
    for (const [name, { lastMessageMs }] of this.#members) {
      if (nowMs - lastMessageMs <= FORGET_MS) break;
      this.#delete(name);
    }
    return [...this.#members].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
