/** The stratum server: ASICs and other miners connect to it and search the source's work. */

import { BlockList, isIPv4 } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { PeerStream } from '../../../base/net/connecting.ts';
import { LogBucket, Refusals } from '../../../base/system/bounded.ts';
import { type Clock, systemClock } from '../../../base/system/clock.ts';
import type { Work } from '../../../protocol/chain/work.ts';
import type { Listener } from '../../events/events.ts';
import type { SourceUpdate, WorkSource } from '../../source/source.ts';
import { Accounts } from '../accounts.ts';
import { type Relay, RelayedWorks, type RelayLog } from '../relay.ts';
import { plainAddress } from './client-network.ts';
import { ConnectionLimiter, type SharedLines } from './connection-limiter.ts';
import { SharedJobs } from './jobs.ts';
import { type Listen, type Listening, onTcp } from './listening.ts';
import { Nonce1Pool } from './nonce1-pool.ts';
import { Session, Sessions } from './session.ts';
import type { SessionContext } from './session-jobs.ts';
import { type Ledger, ShareLogQuota } from './share-log.ts';
import { Connection, encrypted, HandshakeError, readProxyHeader } from './socket.ts';
import { REFUSALS, type Refusal, type StratumLimits, stratumLimits } from './stratum-limits.ts';
import { StratumClient } from './stratum-messages.ts';
import { RememberedRates } from './vardiff.ts';

const NAME = 'stratum';
/** Penalty points of a client that sends something else than TLS where TLS is required. */
const HANDSHAKE_POINTS = 2;
/** Minimum time between two rounds of disconnecting idle clients while the server is full. */
const ROOM_MS = 1_000;
/** Maximum number of clients that one round disconnects. */
const ROOM_CLIENTS = 100;
/** Maximum number of log lines in a burst about system errors of connections. */
const FAULTS_LOGGED = 10;
/**
 * Maximum number of log lines in a burst about workers' first shares. This number is enough for a farm. A limit is
 * needed because clients can make up any number of workers.
 */
const FIRST_SHARES_LOGGED = 100;

const SHARE_SECONDS = 10;
const NO_LOG: RelayLog = { debug: () => {}, info: () => {}, warn: () => {} };

export interface StratumOptions {
  /** Sessions get jobs only of works that leave the whole nonce free. */
  readonly source: WorkSource;
  readonly emit?: Listener;
  readonly clock?: Clock;
  /** Gets log lines for people. By default nothing is logged. */
  readonly log?: RelayLog;
  /**
   * The host address or name and the port on which the server listens, where port 0 means any free port; or a function
   * that accepts connections in another way.
   */
  readonly listen: { readonly host: string; readonly port: number } | Listen;
  /**
   * The lane of a miner that uses the same source (`MinerOptions.lane`). No session gets this lane. The default is 0.
   */
  readonly lane?: number;
  /** Planned number of seconds between two shares of a session. The default is 10. */
  readonly shareSeconds?: number;
  /**
   * Addresses or networks (such as 10.0.0.0/8) of proxies. Connections from them must begin with a header of the PROXY
   * protocol.
   */
  readonly proxies?: readonly string[];
  /** If given, all clients must use TLS. */
  readonly secureContext?: SecureContext;
  readonly openLedger?: () => Promise<Ledger>;
  readonly limits?: Partial<StratumLimits>;
}

export class StratumRelay implements Relay {
  readonly name = NAME;
  readonly #options: StratumOptions;
  readonly #emit: Listener;
  readonly #clock: Clock;
  readonly #log: RelayLog;
  readonly #limits: StratumLimits;
  readonly #works: RelayedWorks;
  readonly #context: SessionContext;
  readonly #sessions = new Sessions();
  readonly #limiter: ConnectionLimiter;
  readonly #proxies = new BlockList();
  readonly #streams = new Set<PeerStream>();
  readonly #refusals: Refusals<Refusal>;
  readonly #faults: LogBucket;
  /** Number of connections that were refused because the server was full, since idle clients were last disconnected. */
  #withoutRoom = 0;
  #madeRoomMs = 0;
  #listening: Listening | undefined;
  #ledger: Ledger | undefined;
  #count = 0;
  /** Whether a work has gone stale since the last jobs were given. Then the clients must drop their earlier jobs. */
  #isStale = true;
  #hasComplained = false;

  constructor(options: StratumOptions) {
    this.#options = options;
    const { source, emit = () => {}, clock = systemClock, log = NO_LOG, proxies = [] } = options;
    const { lane = 0, shareSeconds = SHARE_SECONDS } = options;
    this.#emit = emit;
    this.#clock = clock;
    this.#log = log;
    const limits = { ...stratumLimits, ...options.limits };
    this.#limits = limits;
    const changed = (_: unknown, update: SourceUpdate) => this.#changed(update);
    const works = new RelayedWorks({ name: NAME, source, emit, clock, changed });
    this.#works = works;
    this.#context = {
      works: {
        get current() {
          const { current } = works;
          return current && hasRoom(current) ? current : undefined;
        },
        judge: (job, nonce) => works.judge(job, nonce),
        isStale: (work) => works.isStale(work),
      },
      jobs: new SharedJobs(works, limits.tickMs),
      nonce1s: new Nonce1Pool({ taken: lane, isStale: (work) => works.isStale(work) }),
      accounts: new Accounts(),
      rates: new RememberedRates(limits.remembered),
      clock,
      limits,
      aimSeconds: shareSeconds,
      learningSeconds: this.#sessions.learningSeconds,
      quota: new ShareLogQuota({
        record: (entry) => this.#ledger?.record(entry),
        clock,
        limits,
      }),
      log,
      firstShares: new LogBucket(FIRST_SHARES_LOGGED, clock.monotonicMs()),
    };
    this.#limiter = new ConnectionLimiter(limits, log, clock.monotonicMs());
    this.#refusals = new Refusals(clock, REFUSALS, (line) => log.warn(line), limits.logMs);
    this.#faults = new LogBucket(FAULTS_LOGGED, clock.monotonicMs());
    for (const proxy of proxies) addTo(this.#proxies, proxy);
  }

  /** The port on which the server listens; undefined before `open` and after the end of `run`. */
  get port(): number | undefined {
    return this.#listening?.port;
  }

  /**
   * Opens the share ledger and begins to listen.
   * @throws Error of the system if the port or the ledger cannot be used
   */
  async open(): Promise<void> {
    const { listen, openLedger } = this.#options;
    const begin = typeof listen === 'function' ? listen : onTcp(listen);
    this.#ledger = await openLedger?.();
    const events = {
      connected: (client: PeerStream) => void this.#meet(client),
      refused: (address: string | undefined) => {
        this.#withoutRoom++;
        this.#refusals.note('full', address);
      },
      failed: (message: string) => this.#logFault(`a connection could not be accepted: ${message}`),
    };
    try {
      this.#listening = await begin(events, this.#limits.connections);
    } catch (fault) {
      await this.#ledger?.close();
      throw fault;
    }
  }

  async run(stop: AbortSignal): Promise<void> {
    const timer = this.#clock.setInterval(() => {
      const nowMs = this.#clock.monotonicMs();
      this.#limiter.serve(nowMs);
      this.#sessions.tick(nowMs);
      this.#makeRoom(nowMs);
      this.#sessions.report(NAME, this.#emit, this.#context, this.#refusals.counts, nowMs);
    }, this.#limits.tickMs);
    try {
      await this.#works.follow(stop);
    } finally {
      timer.cancel();
      await this.#close();
    }
  }

  async #close(): Promise<void> {
    const closed = this.#listening?.close();
    this.#listening = undefined;
    // Sessions are ended at once, because the ledger is closed below. Their streams report their end only later.
    this.#sessions.closeAll();
    for (const stream of this.#streams) stream.destroy();
    await closed;
    this.#context.quota.close();
    this.#refusals.close();
    await this.#ledger?.close();
  }

  /**
   * Disconnects idle clients if other clients were refused because the server was full. Idle clients may connect again.
   */
  #makeRoom(nowMs: number): void {
    if (this.#withoutRoom === 0 || nowMs - this.#madeRoomMs < ROOM_MS) return;
    this.#sessions.makeRoom(Math.min(this.#withoutRoom, ROOM_CLIENTS), nowMs);
    this.#withoutRoom = 0;
    this.#madeRoomMs = nowMs;
  }

  #logFault(line: string): void {
    const unlogged = this.#faults.take(this.#clock.monotonicMs());
    if (unlogged === undefined) return;
    this.#log.warn(unlogged === 0 ? line : `${line}; there were ${unlogged} others`);
  }

  #changed(update: SourceUpdate): void {
    if (update.kind === 'stale') this.#isStale = true;
    const work = this.#works.current;
    if (!work) return;
    if (hasRoom(work)) {
      this.#sessions.giveAll(this.#isStale, this.#clock.monotonicMs());
      this.#isStale = false;
    } else this.#complain();
  }

  #complain(): void {
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    this.#log.warn(`${this.#options.source.name} fixes a part of the nonce, which leaves no room for sessions`);
  }

  /** Accepts or refuses a new connection. A fault ends only this connection. */
  async #meet(stream: PeerStream): Promise<void> {
    const { secureContext } = this.#options;
    const { handshakeMs } = this.#limits;
    let address = plainAddress(stream.remoteAddress ?? '');
    let hasEntered = false;
    this.#streams.add(stream);
    stream.on('error', () => {}); // An 'error' is followed by 'close'.
    stream.once('close', () => {
      this.#streams.delete(stream);
      if (hasEntered) this.#limiter.leave(address);
    });
    try {
      if (address === '') throw new HandshakeError('it has closed the connection');
      if (this.#proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'))
        address = plainAddress((await readProxyHeader(this.#clock, stream, handshakeMs)) ?? address);
      const lines = this.#limiter.enter(address, this.#clock.monotonicMs());
      if (typeof lines === 'string') throw new HandshakeError(lines, lines);
      hasEntered = true;
      const client = secureContext ? await encrypted(this.#clock, stream, secureContext, handshakeMs) : stream;
      this.#begin(client, address, lines);
    } catch (fault) {
      stream.destroy();
      const { message } = fault as Error;
      const line = `${address} was refused: ${message}`;
      if (!(fault instanceof HandshakeError)) return this.#logFault(line);
      const { refusal } = fault;
      this.#log.debug(line);
      if (refusal === undefined) return;
      this.#refusals.note(refusal, address);
      if (hasEntered && refusal === 'handshake')
        this.#limiter.note(address, HANDSHAKE_POINTS, message, this.#clock.monotonicMs());
    }
  }

  #begin(stream: PeerStream, address: string, sharedLines: SharedLines): void {
    const clock = this.#clock;
    const ended = (reason: string, points: number, refusal?: Refusal) => {
      this.#sessions.delete(session);
      session.end();
      if (refusal !== undefined) this.#refusals.note(refusal, address);
      this.#limiter.note(address, points, reason, clock.monotonicMs());
      this.#log.debug(`${address} is disconnected: ${reason}`);
    };
    const connection = new Connection({
      stream,
      address,
      clock,
      limits: this.#limits,
      sharedLines,
      heldUpMs: (nowMs) => this.#limiter.heldUpMs(nowMs),
      ended,
    });
    const client = new StratumClient(connection, this.#limits);
    const session = new Session(++this.#count, this.#context, client);
    this.#sessions.add(session);
    const receive = (line: string) => {
      const request = client.receive(line);
      return request !== undefined && session.receive(request);
    };
    connection.start({ receive, waits: () => session.slowDown() });
  }
}

/** Whether the work leaves the whole nonce free. The low two bytes are needed as the sessions' nonce1. */
function hasRoom({ nonce1 }: Work): boolean {
  return nonce1.bytes === 0;
}

/** @param network an address or a network, such as `192.0.2.1` or `2001:db8::/32` */
function addTo(list: BlockList, network: string): void {
  const [address, bits] = network.split('/');
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
}
