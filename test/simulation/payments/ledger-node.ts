/**
 * A node of the world of payments: the mock node's ledger, contract language and routes, in memory. Its blocks have a
 * real proof of work, its peers take its blocks and commands, and it answers requests as well as its mode lets it.
 */

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { CommandService } from '#pickaxe/mock-node/commands/command-service.js';
import { Mempool } from '#pickaxe/mock-node/commands/mempool.js';
import { BlockRunner } from '#pickaxe/mock-node/execution/block-runner.js';
import type { ChainState } from '#pickaxe/mock-node/execution/chain-state.js';
import type { Block } from '#pickaxe/mock-node/ledger/block-store.js';
import { Ledger } from '#pickaxe/mock-node/ledger/ledger.js';
import { optionsSchema, type Settings } from '#pickaxe/mock-node/options.js';
import { Peers } from '#pickaxe/mock-node/p2p/peers.js';
import { type Random, randomInteger, seededRandom } from '#pickaxe/mock-node/random.js';
import { type Backend, type Message, NODE_VERSION } from '#pickaxe/mock-node/server/route.js';
import { refusalOf, routeOf } from '#pickaxe/mock-node/server/routes.js';
import type { NodeTransport, Transport } from '#pickaxe/node/http/exchange.js';
import { HEADER_BYTES, viewOf, WORK_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget } from '#pickaxe/protocol/chain/target.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { type SimulatedProcess, START_MS, type VirtualTime } from '../virtual-time.ts';

/** A network whose blocks need a proof of work, so that only work proves what has become of coins. */
export const NETWORK = 'testnet04';
export const CHAINS = 4;
/** Number of hashes that a block takes on average. */
const DIFFICULTY = 512;
/**
 * Number of hashes that a block is known to take at least, in place of the table's 2^20. As on real networks, blocks
 * take many times as much. A forged block takes one hash.
 */
export const LEAST_WORK = 32n;

export type NodeMode =
  | 'fine'
  /** Its port is closed. */
  | 'down'
  /** It answers half of the requests with 503. */
  | 'busy'
  /** It does what it is asked, and half of its answers are lost. */
  | 'losing answers'
  /** Half of its answers break off in the middle. */
  | 'breaking off'
  /** Half of its answers never end. */
  | 'stalling';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  /** The name of the process that asks. */
  readonly client: string;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
  readonly type?: string;
}

/** Changes the answers of a node. @param truth the node's own answer, which also does what was asked */
export type Lie = (node: LedgerNode, asked: Asked, truth: () => Promise<Answer>) => Promise<Answer>;

export interface NodeSetting {
  readonly name: string;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly seed: number;
  readonly dialect: Dialect;
  readonly settings: Settings;
  /** The first state of each chain, which all nodes share. */
  readonly states: readonly ChainState[];
  /** Called with every request that arrives, before the node does anything. */
  readonly onRequest: (node: LedgerNode, asked: Asked) => void;
}

export function settingsOf(accounts: Settings['accounts']): Settings {
  return optionsSchema.parse({
    network: NETWORK,
    chains: CHAINS,
    difficulty: DIFFICULTY,
    firstHeight: 0,
    // Nodes lie about times by less than that.
    firstBlockTimeMs: START_MS - 3_600_000,
    reward: '0.0',
    gasStation: true,
    accounts,
  });
}

/** Takes the fees of the blocks that a node mines. */
export const minerOf = (number: number) => `k:${`${number + 1}`.repeat(64)}`;

export class LedgerNode {
  readonly name: string;
  readonly url: string;
  readonly dialect: Dialect;
  readonly ledger: Ledger;
  readonly commands: CommandService;
  readonly mempool: Mempool;
  readonly peers = new Peers();
  mode: NodeMode = 'fine';
  /** Nodes with different numbers do not hear of each other. */
  side = 0;
  /** Whether it hears of nothing, and mines nothing. */
  isDeaf = false;
  lie: Lie | undefined;
  process: SimulatedProcess;
  /** Number of changes of the chains, for those who look for news. */
  changes = 0;
  readonly #setting: NodeSetting;
  readonly #random: Random;
  #source: Random;

  constructor(setting: NodeSetting) {
    const { name, time, random, seed, dialect, settings, states } = setting;
    this.#setting = setting;
    this.name = name;
    this.url = `http://${name}:1848`;
    this.dialect = dialect;
    this.process = time.start(name);
    this.#random = random;
    // The first blocks of all nodes are the same.
    this.#source = seededRandom(seed);
    this.mempool = new Mempool(random);
    const { clock } = time.start(`${name}'s ledger`);
    const shared = () => this.#source();
    const fail = (fault: unknown) => {
      throw fault;
    };
    const transactions = new BlockRunner(this.mempool, settings, fail);
    const context = { clock, random: shared, emit: () => {}, transactions, stateOf: (chain: number) => states[chain] };
    this.ledger = new Ledger(settings, context);
    this.commands = new CommandService(this.ledger, this.mempool, settings, fail);
    this.#source = random;
  }

  get isAlive(): boolean {
    return this.mode !== 'down' && !this.process.isFrozen;
  }

  get weight(): bigint {
    const { chains } = this.ledger;
    return chains.graph.reduce((sum, _, chain) => sum + chains.tip(chain).header.weight, 0n);
  }

  /** Mines the next block of a chain, if the chain can have one. @returns the block */
  mine(chain: number, account: string): Block | undefined {
    const { chains } = this.ledger;
    if (!chains.isFree(chain)) return undefined;
    const miner = { account, predicate: 'keys-all', publicKeys: [account.slice(2)] };
    const { record, payload } = chains.work(chain, miner, this.ledger.nowUs());
    const header = record.slice(WORK_OFFSET.header, WORK_OFFSET.header + HEADER_BYTES);
    const target = record.subarray(WORK_OFFSET.target, WORK_OFFSET.target + 32);
    const view = viewOf(header);
    for (let nonce = randomInteger(this.#random, 2 ** 30); ; nonce++) {
      view.setUint32(HEADER_BYTES - 8, nonce, true);
      // OpenSSL is faster than the product's own code for single hashes.
      if (meetsTarget(createHash('blake2s256').update(header).digest(), target)) break;
    }
    this.changes++;
    return chains.append(header, payload);
  }

  /** Takes over the blocks of a peer, as far as they make a heavier cut. */
  joinCutOf(peer: LedgerNode): void {
    const theirs = peer.ledger.chains;
    const { chains } = this.ledger;
    const missing = theirs.graph.flatMap((_, chain) => {
      const store = theirs.blocksOf(chain);
      const blocks: Block[] = [];
      for (const block of store.ancestry(store.tip)) {
        if (chains.blocksOf(chain).get(block.id)) break;
        blocks.push(block);
      }
      return blocks;
    });
    if (missing.length === 0) return;
    missing.sort((a, b) => Number(a.header.height - b.header.height));
    for (const { bytes, payload } of missing) chains.receive(bytes, payload, this.ledger.nowUs());
    this.ledger.join(theirs.graph.map((_, chain) => chains.blocksOf(chain).get(theirs.tip(chain).id)!));
    this.changes++;
  }

  /** Takes over the commands that wait at a peer. */
  pullCommands(peer: LedgerNode): void {
    for (let chain = 0; chain < CHAINS; chain++) {
      for (const key of peer.commands.pending(chain).requestKeys) {
        const text = this.mempool.has(chain, key) ? undefined : peer.commands.lookUp(chain, key);
        if (text !== undefined) this.commands.insert(chain, [text]);
      }
    }
  }

  /** Starts again as a new process, which has forgotten the commands that wait. */
  restart(): void {
    for (let chain = 0; chain < CHAINS; chain++) {
      for (const key of this.commands.pending(chain).requestKeys) this.mempool.drop(chain, key);
    }
    this.process.kill();
    this.process = this.#setting.time.start(this.name);
  }

  /** A transport for the requests of a process to this node. */
  transportFor(client: SimulatedProcess): Transport {
    return {
      request: (request) => this.#request(client, request as never) as ReturnType<Transport['request']>,
      close: async () => {},
      destroy: async () => {},
    };
  }

  /** The node's own answer. */
  async answer({ method, path, headers, body }: Asked): Promise<Answer> {
    const { settings } = this.#setting;
    const { ledger, commands, peers } = this;
    const server = { ...settings, dialect: this.dialect };
    const rest = { side: 'service', settings: server, miningEnabled: false, streams: { full: true } };
    const backend = { ledger, commands, peers, ...rest } as unknown as Backend;
    const url = new URL(path, 'http://host');
    const found = routeOf(backend, method, url.pathname);
    if ('status' in found) return plain(found);
    const refusal = refusalOf(found, { headers } as unknown as IncomingMessage);
    if (refusal || !found.route) return plain(refusal ?? { status: 405, text: 'Method Not Allowed' });
    const { chain, params } = found;
    const more = { dialect: this.dialect, fault: undefined, signal: new AbortController().signal };
    const asked = { backend, chain, params, query: url.searchParams, body, accept: headers.accept, ...more };
    const answer = await found.route.answer(asked);
    return plain('stream' in answer ? { status: 503, text: 'No more update streams available.' } : answer);
  }

  /** Most requests arrive within 60 ms, and a few much later. */
  latencyMs(): number {
    return 1 + this.#random() * 60 + (this.#random() < 0.01 ? this.#random() * 5_000 : 0);
  }

  #request(client: SimulatedProcess, request: Request): Promise<unknown> {
    const { path, method, headers, signal } = request;
    const body = Buffer.from(request.body ?? '');
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      let isOver = false;
      const settle = (act: () => void) => {
        if (isOver) return;
        isOver = true;
        signal.removeEventListener('abort', onAbort);
        act();
      };
      const onAbort = () => settle(() => reject(signal.reason));
      signal.addEventListener('abort', onAbort, { once: true });
      const fail = (code: string) =>
        client.after(1, () => settle(() => reject(Object.assign(new Error(code), { code }))));
      this.process.after(this.latencyMs(), async () => {
        if (this.mode === 'down') {
          fail('ECONNREFUSED');
          return;
        }
        const fate = this.#random() < 0.5 ? this.mode : 'fine';
        const asked: Asked = { method, path, headers, body, client: client.name };
        let answer: Answer = { status: 503, body: Buffer.alloc(0) };
        if (fate !== 'busy') {
          this.#setting.onRequest(this, asked);
          const truth = () => this.answer(asked);
          answer = await (this.lie ? this.lie(this, asked, truth) : truth());
        }
        if (fate === 'losing answers') {
          fail('UND_ERR_SOCKET');
          return;
        }
        client.after(this.latencyMs(), () => settle(() => resolve(this.#response(answer, fate, client, signal))));
      });
    });
  }

  #response(
    { status, body, type = 'application/json' }: Answer,
    fate: NodeMode,
    client: SimulatedProcess,
    signal: AbortSignal,
  ) {
    const isHalf = fate === 'breaking off' || fate === 'stalling';
    const readable = new Readable({ read: () => {} });
    readable.on('error', () => {});
    const bytes = isHalf ? body.subarray(0, body.length / 2) : body;
    if (bytes.length > 0) readable.push(bytes);
    if (!isHalf) readable.push(null);
    else if (fate === 'breaking off') client.after(5, () => readable.destroy(new Error('other side closed')));
    signal.addEventListener('abort', () => readable.destroy(signal.reason as Error), { once: true });
    const headers = {
      'content-type': type,
      'x-server-timestamp': `${this.ledger.nowUs() / 1_000_000n}`,
      [this.dialect === 'chainweb' ? 'x-chainweb-node-version' : 'x-ledger-node-version']: NODE_VERSION,
    };
    return { statusCode: status, headers, body: Object.assign(readable, { dump: async () => void readable.resume() }) };
  }
}

/** @returns a transport for a process, which finds each node by its origin */
export function transportOf(nodes: readonly LedgerNode[], client: SimulatedProcess): NodeTransport {
  return (origin) => nodes.find(({ url }) => url === origin)!.transportFor(client);
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | null;
  readonly signal: AbortSignal;
}

function plain(message: Message): Answer {
  const { status, headers = {} } = message;
  const type = headers['content-type'];
  const given =
    'json' in message ? stringifyExactJson(message.json) : 'bytes' in message ? message.bytes : message.text;
  return { status, body: Buffer.from(given), ...(type !== undefined && { type }) };
}
