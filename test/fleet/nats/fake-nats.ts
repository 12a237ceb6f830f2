/** NATS servers in memory, as strict as the real ones in what `Link` shows of them. */

import { type Link, LinkError, type LinkMessage, type LinkState } from '#pickaxe/fleet/nats/link.js';

interface Subscription {
  readonly owner: FakeLink;
  readonly subject: string;
  readonly queue: string | undefined;
  readonly listener: (message: LinkMessage) => void;
}

/** All links of one of these reach each other. */
export class FakeNats {
  readonly links: FakeLink[] = [];
  /** Messages in the order in which they were sent, without answers to inboxes of requests. */
  readonly sent: { readonly by: string; readonly subject: string; readonly data: Uint8Array }[] = [];
  /** Decides for each subscriber whether it gets the message. Replace it to lose messages. */
  delivers: (message: LinkMessage, to: FakeLink) => boolean = () => true;
  /** How long a message takes to a subscriber. Replace it to let messages overtake each other. */
  delayMs: (message: LinkMessage, to: FakeLink) => number = () => 0;
  /** Whether this link may publish to, or subscribe to, the subject. */
  permits: (link: FakeLink, operation: 'publish' | 'subscribe', subject: string) => boolean = () => true;
  readonly #subscriptions = new Set<Subscription>();
  #turn = 0;

  /** @param name of the member; its inbox begins with `inbox` @returns a link that is connected */
  link(name: string, inbox = `pickaxe.inbox.${name}`): FakeLink {
    const link = new FakeLink(this, name, inbox);
    this.links.push(link);
    return link;
  }

  /** @internal */
  add(subscription: Subscription): () => void {
    this.#subscriptions.add(subscription);
    return () => this.#subscriptions.delete(subscription);
  }

  /**
   * Delivers later, in the order of sending, as the real ones do.
   * @internal
   * @returns whether anybody has subscribed to the subject
   */
  send(by: FakeLink, message: LinkMessage): boolean {
    this.sent.push({ by: by.name, subject: message.subject, data: message.data });
    const matching = [...this.#subscriptions].filter(
      ({ owner, subject }) => owner.state.isConnected && matches(subject, message.subject),
    );
    for (const each of chosen(matching, this.#turn++)) {
      if (!this.delivers(message, each.owner)) continue;
      const data = Uint8Array.from(message.data);
      const deliver = () => {
        const isThere = each.owner.state.isConnected && this.#subscriptions.has(each);
        if (isThere) each.listener({ ...message, data });
      };
      const delayMs = this.delayMs(message, each.owner);
      if (delayMs > 0) setTimeout(deliver, delayMs);
      else queueMicrotask(deliver);
    }
    return matching.length > 0;
  }
}

/** One member of each queue group, and everybody outside of groups. */
function chosen(matching: readonly Subscription[], turn: number): readonly Subscription[] {
  const groups = new Map<string, Subscription[]>();
  for (const each of matching) {
    if (each.queue !== undefined) groups.set(each.queue, [...(groups.get(each.queue) ?? []), each]);
  }
  const members = [...groups.values()].map((group) => group[turn % group.length]);
  return matching.filter((each) => each.queue === undefined || members.includes(each));
}

/** Whether the pattern of a subscription matches the subject: `*` is one token, `>` is one or more at the end. */
export function matches(pattern: string, subject: string): boolean {
  const wanted = pattern.split('.');
  const tokens = subject.split('.');
  for (const [i, each] of wanted.entries()) {
    if (each === '>') return tokens.length > i;
    if (i >= tokens.length || (each !== '*' && each !== tokens[i])) return false;
  }
  return wanted.length === tokens.length;
}

const VALID = /^[^\s.]+(\.[^\s.]+)*$/;
const CONNECTED: LinkState = { isConnected: true, server: 'nats://fake:4222' };

export class FakeLink implements Link {
  readonly name: string;
  readonly inbox: string;
  /** Number of calls of `renew`. */
  renewals = 0;
  #state: LinkState = CONNECTED;
  readonly #nats: FakeNats;
  readonly #listeners = new Set<(state: LinkState) => void>();
  readonly #failures = new Set<(fault: LinkError) => void>();
  #requests = 0;

  constructor(nats: FakeNats, name: string, inbox: string) {
    this.#nats = nats;
    this.name = name;
    this.inbox = inbox;
  }

  get state(): LinkState {
    return this.#state;
  }

  onState(listener: (state: LinkState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Requests that wait for an answer fail, because somebody may have got them. */
  disconnect(reason = 'nats://fake:4222 cannot be reached.'): void {
    this.#change({ isConnected: false, reason });
    for (const fail of [...this.#failures]) fail(new LinkError('timeout', 'the connection ended'));
  }

  reconnect(): void {
    this.#change(CONNECTED);
  }

  renew(): void {
    this.renewals += 1;
  }

  subscribe(subject: string, listener: (message: LinkMessage) => void, queue?: string): () => void {
    if (!VALID.test(subject)) throw new Error(`no subject: ${subject}`);
    if (!this.#nats.permits(this, 'subscribe', subject)) return () => {};
    return this.#nats.add({ owner: this, subject, queue, listener });
  }

  publish(subject: string, data: Uint8Array): boolean {
    checkPublished(subject);
    if (!this.#state.isConnected) return false;
    if (this.#nats.permits(this, 'publish', subject)) this.#nats.send(this, { subject, data, reply: undefined });
    return true;
  }

  async request(subject: string, data: Uint8Array, timeoutMs: number, stop: AbortSignal): Promise<Uint8Array> {
    checkPublished(subject);
    if (!this.#state.isConnected) throw new LinkError('disconnected', 'there is no connection');
    if (stop.aborted) throw stop.reason;
    const reply = `${this.inbox}.requests.${++this.#requests}`;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        unsubscribe();
        stop.removeEventListener('abort', onStop);
        this.#failures.delete(fail);
      };
      const fail = (fault: unknown) => {
        end();
        reject(fault);
      };
      const onStop = () => fail(stop.reason);
      stop.addEventListener('abort', onStop);
      this.#failures.add(fail);
      const timer = setTimeout(() => fail(new LinkError('timeout', 'no answer')), timeoutMs);
      const unsubscribe = this.#nats.add({
        owner: this,
        subject: reply,
        queue: undefined,
        listener: (answer) => {
          end();
          resolve(answer.data);
        },
      });
      if (!this.#nats.permits(this, 'publish', subject)) {
        queueMicrotask(() => fail(new LinkError('denied', 'not permitted')));
      } else if (!this.#nats.send(this, { subject, data, reply })) {
        queueMicrotask(() => fail(new LinkError('no-responders', 'nobody')));
      }
    });
  }

  #change(state: LinkState): void {
    if (state.isConnected === this.#state.isConnected) return;
    this.#state = state;
    for (const listener of [...this.#listeners]) listener(state);
  }
}

function checkPublished(subject: string): void {
  if (!VALID.test(subject) || /(^|\.)[*>](\.|$)/.test(subject)) throw new Error(`no subject to publish to: ${subject}`);
}
