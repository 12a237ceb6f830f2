/**
 * A connection to one of several NATS servers, made again whenever it ends. The client library can reconnect, too. This
 * is not used, because the library keeps messages that are published without a connection, and sends them later, when
 * they are old.
 */

import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { Backoff } from '../../base/net/backoff.ts';
import { onAbort, pause, settledWithin } from '../../base/system/abort.ts';
import { TokenBucket } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { type Link, LinkError, type LinkMessage, type LinkSettings, type LinkState } from './link.ts';
import { denied, PendingRequests } from './pending-requests.ts';

/** Pauses between rounds of attempts. In each round, every server is tried once. */
const BETWEEN_ROUNDS = { firstMs: 500, mostMs: 8_000 };
/** Pauses after rounds in which a server has refused the credentials. The server will hardly accept them soon. */
const BETWEEN_REFUSALS = { firstMs: 5_000, mostMs: 60_000 };
/** Maximum random pause after a failed attempt, or after the end of a connection. */
const SPREAD_MS = 250;
/** Minimum age of a good connection. The end of a good connection resets the pauses. `renew` ends only a good one. */
const GOOD_MS = 10_000;
/** Maximum time for which `close` waits until the server has received the last messages. */
const FLUSH_MS = 500;
/**
 * Capacity and rate of the token bucket for warnings: ten at once, and then one in ten seconds. A server can cause any
 * number of warnings.
 */
const MOST_WARNINGS = 10;
const WARNINGS_PER_SECOND = 0.1;

export interface LinkContext {
  readonly clock: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
  /** Called with a warning, such as that the server denies a subject. At most ten come at once, then one in 10 s. */
  readonly warn?: (message: string) => void;
}

type Client = typeof import('./nats-client.ts');

interface Subscription {
  readonly subject: string;
  readonly listener: (message: LinkMessage) => void;
  readonly queue: string | undefined;
  /** Ends the subscription on the present connection; does nothing without a connection. */
  end: () => void;
}

/** A connection that is open now. */
interface Session {
  readonly client: Client;
  readonly connection: NatsConnection;
  readonly requests: PendingRequests;
  readonly sinceMs: number;
  /** Whether the server has denied the subscription to the inbox, so that no answer can come. */
  isInboxDenied: boolean;
  leave: () => void;
}

export class NatsLink implements Link {
  readonly #settings: LinkSettings;
  readonly #context: LinkContext;
  readonly #servers: readonly string[];
  readonly #warnings: TokenBucket;
  readonly #subscriptions = new Set<Subscription>();
  readonly #listeners = new Set<(state: LinkState) => void>();
  readonly #stop = new AbortController();
  #state: LinkState = { isConnected: false, reason: 'The connection has not been opened yet.' };
  #session: Session | undefined;
  #ended: Promise<void> | undefined;

  constructor(settings: LinkSettings, context: LinkContext) {
    this.#settings = settings;
    this.#context = context;
    // Each member tries the servers in a random order, so that no server gets all members.
    this.#servers = shuffled(settings.servers, context.random);
    this.#warnings = new TokenBucket(MOST_WARNINGS, WARNINGS_PER_SECOND, context.clock.monotonicMs());
  }

  get state(): LinkState {
    return this.#state;
  }

  onState(listener: (state: LinkState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Begins to connect in the background. Failures are not thrown: they only appear in `state`. */
  open(): void {
    this.#ended ??= this.#run();
  }

  /** Ends the connection for good, after at most `FLUSH_MS` in which the server can receive the last messages. */
  async close(): Promise<void> {
    const flushed = this.#session?.connection.flush().catch(() => {});
    if (flushed) await settledWithin(this.#context.clock, flushed, FLUSH_MS);
    this.#stop.abort();
    await this.#ended;
    this.#change({ isConnected: false, reason: 'The connection was closed.' });
  }

  renew(): void {
    const session = this.#session;
    if (session && this.#context.clock.monotonicMs() - session.sinceMs >= GOOD_MS) session.leave();
  }

  subscribe(subject: string, listener: (message: LinkMessage) => void, queue?: string): () => void {
    const subscription: Subscription = { subject, listener, queue, end: () => {} };
    this.#subscriptions.add(subscription);
    if (this.#open) this.#begin(subscription, this.#open);
    return () => {
      this.#subscriptions.delete(subscription);
      subscription.end();
    };
  }

  publish(subject: string, data: Uint8Array): boolean {
    const session = this.#open;
    if (!session) return false;
    try {
      session.connection.publish(subject, data);
      return true;
    } catch (fault) {
      this.#warn(`A message to ${subject} was not sent: ${oneLine(String(fault), 200)}.`);
      return false;
    }
  }

  async request(subject: string, data: Uint8Array, timeoutMs: number, stop: AbortSignal): Promise<Uint8Array> {
    const session = this.#open;
    if (!session) throw new LinkError('disconnected', 'there is no connection to a NATS server');
    if (session.isInboxDenied) throw denied();
    return session.requests.start(subject, timeoutMs, stop, (reply) => {
      try {
        session.connection.publish(subject, data, { reply });
      } catch (fault) {
        throw new LinkError('denied', `it cannot be sent: ${oneLine(String(fault), 200)}`, { cause: fault });
      }
    });
  }

  /**
   * The session whose connection is open; undefined without one. When a connection ends, the client library detects
   * this a moment before `#session` is reset.
   */
  get #open(): Session | undefined {
    return this.#session?.connection.isClosed() ? undefined : this.#session;
  }

  /* Connecting */

  async #run(): Promise<void> {
    const { random } = this.#context;
    const stop = this.#stop.signal;
    // The client library takes long to load, so a process that opens no link does not load it.
    const client = await import('./nats-client.ts');
    const ordinary = new Backoff(BETWEEN_ROUNDS, random);
    const slow = new Backoff(BETWEEN_REFUSALS, random);
    while (!stop.aborted) {
      let wasRefused = false;
      for (const server of this.#servers) {
        const { refused, wasGood } = await this.#attempt(server, client);
        if (stop.aborted) return;
        wasRefused ||= refused;
        if (wasGood) {
          wasRefused = false;
          ordinary.reset();
          slow.reset();
        }
        // Thousands of members may have lost the same server just now. They should not all connect at the same moment.
        await pause(this.#context.clock, SPREAD_MS * random(), stop);
      }
      await pause(this.#context.clock, (wasRefused ? slow : ordinary).nextMs(), stop);
    }
  }

  /**
   * Connects to a server, and waits until the connection has ended.
   * @returns `refused`: whether the server has refused the credentials; `wasGood`: whether the connection was a good
   *   one (see `GOOD_MS`)
   */
  async #attempt(server: string, client: Client): Promise<{ refused: boolean; wasGood: boolean }> {
    const { clock } = this.#context;
    const end = new AbortController();
    const release = onAbort(this.#stop.signal, () => end.abort());
    let wasLeft = false;
    const leave = () => {
      wasLeft = true;
      end.abort();
    };
    const startedMs = clock.monotonicMs();
    let fault: unknown;
    try {
      const connection = await client.connectTo(server, this.#settings, end.signal);
      fault = await this.#use(client, connection, server, leave);
    } catch (thrown) {
      fault = thrown;
    } finally {
      release();
      end.abort();
    }
    const { reason, isRefusal } = wasLeft
      ? { reason: `${server} was left, because nothing was received from it.`, isRefusal: false }
      : client.faultOf(fault, server, this.#settings.credentials !== undefined);
    if (!this.#stop.signal.aborted) this.#change({ isConnected: false, reason });
    return { refused: isRefusal, wasGood: clock.monotonicMs() - startedMs >= GOOD_MS && !isRefusal };
  }

  /** Uses a connection until it ends. @returns why it has ended; undefined if the client library has no reason */
  async #use(client: Client, connection: NatsConnection, server: string, leave: () => void): Promise<unknown> {
    const requests = new PendingRequests(this.#settings.inbox, this.#context.clock);
    const sinceMs = this.#context.clock.monotonicMs();
    const session: Session = { client, connection, requests, sinceMs, isInboxDenied: false, leave };
    this.#session = session;
    try {
      this.#listen(session);
      this.#change({ isConnected: true, server });
      return (await connection.closed()) ?? undefined;
    } finally {
      this.#session = undefined;
      for (const subscription of this.#subscriptions) subscription.end = () => {};
      requests.end('timeout', 'the connection to the NATS server ended before an answer came');
    }
  }

  #listen(session: Session): void {
    const { connection, requests } = session;
    connection.subscribe(requests.answers, {
      callback: (fault, message) => {
        if (!fault) return requests.onAnswer(message.subject, message.data, isFromNobody(message));
        session.isInboxDenied = true;
        requests.end('denied', denied().message);
        this.#warnOfDenial(requests.answers, 'subscribe to');
      },
    });
    for (const subscription of this.#subscriptions) this.#begin(subscription, session);
    void this.#watch(session);
  }

  #begin(subscription: Subscription, { connection }: Session): void {
    const { subject, listener, queue } = subscription;
    const inner = connection.subscribe(subject, {
      ...(queue !== undefined && { queue }),
      callback: (fault, message) => {
        if (fault) return this.#warnOfDenial(subject, 'subscribe to');
        try {
          listener({ subject: message.subject, data: message.data, reply: message.reply || undefined });
        } catch (mistake) {
          // The error must end the process. If the client library caught it, the library would only print it, and stop
          // reading messages.
          queueMicrotask(() => {
            throw mistake;
          });
        }
      },
    });
    subscription.end = () => inner.unsubscribe();
  }

  /** Handles the denials of published messages. The server reports one denial for each message, some time after it. */
  async #watch({ client, connection, requests }: Session): Promise<void> {
    for await (const status of connection.status()) {
      const subject = client.deniedPublication(status);
      if (subject === undefined) continue;
      requests.deny(subject);
      this.#warnOfDenial(subject, 'publish to');
    }
  }

  #warnOfDenial(subject: string, verb: string): void {
    const remedy = 'If an earlier version of pickaxe wrote its configuration, let pickaxe fleet keys write it anew.';
    this.#warn(`The NATS server does not permit this account to ${verb} ${oneLine(subject, 200)}. ${remedy}`);
  }

  #warn(message: string): void {
    const { warn, clock } = this.#context;
    if (warn && this.#warnings.take(1, clock.monotonicMs())) warn(message);
  }

  #change(state: LinkState): void {
    const before = this.#state;
    if (!before.isConnected && !state.isConnected && before.reason === state.reason) return;
    this.#state = state;
    for (const listener of [...this.#listeners]) listener(state);
  }
}

/** Whether the message is the server's answer that nobody has subscribed to the subject of the request. */
function isFromNobody(message: Msg): boolean {
  if (message.data.length > 0) return false;
  try {
    return message.headers?.code === 503;
  } catch {
    return false; // Another member has sent headers that the client cannot read.
  }
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const keyed = list.map((each) => ({ each, key: random() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ each }) => each);
}
