/**
 * A simulated node: the mining API of document 1, judged strictly, with a view of the network and a clock of its own.
 * A miner's own HTTP code asks it, by a transport in memory.
 */

import { Readable } from 'node:stream';
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
import { ledgerAnswer } from './ledger.ts';
import type { Judgement, Peer, SimulatedBlock, SimulatedNetwork } from './network.ts';
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
  | 'refusing';

interface GivenWork {
  readonly header: Buffer;
  readonly chain: number;
  readonly atMs: number;
}

interface Answer {
  readonly status: number;
  readonly body?: Buffer | string;
  /** The node's end of an update stream. */
  readonly stream?: UpdateStream;
}

export class SimulatedNode implements Peer {
  readonly name: string;
  readonly url: string;
  readonly dialect: Dialect;
  mode: NodeMode = 'fine';
  /** Whether its update streams stay open, but announce nothing. */
  isDeaf = false;
  /** How far the node's clock is ahead. */
  clockMs = 0;
  process: SimulatedProcess;
  /** By chain: the newest block that this node knows. */
  readonly view: SimulatedBlock[];
  /** What the node could not forgive: solutions that break the rules. */
  readonly invalid: string[] = [];
  /** By chain: when the last New Cut was announced. */
  readonly announcedMs: number[];
  readonly #time: VirtualTime;
  readonly #network: SimulatedNetwork;
  readonly #random: Random;
  readonly #works = new Map<string, GivenWork>();
  readonly #streams = new Set<UpdateStream>();

  constructor(name: string, time: VirtualTime, network: SimulatedNetwork, random: Random, dialect: Dialect) {
    this.name = name;
    this.url = `http://${name}:1848`;
    this.dialect = dialect;
    this.process = time.start(name);
    this.view = [...network.newest];
    this.announcedMs = this.view.map(() => Number.NEGATIVE_INFINITY);
    this.#time = time;
    this.#network = network;
    this.#random = random;
    network.join(this, (ms, act) => this.process.after(ms, act));
  }

  receive(block: SimulatedBlock): void {
    if (this.mode === 'down' || block.height <= this.view[block.chain].height) return;
    this.#take(block);
  }

  /** Somebody else has found a block, which this node is the first to know. */
  growBy(chain: number): void {
    const block = this.#network.foreignBlock(this.view[chain]);
    this.#take(block);
    this.#network.publish(block, this);
  }

  /** Replaces the newest block of a chain by another one of the same height. */
  reorganise(chain: number): void {
    const parent = this.#network.parent(this.view[chain]);
    if (parent) this.#take(this.#network.foreignBlock(parent));
  }

  /** Learns what it has missed. */
  catchUp(): void {
    for (const block of this.#network.newest) this.receive(block);
  }

  /** Starts again as a new process, which knows no work any more. */
  restart(): void {
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
    if (this.#network.hasAccepted(header)) return false;
    return this.view[work.chain].hash.equals(parentOf(header));
  }

  /** Whether this is the parent of the newest block on its chain, as this node sees it. */
  isCurrent(chain: number, parent: Uint8Array): boolean {
    return this.view[chain].hash.equals(parent);
  }

  /** A transport for the requests of a process to this node. */
  transportFor(client: SimulatedProcess): Transport {
    return {
      request: (request) => this.#request(client, request as never) as ReturnType<Transport['request']>,
      close: async () => {},
      destroy: async () => {},
    };
  }

  #nowUs(): bigint {
    return BigInt(Math.floor((START_MS + this.#time.nowMs + this.clockMs) * 1000));
  }

  #take(block: SimulatedBlock): void {
    const { chain } = block;
    this.view[chain] = block;
    this.announcedMs[chain] = this.#time.nowMs;
    if (this.isDeaf) return;
    for (const stream of this.#streams) if (stream.chain === chain) stream.announce();
  }

  /** Most requests arrive within 30 ms, and a few much later. */
  #latencyMs(): number {
    return 1 + this.#random() * 30 + (this.#random() < 0.02 ? this.#random() * 3_000 : 0);
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
      const fail = (fault: Error) => client.after(1, () => settle(() => reject(fault)));
      this.process.after(this.#latencyMs(), () => {
        if (this.mode === 'down') {
          fail(failure('connect ECONNREFUSED', 'ECONNREFUSED'));
          return;
        }
        const isBusy = this.mode === 'busy' && this.#random() < 0.5;
        const answer = isBusy ? { status: 503 } : this.#answer(client, path, body, signal);
        if (this.mode === 'losing answers' && this.#random() < 0.5) {
          fail(failure('other side closed', 'UND_ERR_SOCKET'));
          return;
        }
        const headers = {
          'x-server-timestamp': String(this.#nowUs() / 1_000_000n),
          [VERSION_HEADERS[this.dialect]]: '2.0',
        };
        client.after(this.#latencyMs(), () => settle(() => resolve(responseOf(answer, headers))));
      });
    });
  }

  #answer(client: SimulatedProcess, path: string, body: Request['body'], signal: AbortSignal): Answer {
    if (path === CONFIG_PATH) return { status: 200, body: '{}' };
    if (path === HEALTH_PATH) return { status: 200, body: 'Health check OK.' };
    const base = basePathOf(this.dialect, 'development');
    if (!path.startsWith(`${base}/`)) return { status: 404 };
    switch (path.slice(base.length)) {
      case '/mining/work':
        return { status: 200, body: this.#work() };
      case '/mining/solved':
        return this.#solved(Buffer.from(body as Uint8Array));
      case '/mining/updates':
        return { status: 200, stream: this.#updates(client, Buffer.from(body as Uint8Array), signal) };
      default: {
        const view = { network: this.#network, heads: this.view };
        const answer = ledgerAnswer(view, path.slice(base.length), body === null ? '' : String(body));
        return answer === undefined ? { status: 404 } : { status: 200, body: JSON.stringify(answer) };
      }
    }
  }

  #work(): Buffer {
    const chain = randomInteger(this.#random, this.view.length);
    const header = this.#network.header(this.view[chain], this.#nowUs());
    this.#works.set(payloadOf(header), { header, chain, atMs: this.#time.nowMs });
    if (this.#works.size > MOST_WORKS) this.#works.delete(this.#works.keys().next().value as string);
    const record = Buffer.alloc(WORK_BYTES);
    record.writeUInt32LE(chain, WORK_OFFSET.chain);
    this.#network.workTarget.copy(record, WORK_OFFSET.target);
    header.copy(record, WORK_OFFSET.header);
    return record;
  }

  #solved(header: Buffer): Answer {
    const judgement = this.mode === 'refusing' ? 'unknown' : this.#judge(header);
    this.#network.counts[judgement]++;
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
    for (let at = 0; at < HEADER_OFFSET.nonce; at++) {
      const isTime = at >= HEADER_OFFSET.creationTime && at < HEADER_OFFSET.parent;
      if (!isTime && work.header[at] !== header[at]) return broken(`with another byte ${at}`);
    }
    const [given, timeUs] = [work.header, header].map((each) => each.readBigInt64LE(HEADER_OFFSET.creationTime));
    if (timeUs < given) return broken('with an earlier creation time');
    // The time of a work is after that of its parent, which a node with another clock may have made.
    if (timeUs > this.#nowUs() && timeUs > given)
      return broken(`whose creation time is ${timeUs - this.#nowUs()} µs in the future`);
    if (!meetsTarget(powHash(header), headerTargetOf(work.header))) return broken('without proof of work');
    const key = toHex(header);
    if (this.#network.accepted.has(key)) return 'doubled';
    const isOnNewest = this.isCurrent(work.chain, parentOf(header));
    this.#network.take(header, isOnNewest ? 'accepted' : 'orphaned');
    if (!isOnNewest) return 'orphaned';
    const block = this.#network.block(header);
    this.#take(block);
    this.#network.publish(block, this);
    return 'accepted';
  }

  #updates(client: SimulatedProcess, body: Buffer, signal: AbortSignal): UpdateStream {
    const chain = body.length === CHAIN_BYTES ? body.readUInt32LE(0) : 0;
    const stream = new UpdateStream(chain, client, () => this.#latencyMs());
    this.#streams.add(stream);
    stream.onEnd = () => this.#streams.delete(stream);
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

interface Request {
  readonly path: string;
  readonly body: string | Uint8Array | null;
  readonly signal: AbortSignal;
}

/** An update stream: what it carries arrives in the client's process after a while, in order. */
class UpdateStream {
  readonly chain: number;
  onEnd: () => void = () => {};
  readonly #client: SimulatedProcess;
  readonly #latencyMs: () => number;
  #lastMs = 0;
  #isOver = false;
  readonly body = new Readable({ read: () => {} });

  constructor(chain: number, client: SimulatedProcess, latencyMs: () => number) {
    this.chain = chain;
    this.#client = client;
    this.#latencyMs = latencyMs;
    this.body.on('error', () => {});
  }

  announce(): void {
    this.#send('event:New Cut\n\n');
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onEnd();
    this.#send(null);
  }

  #send(chunk: string | null): void {
    const nowMs = this.#client.clock.monotonicMs();
    this.#lastMs = Math.max(this.#lastMs, nowMs + this.#latencyMs());
    this.#client.after(this.#lastMs - nowMs, () => {
      if (!this.body.destroyed) this.body.push(chunk === null ? null : Buffer.from(chunk));
    });
  }
}

function responseOf({ status, body = '', stream }: Answer, headers: Record<string, string>) {
  const readable = stream?.body ?? Readable.from(body.length === 0 ? [] : [Buffer.from(body)]);
  const dump = async () => void readable.resume();
  return { statusCode: status, headers, body: Object.assign(readable, { dump }) };
}

const failure = (message: string, code: string) => Object.assign(new Error(message), { code });
const parentOf = (header: Uint8Array) => Buffer.from(header.subarray(HEADER_OFFSET.parent, HEADER_OFFSET.parent + 32));
/** The hash of the work's transactions, which no other work has. It is at 190 of the header. */
const payloadOf = (header: Uint8Array) => toHex(header.subarray(190, 222));
