/**
 * A simulated node: the mining API of document 1, judged strictly, with a view of the network and a clock of its own.
 * A miner's own HTTP code asks it, by a transport in memory.
 */

import { type Random, randomInteger } from '#pickaxe/mock-node/random.js';
import type { NodeTransport, Transport } from '#pickaxe/node/http/exchange.js';
import { basePathOf, CONFIG_PATH, HEALTH_PATH } from '#pickaxe/node/http/url.js';
import {
  CHAIN_BYTES,
  HEADER_BYTES,
  HEADER_OFFSET,
  toHex,
  WORK_BYTES,
  WORK_OFFSET,
} from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { headerTargetOf } from '#pickaxe/protocol/chain/work.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { Clients } from './clients.ts';
import { ledgerAnswer } from './ledger.ts';
import type { Judgement, Peer, SimulatedBlock, SimulatedNetwork } from './network.ts';
import { type Answer, type Delivery, failure, type Request, responseOf, UpdateStream } from './node-wire.ts';
import { type SimulatedProcess, START_MS, type VirtualTime } from './virtual-time.ts';

/** A node forgets a work after this time. */
const WORK_LIFE_MS = 300_000;
const MOST_WORKS = 3_000;
/** A node ends each update stream after this time, ±10 %. */
const STREAM_MS = 240_000;

const VERSION_HEADERS = { document: 'x-ledger-node-version', chainweb: 'x-chainweb-node-version' };

/** How a node treats requests for a while. */
export type NodeMode =
  | 'fine'
  /** Its port is closed. */
  | 'down'
  /** It answers half of the requests with 503. */
  | 'busy'
  /** It does what it is asked, but half of its answers are lost. */
  | 'losing answers'
  /** It refuses every solution, as behind a load balancer that asks another node. */
  | 'refusing'
  /** The bodies of half of its answers break off in the middle. */
  | 'breaking off'
  /** The bodies of its answers take seconds. */
  | 'slow'
  /** It closes every connection before it answers. */
  | 'closing connections'
  /** It answers requests for work with 503. */
  | 'without work'
  /** It answers solutions with 503. */
  | 'taking no solutions'
  /** A third of its works are wrong. */
  | 'giving wrong work'
  /** It gives work on the block before the newest one, for some seconds after each block. */
  | 'giving stale work';

/** Which blocks a node takes. */
export type Following =
  | 'the network'
  /** Blocks of others arrive late. */
  | 'late'
  /** It takes and publishes no blocks. Its own branch grows on. */
  | 'nobody';

const LATE_MS = 15_000;
const STALE_MS = 4_000;
/** Most time by which some nodes announce a block before they give work on it. */
const MOST_LEAD_MS = 300;
/** After this time without faults, clients know that the node is well. */
const WELL_MS = 20_000;
/** A clock that was set back by more than miners allow for makes their solutions of this time invalid. */
const SET_BACK_MS = 60_000;
/** How far behind a node's clock the creation times of solutions are, unless the work's own time is later. */
const MARGIN_US = 1_400_000n;

interface GivenWork {
  readonly header: Buffer;
  readonly chain: number;
  readonly atMs: number;
}

export class SimulatedNode implements Peer {
  readonly name: string;
  readonly url: string;
  readonly dialect: Dialect;
  mode: NodeMode = 'fine';
  /** Whether its update streams stay open, but announce nothing. */
  isDeaf = false;
  following: Following = 'the network';
  /** Since when nothing has been wrong with the node. */
  wellSinceMs = 0;
  process: SimulatedProcess;
  /** By chain: the newest block that this node knows. */
  readonly view: SimulatedBlock[];
  /** By chain: the newest block before that. */
  readonly #before: SimulatedBlock[];
  /** By chain: when the newest block came. */
  readonly cameMs: number[];
  /** What clients have done that the rules forbid, such as invalid solutions. */
  readonly invalid: string[] = [];
  /** By chain: when the last New Cut was announced. */
  readonly announcedMs: number[];
  readonly clients: Clients;
  /** Time by which this node announces a block before it gives work on it. */
  readonly #leadMs: number;
  readonly #time: VirtualTime;
  readonly #network: SimulatedNetwork;
  readonly #random: Random;
  readonly #works = new Map<string, GivenWork>();
  #clockMs = 0;
  #setBackMs = Number.NEGATIVE_INFINITY;
  readonly #streams = new Set<UpdateStream>();

  constructor(name: string, time: VirtualTime, network: SimulatedNetwork, random: Random, dialect: Dialect) {
    this.name = name;
    this.url = `http://${name}:1848`;
    this.dialect = dialect;
    this.process = time.start(name);
    this.view = [...network.newest];
    this.#before = [...network.newest];
    this.clients = new Clients(
      () => time.nowMs,
      this.view.length,
      (what) => void this.invalid.push(`${what} at ${name}`),
    );
    this.cameMs = this.view.map(() => 0);
    this.announcedMs = this.view.map(() => Number.NEGATIVE_INFINITY);
    this.#time = time;
    this.#network = network;
    this.#random = random;
    this.#leadMs = random() < 0.4 ? random() * MOST_LEAD_MS : 0;
    network.join(this, (ms, act) => this.process.after(ms, act));
  }

  receive(block: SimulatedBlock): void {
    if (this.following === 'late') this.process.after(LATE_MS, () => this.#receive(block));
    else this.#receive(block);
  }

  #receive(block: SimulatedBlock): void {
    if (this.mode === 'down' || this.following === 'nobody' || block.height <= this.view[block.chain].height) return;
    if (!this.#isTooEarly(block)) this.#take(block);
  }

  /** A block from the future is dropped. When its time has come, the node learns it from the next cut of a peer. */
  #isTooEarly(block: SimulatedBlock): boolean {
    const aheadMs = Number(block.timeUs - this.#nowUs()) / 1000;
    if (aheadMs > 0) this.process.after(aheadMs + 1, () => this.#receive(block));
    return aheadMs > 0;
  }

  /** Sets the node's clock, which is ahead by `ms` then. */
  setClock(ms: number): void {
    if (ms < this.#clockMs) this.#setBackMs = this.#time.nowMs;
    this.#clockMs = ms;
  }

  /** Somebody else has found a block, which this node is the first to know. */
  growBy(chain: number): void {
    const block = this.#network.foreignBlock(this.view[chain], this.#nowUs());
    this.#take(block);
    if (this.following !== 'nobody') this.#network.publish(block, this);
  }

  /** Replaces the newest block of a chain by another one of the same height. */
  reorganise(chain: number): void {
    const parent = this.#network.parent(this.view[chain]);
    if (parent) this.#take(this.#network.foreignBlock(parent, this.#nowUs()));
  }

  /** Learns what it has missed. Of two branches, the longer one wins. */
  catchUp(): void {
    this.following = 'the network';
    for (const [chain, block] of this.#network.newest.entries()) {
      const own = this.view[chain];
      if (own.height > block.height) this.#network.publish(own, this);
      else if (own !== block && !this.#isTooEarly(block)) this.#take(block);
    }
  }

  /** Starts again as a new process, which knows no work any more. */
  restart(): void {
    this.wellSinceMs = this.#time.nowMs;
    this.endStreams();
    this.#works.clear();
    this.process.kill();
    this.process = this.#time.start(this.name);
    this.catchUp();
  }

  endStreams(): void {
    for (const stream of [...this.#streams]) stream.end();
  }

  /** Whether the node answers now. */
  get isReachable(): boolean {
    return this.mode === 'fine' && !this.process.isFrozen;
  }

  /** Whether the node would accept a solution with this header now, apart from what its mode makes of that. */
  wouldAccept(header: Uint8Array): boolean {
    const work = this.#works.get(payloadOf(header));
    if (!work || this.#time.nowMs - work.atMs > WORK_LIFE_MS) return false;
    if (this.#network.hasAccepted(header) || creationTimeOf(header) > this.#nowUs()) return false;
    return this.view[work.chain].hash.equals(parentOf(header));
  }

  /** Whether this is the parent of the newest block on its chain, as this node sees it. */
  isCurrent(chain: number, parent: Uint8Array): boolean {
    return this.view[chain].hash.equals(parent);
  }

  /** A transport for the requests of a process to this node. */
  transportFor(client: SimulatedProcess): Transport {
    let { connection } = client;
    const ask = (request: Request) => {
      const isDead = client.connection !== connection;
      connection = client.connection;
      return isDead ? this.#askOnDeadConnection(client, request) : this.#request(client, request);
    };
    return {
      request: (request) => ask(request as never) as ReturnType<Transport['request']>,
      close: async () => {},
      destroy: async () => {},
    };
  }

  #nowUs(): bigint {
    return BigInt(Math.floor((START_MS + this.#time.nowMs + this.#clockMs) * 1000));
  }

  /** @param isOwn whether a client has found the block */
  #take(block: SimulatedBlock, isOwn = false): void {
    const { chain } = block;
    this.#before[chain] = this.view[chain];
    this.view[chain] = block;
    this.cameMs[chain] = this.#time.nowMs;
    this.announcedMs[chain] = this.#time.nowMs;
    const isWell =
      (this.mode === 'fine' || this.mode === 'without work') && this.following === 'the network' && !this.isDeaf;
    if (!isWell) this.wellSinceMs = this.#time.nowMs;
    if (isWell && !isOwn && this.#time.nowMs - this.wellSinceMs > WELL_MS) this.clients.block(chain);
    if (this.isDeaf) return;
    for (const stream of this.#streams) if (stream.chain === chain) stream.announce();
  }

  /** Most requests arrive within 30 ms, and a few much later. */
  #latencyMs(): number {
    return 1 + this.#random() * 30 + (this.#random() < 0.02 ? this.#random() * 3_000 : 0);
  }

  /** After a suspension, the first request either fails at once, or gets no answer. */
  #askOnDeadConnection(client: SimulatedProcess, { signal }: Request): Promise<never> {
    const fails = this.#random() < 0.5;
    return new Promise((_, reject) => {
      const aborted = () => reject(signal.reason);
      if (signal.aborted) return aborted();
      signal.addEventListener('abort', aborted, { once: true });
      if (!fails) return;
      client.arrive(1, () => {
        signal.removeEventListener('abort', aborted);
        reject(failure('read ECONNRESET', 'ECONNRESET'));
      });
    });
  }

  #request(client: SimulatedProcess, { path, body, signal }: Request): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const aborted = () => reject(signal.reason);
      signal.addEventListener('abort', aborted, { once: true });
      const settle = (act: () => void) => {
        signal.removeEventListener('abort', aborted);
        act();
      };
      const fail = (fault: Error) => client.arrive(1, () => settle(() => reject(fault)));
      this.process.after(this.#latencyMs(), () => {
        if (this.mode === 'down') {
          fail(failure('connect ECONNREFUSED', 'ECONNREFUSED'));
          return;
        }
        if (this.mode === 'closing connections') {
          fail(failure('other side closed', 'UND_ERR_SOCKET'));
          return;
        }
        const isBusy = this.mode === 'busy' && this.#random() < 0.5;
        const answer: Answer = isBusy ? { status: 503 } : this.#answer(client, path, body, signal);
        if (this.mode === 'losing answers' && this.#random() < 0.5) {
          answer.stream?.end();
          fail(failure('other side closed', 'UND_ERR_SOCKET'));
          return;
        }
        const headers = {
          'x-server-timestamp': String(this.#nowUs() / 1_000_000n),
          [VERSION_HEADERS[this.dialect]]: '2.0',
        };
        const delivery = this.#delivery();
        client.arrive(this.#latencyMs(), () =>
          settle(() => resolve(responseOf(answer, headers, delivery, client, signal))),
        );
      });
    });
  }

  #delivery(): Delivery {
    if (this.mode === 'slow') return { pauseMs: this.#random() * 5_000 };
    return this.mode === 'breaking off' && this.#random() < 0.5 ? 'half' : 'whole';
  }

  #answer(client: SimulatedProcess, path: string, body: Request['body'], signal: AbortSignal): Answer {
    if (path === CONFIG_PATH) return { status: 200, body: '{}' };
    if (path === HEALTH_PATH) return { status: 200, body: 'Health check OK.' };
    const base = basePathOf(this.dialect, 'development');
    if (!path.startsWith(`${base}/`)) return { status: 404 };
    switch (path.slice(base.length)) {
      case '/mining/work':
        if (this.mode !== 'without work') return { status: 200, body: this.#work(client) };
        this.clients.gotNoWork(client);
        return { status: 503 };
      case '/mining/solved':
        if (this.mode === 'taking no solutions') return { status: 503 };
        return this.#solved(client, Buffer.from(body as Uint8Array));
      case '/mining/updates':
        return { status: 200, stream: this.#updates(client, Buffer.from(body as Uint8Array), signal) };
      default: {
        const view = { network: this.#network, heads: this.view };
        const answer = ledgerAnswer(view, path.slice(base.length), body === null ? '' : String(body));
        return answer === undefined ? { status: 404 } : { status: 200, body: JSON.stringify(answer) };
      }
    }
  }

  #work(client: SimulatedProcess): Buffer {
    this.clients.askedForWork(client);
    const chain = randomInteger(this.#random, this.view.length);
    const header = this.#network.header(this.#parentFor(chain), this.#nowUs());
    const isWrong = this.mode === 'giving wrong work' && this.#random() < 0.3;
    const how = isWrong ? WRONG_WORKS[randomInteger(this.#random, WRONG_WORKS.length)] : undefined;
    if (how === 'other network') header.writeUInt32LE(OTHER_NETWORK, HEADER_OFFSET.version);
    if (how === 'future') header.writeBigInt64LE(this.#nowUs() + DAY_US, HEADER_OFFSET.creationTime);
    this.#works.set(payloadOf(header), { header, chain, atMs: this.#time.nowMs });
    if (this.#works.size > MOST_WORKS) this.#works.delete(this.#works.keys().next().value as string);
    this.clients.gaveWork(client, chain);
    const record = Buffer.alloc(WORK_BYTES);
    record.writeUInt32LE(chain, WORK_OFFSET.chain);
    this.#network.workTarget.copy(record, WORK_OFFSET.target);
    header.copy(record, WORK_OFFSET.header);
    return how === 'too short' ? record.subarray(1) : record;
  }

  #parentFor(chain: number): SimulatedBlock {
    const staleMs = this.mode === 'giving stale work' ? STALE_MS : this.#leadMs;
    const isStale = this.#time.nowMs - this.cameMs[chain] < staleMs;
    return (isStale ? this.#before : this.view)[chain];
  }

  #solved(client: SimulatedProcess, header: Buffer): Answer {
    const judgement = this.mode === 'refusing' ? 'unknown' : this.#judge(header);
    this.#network.counts[judgement]++;
    if (judgement === 'invalid' || judgement === 'unknown') this.#network.refuse(header, this.#time.nowMs);
    if (judgement === 'accepted') this.clients.accepted(client);
    if (judgement === 'invalid') return { status: 400, body: 'Invalid solved work' };
    if (judgement === 'unknown') return { status: 404, body: 'No associated Payload' };
    return { status: 200 };
  }

  #judge(header: Buffer): Judgement {
    const broken = (why: string): Judgement => {
      this.invalid.push(`${this.name} got a solution ${why}`);
      return 'invalid';
    };
    if (header.length !== HEADER_BYTES) return broken(`of ${header.length} bytes`);
    const work = this.#works.get(payloadOf(header));
    if (!work || this.#time.nowMs - work.atMs > WORK_LIFE_MS) return 'unknown';
    // Like a real node, it forgets the work with its first solution, even if that is wrong.
    this.#works.delete(payloadOf(header));
    for (let at = 0; at < HEADER_OFFSET.nonce; at++) {
      const isTime = at >= HEADER_OFFSET.creationTime && at < HEADER_OFFSET.parent;
      if (!isTime && work.header[at] !== header[at]) return broken(`with another byte ${at}`);
    }
    const [given, timeUs] = [work.header, header].map(creationTimeOf);
    if (timeUs < given) return broken('with an earlier creation time');
    const aheadUs = timeUs - this.#nowUs();
    const wasSetBack = this.#time.nowMs - this.#setBackMs < SET_BACK_MS;
    if (aheadUs > 0n && (wasSetBack || timeUs === given)) return 'invalid';
    if (aheadUs > 0n) return broken(`whose creation time is ${aheadUs} µs in the future`);
    if (timeUs > given && aheadUs > -MARGIN_US && !wasSetBack) {
      return broken(`whose creation time is only ${-aheadUs} µs ago: its clock may be set back`);
    }
    if (!meetsTarget(powHash(header), headerTargetOf(work.header))) return broken('without proof of work');
    const isOnNewest = this.isCurrent(work.chain, parentOf(header));
    this.#network.take(header, isOnNewest ? 'accepted' : 'orphaned');
    if (!isOnNewest) return 'orphaned';
    const block = this.#network.block(header);
    this.#take(block, true);
    if (this.following !== 'nobody') this.#network.publish(block, this);
    return 'accepted';
  }

  #updates(client: SimulatedProcess, body: Buffer, signal: AbortSignal): UpdateStream {
    const chain = body.length === CHAIN_BYTES ? body.readUInt32LE(0) : 0;
    const stream = new UpdateStream(chain, client, () => this.#latencyMs());
    this.#streams.add(stream);
    this.clients.openedStream(client, chain);
    stream.onEnd = () => {
      this.#streams.delete(stream);
      this.clients.endedStream(client, chain);
    };
    if (signal.aborted) stream.end();
    signal.addEventListener('abort', () => stream.end(), { once: true });
    this.process.after(STREAM_MS * (0.9 + 0.2 * this.#random()), () => stream.end());
    return stream;
  }
}

/** @returns a transport for a process, which finds each node by its origin */
export function transportOf(nodes: readonly SimulatedNode[], client: SimulatedProcess): NodeTransport {
  return (origin) => {
    const node = nodes.find(({ url }) => url === origin);
    if (!node) throw new Error(`there is no node at ${origin}`);
    return node.transportFor(client);
  };
}

const WRONG_WORKS = ['too short', 'other network', 'future'] as const;
/** The code of another network. */
const OTHER_NETWORK = 7;
const DAY_US = 86_400_000_000n;
const creationTimeOf = (header: Uint8Array) => Buffer.from(header).readBigInt64LE(HEADER_OFFSET.creationTime);
const parentOf = (header: Uint8Array) => Buffer.from(header.subarray(HEADER_OFFSET.parent, HEADER_OFFSET.parent + 32));
/** The hash of the work's transactions, which no other work has. It is at 190 of the header. */
const payloadOf = (header: Uint8Array) => toHex(header.subarray(190, 222));
