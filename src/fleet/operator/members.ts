/** The last message of each member of one kind (rigs, or coordinators), within bounds. Pure. */

import { BoundedMap, TokenBucket } from '../../base/system/bounded.ts';
import type { Ignored } from './fleet-status.ts';

/** Time without a message after which a member is dropped: a day. */
const FORGET_MS = 86_400_000;
/** Time since the last alternation of two instances for which a name counts as that of two members. */
const DUPLICATE_MS = 60_000;

interface Rate {
  /** Maximum number of messages at once. */
  readonly most: number;
  readonly perSecond: number;
}

interface MembersOptions {
  readonly most: number;
  /** Time without a message after which a member is unresponsive. */
  readonly unresponsiveMs: number;
  /** Maximum rate of messages of one member. */
  readonly rate: Rate;
  /** Maximum rate of messages of all members together, which also bounds a flood under many names. */
  readonly rateOfAll: Rate;
  /** Maximum rate of bytes of all members together, because long messages take long to parse. */
  readonly bytesOfAll: Rate;
  /** Maximum number of bytes of all kept messages. One message is kept for each member. */
  readonly mostBytes: number;
}

export class Member<Message extends { readonly instance: string }> {
  message: Message;
  /** Length of the message. */
  bytes: number;
  lastMessageMs: number;
  /** The instance before the last one. */
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
  /** By name. The member with the newest message comes last. */
  readonly #members = new Map<string, Member<Message>>();
  /** Number of bytes of all kept messages. */
  #bytes = 0;
  /** By name, including senders of unreadable messages. A dropped name gets a new bucket, within the rate of all. */
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

  /** Must be called before a message is parsed. @returns whether the member may send a message of this length now */
  admits(name: string, bytes: number, nowMs: number): boolean {
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      const { most, perSecond } = this.#options.rate;
      bucket = new TokenBucket(most, perSecond, nowMs);
      this.#buckets.set(name, bucket);
    }
    return bucket.take(1, nowMs) && this.#all.take(1, nowMs) && this.#allBytes.take(bytes, nowMs);
  }

  /** Drops unresponsive members if there is no room. @returns why the message is ignored; undefined if it was taken */
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

  /** @returns all members in the order of their names, without those that have sent nothing for a day */
  all(nowMs: number): [name: string, member: Member<Message>][] {
    for (const [name, { lastMessageMs }] of this.#members) {
      if (nowMs - lastMessageMs <= FORGET_MS) break;
      this.#delete(name);
    }
    return [...this.#members].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
