/** A WorkSource for a pool: a stratum client that keeps one connection, and opens a new one when that has ended. */

import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Backoff } from '../../../base/net/backoff.ts';
import { isPrivate, type PeerStream, TCP_CONNECTING } from '../../../base/net/connecting.ts';
import {
  authoritiesOf,
  BY_AUTHORITY,
  distrust,
  JUDGED_TLS,
  TCP_KEEP_ALIVE_MS,
  type Trust,
} from '../../../base/net/tls-trust.ts';
import { aborted, onAbort, pause, within } from '../../../base/system/abort.ts';
import { type Clock, watchSuspension } from '../../../base/system/clock.ts';
import { type PoolAddress, parsePoolUrl } from '../../../base/text/addresses.ts';
import type { Solution } from '../../../protocol/chain/verify.ts';
import { creationTimeOf, type Work } from '../../../protocol/chain/work.ts';
import { Announcements } from '../announcements.ts';
import { BaseSource } from '../complete-source.ts';
import {
  complete,
  type Judge,
  listeningUntil,
  type NamedNetwork,
  type SourceContext,
  type UpdateListener,
  type Verdict,
} from '../source.ts';
import { type PoolAccount, PoolSession } from './client-session.ts';
import { PoolHealth } from './pool-health.ts';
import { type PoolLimits, poolLimits } from './pool-limits.ts';
import { connectionError, PoolError, type Reconnect } from './pool-messages.ts';

export interface PoolSourceOptions extends PoolAccount {
  /** The pool's URL: `stratum+tcp://host:port` or `stratum+ssl://host:port`. */
  readonly url: string;
  /** The pool's name for people. The default is its URL. */
  readonly name?: string;
  /** How the pool's certificate is checked if it uses TLS. By default an authority must have signed the certificate. */
  readonly trust?: Trust;
  readonly userAgent?: string;
  /** The difficulty to suggest to the pool, in the pool's own unit. By default none is suggested. */
  readonly difficulty?: number | undefined;
  /** Whether the pool may redirect this miner to other hosts. */
  readonly allowReconnect?: boolean;
  /** The network to mine for: the pool cannot be used if it gives work of another one. Not checked by default. */
  readonly network?: NamedNetwork | undefined;
}

export interface PoolSourceContext extends SourceContext<PoolLimits> {
  /** Opens each connection to the pool. The default connects with TCP or TLS. */
  readonly openConnection?: OpenConnection;
}

/**
 * Returns an open connection, over which nothing was sent yet. Throws an Error if the connection cannot be opened
 * within `timeoutMs`, if `stop` fires, or if the certificate or the address is not acceptable.
 */
export type OpenConnection = (
  address: PoolAddress,
  options: ConnectionOptions,
  stop: AbortSignal,
) => Promise<PeerStream>;

export class PoolSource extends BaseSource {
  readonly name: string;
  readonly kind = 'pool';
  readonly #address: PoolAddress;
  readonly #options: PoolSourceOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #limits: PoolLimits;
  readonly #openConnection: OpenConnection;
  readonly #announcements: Announcements;
  readonly #health: PoolHealth;
  readonly #origins = new WeakMap<Work, PoolSession>();
  #listener: UpdateListener = () => {};
  #session: PoolSession | undefined;

  /** @throws Error if the URL is not the URL of a pool */
  constructor(options: PoolSourceOptions, context: PoolSourceContext = {}) {
    super();
    const { clock, random, emit, limits } = complete(context, poolLimits);
    const address = parsePoolUrl(options.url);
    if (!address) throw new Error(`"${options.url}" is not a pool URL: write it like stratum+tcp://pool.example:3333`);
    this.#address = address;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#limits = limits;
    this.#openConnection = context.openConnection ?? openConnection;
    this.name = options.name ?? address.url;
    this.#announcements = new Announcements(this.kind, this.name, emit);
    this.#health = new PoolHealth(
      clock,
      random,
      this.#limits,
      (fault, news) => this.#announcements.judgedAlone(fault, news),
      (why) => this.#renew(why),
    );
  }

  /** May be called again after an earlier call has settled: failover closes a pool on standby and starts it again. */
  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    this.#listener = listeningUntil(stop, listener);
    this.#announcements.started();
    const ending = new AbortController();
    this.#health.start();
    const running = this.#keepConnected(ending.signal);
    const endWatch = watchSuspension(this.#clock, (ms) => this.#resumed(ms));
    try {
      await Promise.race([aborted(stop), running]);
    } finally {
      endWatch();
      this.#health.stop();
      // Waits for the answers to shares that were sent, up to a time limit.
      await Promise.race([
        this.#session?.shares.settled(),
        pause(this.#clock, this.#limits.submitAfterStopMs, ending.signal),
      ]);
      ending.abort();
      await running;
    }
  }

  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const session = this.#origins.get(solution.work);
    if (!session) return { outcome: 'unknown', reason: 'this pool did not give this work' };
    return await session.shares.submit(solution, stop);
  }

  /** A pool's work keeps its creation time, because a share names only a nonce. */
  latestTimeUs(work: Work): bigint {
    return creationTimeOf(work.header);
  }

  override async answers(): Promise<boolean> {
    return this.#session?.shares.areAnswered() ?? true;
  }

  override onHealth(judge: Judge): void {
    this.#health.judge = judge;
  }

  async #keepConnected(stop: AbortSignal): Promise<void> {
    const pauses = new Backoff(this.#limits.pauses, this.#random);
    const refusedPauses = new Backoff(this.#limits.refusedPauses, this.#random);
    let next: Reconnect | undefined;
    while (!stop.aborted) {
      const { why, workMs } = await this.#connect(next, stop);
      if (stop.aborted) return;
      this.#lose(why.message);
      const { steadyMs, refusedSteadyMs } = this.#limits;
      if (workMs >= (why.fault === 'refused' ? refusedSteadyMs : steadyMs)) {
        pauses.reset();
        refusedPauses.reset();
      }
      // A redirection applies to one connection. After that, the configured address is used again.
      next = why.next;
      await pause(this.#clock, (why.fault === 'refused' ? refusedPauses : pauses).nextMs(next?.waitMs), stop);
    }
  }

  /**
   * Opens a connection and keeps it until it ends.
   * @param next the connection that the pool has asked for, if it has
   * @returns `why` the connection ended, and `workMs`, the time from its first work to its end; 0 if it gave no work
   */
  async #connect(
    next: Reconnect | undefined,
    stop: AbortSignal,
  ): Promise<{ readonly why: PoolError; readonly workMs: number }> {
    const { trust = BY_AUTHORITY } = this.#options;
    const { address, mustBePublic } = next ?? { address: this.#address, mustBePublic: false };
    let socket: PeerStream;
    try {
      const timeoutMs = this.#limits.connectTimeoutMs;
      socket = await this.#openConnection(address, { trust, timeoutMs, mustBePublic, clock: this.#clock }, stop);
    } catch (fault) {
      return { why: connectionError(fault, address.url, true), workMs: 0 };
    }
    let gaveWorkAtMs: number | undefined;
    const session = this.#openSession(socket, address, () => {
      gaveWorkAtMs ??= this.#clock.monotonicMs();
    });
    this.#session = session;
    const release = onAbort(stop, () => session.end(new PoolError('intended', 'pickaxe has closed the connection.')));
    const why = await session.run();
    release();
    this.#session = undefined;
    return { why, workMs: gaveWorkAtMs === undefined ? 0 : this.#clock.monotonicMs() - gaveWorkAtMs };
  }

  #openSession(socket: PeerStream, address: PoolAddress, onFirstWork: () => void): PoolSession {
    const { user, password, userAgent = 'pickaxe', difficulty, allowReconnect = false, network } = this.#options;
    const askedAtMs = this.#clock.monotonicMs();
    let isFirst = true;
    const session: PoolSession = new PoolSession(socket, {
      address,
      account: { user, password },
      userAgent,
      difficulty,
      allowReconnect,
      network,
      clock: this.#clock,
      limits: this.#limits,
      health: this.#health,
      onStale: (works, reason) => this.#listener({ kind: 'stale', works, reason }),
      onNote: (state, reason) => this.#announcements.note(state, reason),
      onWork: (work) => {
        this.#origins.set(work, session);
        this.#announcements.reached();
        if (isFirst) this.#announcements.gaveWork(this.#clock.monotonicMs() - askedAtMs);
        isFirst = false;
        onFirstWork();
        this.#listener({ kind: 'work', work });
      },
    });
    return session;
  }

  #renew(why: string): void {
    this.#session?.end(new PoolError('intended', `it ${why}, so pickaxe connects and authorizes again.`));
  }

  #lose(reason: string): void {
    const wasLost = this.#announcements.isLost;
    this.#announcements.lost(reason);
    if (!wasLost) this.#listener({ kind: 'lost', reason });
  }

  /**
   * Called after a suspension of the machine or process. The pool has probably ended the connection, and its jobs are
   * old.
   * @param ms the duration of the suspension
   */
  #resumed(ms: number): void {
    const seconds = Math.round(ms / 1000);
    this.#announcements.note('info', `this machine or process was suspended for ${seconds} s: connecting again`);
    this.#session?.end(new PoolError('intended', 'the connection was too old after the suspension.'));
  }
}

interface ConnectionOptions {
  readonly trust: Trust;
  readonly timeoutMs: number;
  /** Whether the connection is refused if the host has a private address. */
  readonly mustBePublic: boolean;
  readonly clock: Clock;
}

/**
 * @returns an open connection, over which nothing was sent yet
 * @throws PoolError if the connection cannot be opened, or the certificate or the address is not acceptable
 */
export async function openConnection(
  { host, port, tls, url }: PoolAddress,
  { trust, timeoutMs, mustBePublic, clock }: ConnectionOptions,
  stop: AbortSignal,
): Promise<Socket> {
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS };
  const options = { host, port, noDelay: true, ...keepAlive, ...TCP_CONNECTING };
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = tls
    ? connectTls({ ...options, ...servername, ...JUDGED_TLS, ...authoritiesOf(trust) })
    : connect(options);
  // `once` removes its listeners when the connection is open. After that, an error without a listener would end the
  // process.
  socket.on('error', () => {});
  try {
    await within(clock, timeoutMs, stop, async (signal) => {
      const release = onAbort(signal, () => socket.destroy(signal.reason));
      try {
        await once(socket, tls ? 'secureConnect' : 'connect');
      } finally {
        release();
      }
    });
  } catch (fault) {
    socket.destroy();
    throw connectionError(fault, url, true);
  }
  // The address of a host name is known only after connecting.
  if (mustBePublic && isPrivate(socket.remoteAddress ?? '')) {
    socket.destroy();
    throw new PoolError('refused', `${url} is in a private network, and a pool of the Internet cannot lead there.`);
  }
  const fault = tls ? distrust(socket as TLSSocket, { kind: 'pool', origin: url }, trust) : undefined;
  if (!fault) return socket;
  socket.destroy();
  throw new PoolError('refused', fault.message, { fingerprint: fault.fingerprint });
}
