/**
 * The mock node in the package's API. The code of the node, which includes the contract language, is loaded only at the
 * start.
 */

import type { CommandService } from './commands/command-service.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { MockNodeAddress, MockNodeContext, MockNode as Node } from './mock-node.ts';
import { type MockNodeOptions, optionsSchema } from './options.ts';
import type { Identity, Peers } from './p2p/peers.ts';
import type { FaultInput } from './server/faults.ts';
import type { MockServer } from './server/server.ts';

/** Before the start, the getters, `goAway`, `goAwayFor` and `comeBack` fail. */
export class MockNode {
  readonly #options: MockNodeOptions;
  readonly #context: MockNodeContext;
  #node: Node | undefined;
  /** The faults that were set before the start. */
  #faults: readonly FaultInput[] | undefined;
  #isClosed = false;

  /** @throws ZodError if the options are not valid */
  constructor(options: MockNodeOptions = {}, context: MockNodeContext = {}) {
    optionsSchema.parse(options);
    this.#options = { mineOnSend: 'when idle', ...options };
    this.#context = context;
  }

  /**
   * @throws GenesisError for an account that cannot be created, or a contract that cannot be loaded; ZodError for
   *   invalid faults; Error if a port is in use, or the node was closed
   */
  async start(): Promise<MockNodeAddress> {
    const { MockNode: Node } = await import('./mock-node.ts');
    if (this.#isClosed) throw new Error('the mock node was closed');
    const node = this.#node ?? new Node(this.#options, this.#context);
    if (this.#faults) node.faults = this.#faults;
    this.#faults = undefined;
    this.#node = node;
    return node.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#node?.close();
  }

  /**
   * @returns the blocks of all chains, and the commands that wait: for `state` of another node
   * @throws StateError if there are too many blocks
   */
  save(): string {
    return this.#started.save();
  }

  get ledger(): Ledger {
    return this.#started.ledger;
  }

  get commands(): CommandService {
    return this.#started.commands;
  }

  get peers(): Peers {
    return this.#started.peers;
  }

  /** The service side. If the P2P side has no port of its own, this server also has the endpoints for other nodes. */
  get server(): MockServer {
    return this.#started.server;
  }

  /** The server of the P2P side; undefined if the P2P side has no port of its own. */
  get p2p(): MockServer | undefined {
    return this.#started.p2p;
  }

  /** The key and the certificate of the P2P side; undefined without TLS. */
  get identity(): Identity | undefined {
    return this.#started.identity;
  }

  /**
   * Sets the script of faults for both sides. Before the start, the script is only kept, and `start` checks it.
   * @throws ZodError if the node has started, and the script is not valid
   */
  set faults(script: readonly FaultInput[]) {
    if (this.#node) this.#node.faults = script;
    else this.#faults = script;
  }

  /** Closes all connections and refuses new ones until `comeBack`. Meanwhile, the ledger continues to grow. */
  async goAway(): Promise<void> {
    await this.#started.goAway();
  }

  async goAwayFor(ms: number): Promise<void> {
    await this.#started.goAwayFor(ms);
  }

  /** Listens again on the same ports. */
  async comeBack(): Promise<void> {
    await this.#started.comeBack();
  }

  get #started(): Node {
    if (!this.#node) throw new Error('the mock node has not started yet');
    return this.#node;
  }
}
