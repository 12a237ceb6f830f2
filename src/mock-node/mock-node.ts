/**
 * A small node for the demo and the tests: a ledger that can grow by itself, accounts with coins, and servers for the
 * endpoints of documents 1 and 2. It answers like a real node, refuses invalid requests, counts requests, and simulates
 * faults.
 */

import { type Clock, systemClock } from '../base/system/clock.ts';
import { CommandService } from './commands/command-service.ts';
import { Mempool } from './commands/mempool.ts';
import { type ControlEvent, ControlServer } from './control.ts';
import { type CommandEvent, commandEvents } from './execution/block-outputs.ts';
import { BlockRunner } from './execution/block-runner.ts';
import { Genesis } from './execution/genesis.ts';
import { type InternalFaultEvent, reportOnce } from './execution/internal-faults.ts';
import { Ledger, type LedgerEvent } from './ledger/ledger.ts';
import { orStateError, readState, StateRecord } from './ledger/saved-state.ts';
import { type MockNodeOptions, optionsSchema, type Settings } from './options.ts';
import { type CutEvent, CutPipeline } from './p2p/cut-pipeline.ts';
import { type Identity, makeIdentity, PeerClient, Peers } from './p2p/peers.ts';
import { type Random, seededRandom } from './random.ts';
import type { FaultInput } from './server/faults.ts';
import { MockServer, type ServerEvent } from './server/server.ts';

/** The events that `onEvent` receives, for example for a log. */
export type MockNodeEvent = LedgerEvent | CommandEvent | ServerEvent | CutEvent | ControlEvent | InternalFaultEvent;

export interface MockNodeContext {
  readonly clock?: Clock;
  /** Source of random numbers. By default, the option `seed` determines them. */
  readonly random?: Random;
  readonly onEvent?: (event: MockNodeEvent) => void;
  /** What `save` of an earlier node has returned: this node goes on from there. */
  readonly state?: string | undefined;
}

export interface MockNodeAddress {
  /** The URL of the service side: `http://host:port`. */
  readonly url: string;
  /**
   * The base URL of the API: `http://host:port/ledger/0.0/<network>`. With the option `dialect: 'chainweb'`, the path
   * begins with `/chainweb` instead.
   */
  readonly baseUrl: string;
  /** The URL of the P2P side, if the P2P side has a port of its own. */
  readonly p2pUrl?: string;
  /** The URL of the control server, if the option `controlPort` is set. */
  readonly controlUrl?: string;
}

/** Pause between attempts to listen again on a port that another process has taken. */
const PORT_AGAIN_MS = 250;

export class MockNode {
  readonly ledger: Ledger;
  readonly commands: CommandService;
  readonly peers = new Peers();
  /** The service side. If the P2P side has no port of its own, this server also has the endpoints for other nodes. */
  readonly server: MockServer;
  /** The server of the P2P side; undefined if the P2P side has no port of its own. */
  readonly p2p: MockServer | undefined;
  /** The key and the certificate of the P2P side; undefined without TLS. */
  readonly identity: Identity | undefined;
  readonly #record: StateRecord;
  readonly #mempool: Mempool;
  readonly #control: ControlServer | undefined;
  readonly #settings: Settings;
  /** The timer after which the node calls `comeBack`. */
  #return: NodeJS.Timeout | undefined;
  /** `close` aborts it. The abort ends the requests to other nodes, and all attempts to listen again. */
  readonly #closing = new AbortController();

  /**
   * @throws ZodError for invalid options; GenesisError for an account that cannot be created, or a contract that cannot
   *   be loaded; StateError for a state that is none, or that belongs to other options
   */
  constructor(options: MockNodeOptions = {}, context: MockNodeContext = {}) {
    const settings = optionsSchema.parse(options);
    this.#settings = settings;
    const { clock = systemClock, onEvent: emit = () => {} } = context;
    const random = context.random ?? seededRandom(settings.seed ?? Math.floor(Math.random() * 2 ** 32));
    const mempool = new Mempool(random);
    const first = new Genesis(settings);
    const report = reportOnce(emit);
    const transactions = new BlockRunner(mempool, settings, report);
    const stateOf = (chain: number) => first.stateOf(chain);
    const saved = context.state === undefined ? undefined : readState(context.state, settings);
    const around = { clock, random, emit, transactions, stateOf, saved: saved?.first };
    this.ledger = orStateError('a first block cannot be read', () => new Ledger(settings, around));
    this.#mempool = mempool;
    this.commands = new CommandService(this.ledger, mempool, settings, report);
    this.#record = new StateRecord(this.ledger, this.commands, settings);
    if (saved) this.#record.restore(saved);
    this.ledger.followBlocks((block) => commandEvents(block).forEach(emit));
    const { ledger, commands, peers } = this;
    const dialect = settings.dialect === 'chainweb' ? 'chainweb' : 'document';
    const peerClient = new PeerClient(settings.network, dialect, this.#closing.signal);
    const cuts = new CutPipeline(ledger, peers, peerClient, emit);
    const content = { ledger, commands, peers, peerClient, cuts, servicePort: () => this.server.port };
    const apart = settings.p2p !== 'same port';
    const service = { side: apart ? 'service' : 'both', port: settings.port } as const;
    this.server = new MockServer(content, settings, service, { clock, random, emit });
    this.identity = settings.p2p === 'tls' ? makeIdentity() : undefined;
    const p2p = { side: 'p2p', port: settings.p2pPort, identity: this.identity } as const;
    this.p2p = apart ? new MockServer(content, settings, p2p, { clock, random, emit }) : undefined;
    this.#control =
      settings.controlPort === undefined ? undefined : new ControlServer(this, settings.controlPort, emit);
  }

  /** @throws Error if a port is in use */
  async start(): Promise<MockNodeAddress> {
    try {
      return await this.#start();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #start(): Promise<MockNodeAddress> {
    const url = await this.server.listen();
    const p2pUrl = await this.p2p?.listen();
    const { network, dialect, bootstrap, host } = this.#settings;
    if (this.p2p && !bootstrap) {
      this.peers.own = { id: this.identity?.peerId ?? null, address: { hostname: host, port: this.p2p.port } };
    }
    const controlUrl = await this.#control?.listen();
    this.ledger.start();
    const segment = dialect === 'chainweb' ? 'chainweb' : 'ledger';
    return {
      url,
      baseUrl: `${url}/${segment}/0.0/${network}`,
      ...(p2pUrl !== undefined && { p2pUrl }),
      ...(controlUrl !== undefined && { controlUrl }),
    };
  }

  /** Sets the script of faults for both sides. @throws ZodError if the script is not valid */
  set faults(script: readonly FaultInput[]) {
    this.server.faults = script;
    if (this.p2p) this.p2p.faults = script;
  }

  /** Number of blocks and commands that the node has taken so far. While it stays, `save` returns the same. */
  get changes(): number {
    return this.#record.blocksTaken + this.#mempool.mark.next;
  }

  /** @returns the blocks of all chains, and the commands that wait: for `state` of another node. @throws StateError */
  save(): string {
    return this.#record.save();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.ledger.close();
    clearTimeout(this.#return);
    await Promise.all([this.server.close(), this.p2p?.close(), this.#control?.close()]);
  }

  /**
   * Closes all connections and refuses new ones until `comeBack`. The ledger does not stop: for example, other miners'
   * blocks are still added.
   */
  async goAway(): Promise<void> {
    await Promise.all([this.server.stopListening(), this.p2p?.stopListening()]);
  }

  async goAwayFor(ms: number): Promise<void> {
    clearTimeout(this.#return);
    await this.goAway();
    this.#comeBackAfter(ms);
  }

  /**
   * Calls `comeBack` after `ms`. If `comeBack` fails, for example because another process uses a port, it is called
   * again every `PORT_AGAIN_MS` until it succeeds.
   */
  #comeBackAfter(ms: number): void {
    if (this.#closing.signal.aborted) return;
    this.#return = setTimeout(() => this.comeBack().catch(() => this.#comeBackAfter(PORT_AGAIN_MS)), ms);
  }

  /** Listens again on the same ports. */
  async comeBack(): Promise<void> {
    clearTimeout(this.#return);
    await Promise.all([this.server.listen(), this.p2p?.listen()]);
  }
}
