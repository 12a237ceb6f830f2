/**
 * A NATS server in memory. Each link keeps the order of its messages. A link can be cut, held (its messages arrive
 * late, in order) and slow; messages can come twice.
 */

import { onAbort } from '#pickaxe/base/system/abort.js';
import { type Link, LinkError, type LinkMessage, type LinkState } from '#pickaxe/fleet/nats/link.js';
import type { Random } from '#pickaxe/mock-node/random.js';
import { matches } from '../fleet/nats/fake-nats.ts';
import type { SimulatedProcess } from './virtual-time.ts';

interface Subscription {
  readonly link: SimulatedLink;
  readonly subject: string;
  readonly listener: (message: LinkMessage) => void;
  readonly queue: string | undefined;
}

type Count = (member: SimulatedProcess, subject: string) => void;

const CUT: LinkState = { isConnected: false, reason: 'the connection was cut' };
const CONNECTED: LinkState = { isConnected: true, server: 'nats://simulated' };

export class SimulatedNats {
  readonly links = new Set<SimulatedLink>();
  readonly subscriptions = new Set<Subscription>();
  /** Fraction of the messages that arrive twice. */
  repeated = 0;
  readonly #random: Random;
  readonly #count: Count;

  /** @param count called with each message that a member sends */
  constructor(random: Random, count: Count = () => {}) {
    this.#random = random;
    this.#count = count;
  }

  /** @param inbox first part of the subjects on which the member receives answers */
  connect(member: SimulatedProcess, inbox: string): SimulatedLink {
    const link = new SimulatedLink(this, member, inbox, this.#random, this.#count);
    this.links.add(link);
    return link;
  }

  /** Delivers a message to every subscriber, and to one member of each queue group. @returns their number */
  route(message: LinkMessage): number {
    const receivers: Subscription[] = [];
    const groups = new Map<string, Subscription[]>();
    for (const each of this.subscriptions) {
      if (!each.link.state.isConnected || !matches(each.subject, message.subject)) continue;
      if (each.queue === undefined) receivers.push(each);
      else groups.set(each.queue, [...(groups.get(each.queue) ?? []), each]);
    }
    for (const group of groups.values()) receivers.push(group[Math.floor(this.#random() * group.length)]);
    for (const each of receivers) each.link.deliver(each, message);
    return receivers.length;
  }
}

export class SimulatedLink implements Link {
  readonly member: SimulatedProcess;
  /** Virtual time (ms) until which nothing passes, in either direction. */
  heldUntilMs = 0;
  /** When the connection was last lost or made again, in virtual time (ms). */
  changedMs = 0;
  #state: LinkState = CONNECTED;
  readonly #nats: SimulatedNats;
  readonly #inbox: string;
  readonly #random: Random;
  readonly #count: Count;
  readonly #listeners = new Set<(state: LinkState) => void>();
  readonly #waiting = new Map<string, (data: Uint8Array | LinkError) => void>();
  #requests = 0;
  /** Number of the connection. What was on its way when a connection ended is lost. */
  #connection = 0;
  #lastOutMs = 0;
  #lastInMs = 0;

  constructor(nats: SimulatedNats, member: SimulatedProcess, inbox: string, random: Random, count: Count) {
    this.#count = count;
    this.#nats = nats;
    this.member = member;
    this.#inbox = `${inbox}.${Math.floor(random() * 1e15).toString(36)}`;
    this.#random = random;
    member.onKill(() => this.close());
    member.onReconnection(() => this.cut(3_000 * random()));
    this.#subscribeToAnswers();
  }

  get state(): LinkState {
    return this.#state;
  }

  onState(listener: (state: LinkState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  subscribe(subject: string, listener: (message: LinkMessage) => void, queue?: string): () => void {
    const subscription: Subscription = { link: this, subject, listener, queue };
    this.#nats.subscriptions.add(subscription);
    return () => this.#nats.subscriptions.delete(subscription);
  }

  publish(subject: string, data: Uint8Array): boolean {
    if (!this.#state.isConnected) return false;
    this.#count(this.member, subject);
    const message: LinkMessage = { subject, data: Uint8Array.from(data), reply: undefined };
    this.#out(() => void this.#nats.route(message));
    return true;
  }

  request(subject: string, data: Uint8Array, timeoutMs: number, stop: AbortSignal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (stop.aborted) return reject(stop.reason);
      if (!this.#state.isConnected) return reject(new LinkError('disconnected', 'there is no connection'));
      this.#count(this.member, subject);
      const reply = `${this.#inbox}.${this.#requests++}`;
      const end = (answer: Uint8Array | LinkError | undefined) => {
        timer.cancel();
        release();
        this.#waiting.delete(reply);
        if (answer instanceof Uint8Array) resolve(answer);
        else reject(answer ?? stop.reason);
      };
      const timer = this.member.clock.setTimeout(() => end(new LinkError('timeout', 'there was no answer')), timeoutMs);
      const release = onAbort(stop, () => end(undefined));
      this.#waiting.set(reply, end);
      const message: LinkMessage = { subject, data: Uint8Array.from(data), reply };
      this.#out(() => {
        if (this.#nats.route(message) > 0) return;
        this.#in(() => this.#waiting.get(reply)?.(new LinkError('no-responders', 'nobody takes such requests now')));
      });
    });
  }

  /** As a real link, it leaves a server from which nothing comes; here the connection is lost for a moment. */
  renew(): void {
    this.cut(1_000 * this.#random());
  }

  /** Cuts the connection for a while. */
  cut(ms: number): void {
    if (!this.#state.isConnected) return;
    this.#connection++;
    this.#change(CUT);
    for (const end of [...this.#waiting.values()]) end(new LinkError('timeout', 'the connection ended'));
    void this.member.sleep(ms).then(() => this.#change(CONNECTED));
  }

  /** Called by the server. */
  deliver(to: Subscription, message: LinkMessage): void {
    const take = () => {
      if (this.#nats.subscriptions.has(to)) to.listener({ ...message, data: Uint8Array.from(message.data) });
    };
    this.#in(take);
    if (this.#random() < this.#nats.repeated) this.#in(take);
  }

  #change(state: LinkState): void {
    this.#state = state;
    this.changedMs = this.member.virtualMs;
    for (const listener of [...this.#listeners]) listener(state);
  }

  /** Ends the connection for good. */
  close(): void {
    this.#connection++;
    this.#nats.links.delete(this);
    for (const each of [...this.#nats.subscriptions]) if (each.link === this) this.#nats.subscriptions.delete(each);
  }

  #subscribeToAnswers(): void {
    this.subscribe(`${this.#inbox}.*`, ({ subject, data }) => this.#waiting.get(subject)?.(data));
  }

  /** Most messages take some milliseconds, and one in a hundred up to a second. */
  #arrivalMs(lastMs: number): number {
    const late = this.#random() < 0.01 ? this.#random() * 800 : 0;
    const nowMs = this.member.virtualMs;
    return Math.max(nowMs + 0.2 + this.#random() * 4 + late, lastMs, this.heldUntilMs);
  }

  #out(act: () => void): void {
    this.#lastOutMs = this.#arrivalMs(this.#lastOutMs);
    this.#later(this.#lastOutMs, act);
  }

  #in(act: () => void): void {
    this.#lastInMs = this.#arrivalMs(this.#lastInMs);
    this.#later(this.#lastInMs, act);
  }

  #later(atMs: number, act: () => void): void {
    const connection = this.#connection;
    this.member.after(atMs - this.member.virtualMs, () => {
      if (connection === this.#connection) act();
    });
  }
}
