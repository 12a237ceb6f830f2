/**
 * A small mining node for the demo and the tests: a ledger, and a server with the mining API (document 1). It answers as real
 * nodes do, judges strictly, counts what happens, and can be told to misbehave.
 */

import { type Clock, systemClock } from '../system/clock.ts';
import { Ledger, type LedgerEvent } from './ledger/ledger.ts';
import { NetworkActivity } from './ledger/network-activity.ts';
import { type MockNodeOptions, optionsSchema } from './options.ts';
import { type Random, seededRandom } from './random.ts';
import { MockServer, type ServerEvent } from './server/server.ts';

/** What happens at the node, for a log. */
export type MockNodeEvent = LedgerEvent | ServerEvent;

export interface MockNodeSurroundings {
  readonly clock?: Clock;
  /** Used instead of a generator with the option `seed`. */
  readonly random?: Random;
  readonly onEvent?: (event: MockNodeEvent) => void;
}

export interface MockNodeAddress {
  /** `http://host:port` */
  readonly url: string;
  /** The URL with the path of document 1: `http://host:port/ledger/0.0/<network>`. */
  readonly baseUrl: string;
}

export class MockNode {
  readonly ledger: Ledger;
  readonly server: MockServer;
  readonly #activity: NetworkActivity;

  /** @throws ZodError when the options are not valid */
  constructor(options: MockNodeOptions = {}, surroundings: MockNodeSurroundings = {}) {
    const settings = optionsSchema.parse(options);
    const { clock = systemClock, onEvent: emit = () => {} } = surroundings;
    const random = surroundings.random ?? seededRandom(settings.seed ?? Math.floor(Math.random() * 2 ** 32));
    this.ledger = new Ledger(settings, { clock, random, emit });
    this.server = new MockServer(this.ledger, settings, { random, emit });
    this.#activity = new NetworkActivity(this.ledger, random);
  }

  /** @throws when the port is taken */
  async start(): Promise<MockNodeAddress> {
    const url = await this.server.listen();
    this.#activity.start();
    return { url, baseUrl: `${url}/ledger/0.0/${this.ledger.settings.network}` };
  }

  async close(): Promise<void> {
    this.#activity.stop();
    this.ledger.close();
    await this.server.close();
  }

  /** Closes all connections and refuses new ones until `comeBack`. The chains go on meanwhile. */
  async goAway(): Promise<void> {
    await this.server.stopListening();
  }

  /** Listens again on the same port. */
  async comeBack(): Promise<void> {
    await this.server.listen();
  }
}
