/**
 * The client of one node's API: all endpoints of document 1 except those for mining, and with `CommandApi` all
 * endpoints of document 2. Every method can throw a NodeError; iterators throw it while iterating. Whatever can be
 * checked is checked: hashes, roots, and whether an answer matches its request.
 */

import { BY_AUTHORITY, type Trust } from '../../base/net/tls-trust.ts';
import { NEVER } from '../../base/system/abort.ts';
import { type Clock, systemClock } from '../../base/system/clock.ts';
import type { Cut, Peer } from '../../protocol/ledger/cut.ts';
import type { BlockHeader, Dialect } from '../../protocol/ledger/header.ts';
import type { ExactJsonObject } from '../../protocol/ledger/json.ts';
import type { Payload, PayloadWithOutputs, Proven } from '../../protocol/ledger/payload.ts';
import { NodeHttp, type NodeTransport } from '../http/exchange.ts';
import { NodeClock, type Skew } from '../http/node-clock.ts';
import { Asker, type DialectSetting, type HeightRange } from '../http/request.ts';
import { type ApiLimits, apiLimits } from '../http/request-limits.ts';
import { nodeAddress } from '../http/url.ts';
import {
  type Block,
  type BranchBounds,
  type CutQuery,
  getBlocks,
  getCut,
  getHashes,
  getHeader,
  getHeaders,
  putCut,
  VersionCode,
} from './blocks.ts';
import { CommandApi } from './commands.ts';
import {
  getHealth,
  getInfo,
  getPeers,
  getReport,
  type NodeInfo,
  type PeersQuery,
  putPeer,
  trustOfPeer,
  urlOfPeer,
} from './info.ts';
import { BARE, type PayloadPlace, type PayloadQuery, PayloadReader, WITH_OUTPUTS } from './payloads.ts';

export interface NodeApiOptions {
  /**
   * The URL of the service port, such as `http://host:port`. If the URL has a path, the path must be that of the API.
   */
  readonly url?: string;
  /** The URL of the P2P port. At least one of the two URLs is needed. A node of documents 1 and 2 has only one port. */
  readonly p2pUrl?: string;
  readonly network: string;
  /** Default: `auto`, which derives the dialect from the URL or from the node's answers. */
  readonly dialect?: DialectSetting;
  /**
   * The path before `/local` and the other endpoints for commands. With a leading slash it starts at the host root,
   * such as `/api/v1` of a stand-alone server; otherwise it is below the path of the API, such as
   * `chain/<chain>/pact/api/v1`. Default: the path of the dialect.
   */
  readonly commandPath?: string;
  /** The version code in the headers of a network that pickaxe does not know. Default: the node is asked for it. */
  readonly versionCode?: number;
  /** How the certificate of the service port is checked. Default: an authority must have signed it. */
  readonly trust?: Trust;
  /** How the certificate of the P2P port is checked. Default: an authority must have signed it. */
  readonly p2pTrust?: Trust;
  readonly userAgent?: string;
}

export interface NodeApiContext {
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly limits?: Partial<ApiLimits>;
  /**
   * Whether the node is known only from untrusted peers. If so, its host name must not resolve to an address of this
   * machine, or to a link-local, multicast or reserved address.
   */
  readonly isStranger?: boolean;
  readonly transport?: NodeTransport;
}

export class NodeApi extends CommandApi {
  readonly #asker: Asker;
  readonly #versionCode: VersionCode;
  readonly #nodeClock: NodeClock;

  /** @throws Error if no URL is given, or if a given one is not a node URL */
  constructor(options: NodeApiOptions, context: NodeApiContext = {}) {
    const { url, p2pUrl, network, dialect = 'auto', commandPath, versionCode, userAgent = 'pickaxe' } = options;
    const { clock = systemClock, random = Math.random, isStranger = false, transport } = context;
    if (url === undefined && p2pUrl === undefined) throw new Error('a client needs the URL of a node');
    const limits = { ...apiLimits, ...context.limits };
    const nodeClock = new NodeClock(clock);
    const shared = { nodeClock, clock, userAgent, isStranger, ...(transport && { transport }) };
    const side = (sideUrl: string, trust: Trust = BY_AUTHORITY) =>
      new NodeHttp({
        ...shared,
        address: nodeAddress(sideUrl, network),
        trust,
        mostAnswerBytes: limits.mostAnswerBytes,
      });
    const sides = {
      ...(url !== undefined && { service: side(url, options.trust) }),
      ...(p2pUrl !== undefined && { p2p: side(p2pUrl, options.p2pTrust) }),
    };
    const named = (sides.service ?? sides.p2p)!.address.network;
    const asker = new Asker({ sides, network: named, dialect, limits, clock, random });
    super(asker, commandPath);
    this.#asker = asker;
    this.#nodeClock = nodeClock;
    this.#versionCode = new VersionCode(asker, versionCode);
  }

  /** @returns a client of a peer's P2P port. If the peer has an id, the port's certificate must match the id */
  static ofPeer(
    peer: Peer,
    options: Omit<NodeApiOptions, 'url' | 'p2pUrl' | 'trust' | 'p2pTrust'>,
    context: NodeApiContext = {},
  ): NodeApi {
    const of = { ...options, p2pUrl: urlOfPeer(peer), p2pTrust: trustOfPeer(peer) };
    return new NodeApi(of, { isStranger: true, ...context });
  }

  /**
   * The network's name in the path of the service URL, or of the P2P URL if that is the only one. If the path names no
   * network, the name in the options.
   */
  get network(): string {
    return this.#asker.network;
  }

  /** The version of the node's software, safe to show. Undefined before the first answer that has it. */
  get nodeVersion(): string | undefined {
    return this.#asker.nodeVersion;
  }

  /** Number of answers that have come so far. */
  get answers(): number {
    return this.#asker.answers;
  }

  /**
   * This machine's address as seen by the node, safe to show. Undefined until the node has sent it: real nodes do so at
   * the P2P port.
   */
  get seenAs(): string | undefined {
    return this.#asker.seenAs;
  }

  /**
   * The time to use as the creation time of a command.
   * @returns the lower of two times: the local clock, and the lower bound of the node's clock; in µs since the UNIX
   *   epoch
   * @throws Error while `skew` is undefined: call `cut()` first, for example
   */
  latestTimeUs(): bigint {
    if (!this.#nodeClock.skew) {
      throw new Error('The node has not told its time yet: ask for something first, such as cut().');
    }
    return this.#nodeClock.latestTimeUs();
  }

  /** The local clock minus the node's. Undefined before the first answer that has the node's time. */
  get skew(): Skew | undefined {
    return this.#nodeClock.skew;
  }

  /** The node's dialect. It is detected, unless it is in the options or in the URL. */
  dialect(stop: AbortSignal = NEVER): Promise<Dialect> {
    return this.#asker.dialect(stop);
  }

  /** `GET /cut` */
  cut(query: CutQuery = {}, stop: AbortSignal = NEVER): Promise<Cut> {
    return getCut(this.#asker, query, stop);
  }

  /** `PUT /cut` (P2P): publishes a cut with an origin. Success means only that the node will examine the cut. */
  putCut(cut: Cut, stop: AbortSignal = NEVER): Promise<void> {
    return putCut(this.#asker, cut, stop);
  }

  /** `GET /cut/peer` (P2P) */
  peers(query: PeersQuery = {}, stop: AbortSignal = NEVER): AsyncGenerator<Peer, void> {
    return getPeers(this.#asker, undefined, query, stop);
  }

  /** `PUT /cut/peer` (P2P) */
  putPeer(peer: Peer, stop: AbortSignal = NEVER): Promise<void> {
    return putPeer(this.#asker, peer, undefined, stop);
  }

  /** `GET /chain/<chain>/mempool/peer` (P2P) */
  mempoolPeers(chain: number, query: PeersQuery = {}, stop: AbortSignal = NEVER): AsyncGenerator<Peer, void> {
    return getPeers(this.#asker, chain, query, stop);
  }

  /** `PUT /chain/<chain>/mempool/peer` (P2P) */
  putMempoolPeer(chain: number, peer: Peer, stop: AbortSignal = NEVER): Promise<void> {
    return putPeer(this.#asker, peer, chain, stop);
  }

  /** `GET /chain/<chain>/payload/<payloadHash>` @param payloadHash 32 bytes */
  payload(
    chain: number,
    payloadHash: Uint8Array,
    query: PayloadQuery = {},
    stop: AbortSignal = NEVER,
  ): Promise<Proven<Payload>> {
    return new PayloadReader(this.#asker, BARE, chain).one(payloadHash, query, stop);
  }

  /** `GET /chain/<chain>/payload/<payloadHash>/outputs` @param payloadHash 32 bytes */
  payloadWithOutputs(
    chain: number,
    payloadHash: Uint8Array,
    query: PayloadQuery = {},
    stop: AbortSignal = NEVER,
  ): Promise<Proven<PayloadWithOutputs>> {
    return new PayloadReader(this.#asker, WITH_OUTPUTS, chain).one(payloadHash, query, stop);
  }

  /**
   * `POST /chain/<chain>/payload/batch`, in as many requests as needed
   * @returns for each place its payload, or undefined if the node does not have it
   */
  payloads(
    chain: number,
    places: readonly PayloadPlace[],
    stop: AbortSignal = NEVER,
  ): Promise<(Proven<Payload> | undefined)[]> {
    return new PayloadReader(this.#asker, BARE, chain).many(places, stop);
  }

  /**
   * `POST /chain/<chain>/payload/outputs/batch`, which real nodes serve although document 1 does not mention it
   * @returns for each place its payload, or undefined if the node does not have it
   */
  payloadsWithOutputs(
    chain: number,
    places: readonly PayloadPlace[],
    stop: AbortSignal = NEVER,
  ): Promise<(Proven<PayloadWithOutputs> | undefined)[]> {
    return new PayloadReader(this.#asker, WITH_OUTPUTS, chain).many(places, stop);
  }

  /** `GET /chain/<chain>/block`: all blocks, including orphans, in ascending order */
  blocks(chain: number, range: HeightRange = {}, stop: AbortSignal = NEVER): AsyncGenerator<Block, void> {
    return getBlocks(this.#asker, this.#versionCode, { chain, range }, stop);
  }

  /** `POST /chain/<chain>/block/branch`: the blocks of a branch, in descending order */
  blockBranch(
    chain: number,
    bounds: BranchBounds,
    range: HeightRange = {},
    stop: AbortSignal = NEVER,
  ): AsyncGenerator<Block, void> {
    return getBlocks(this.#asker, this.#versionCode, { chain, bounds, range }, stop);
  }

  /** `GET /chain/<chain>/hash`: the hashes of all blocks, including orphans, in ascending order, 32 bytes each */
  hashes(chain: number, range: HeightRange = {}, stop: AbortSignal = NEVER): AsyncGenerator<Uint8Array, void> {
    return getHashes(this.#asker, { chain, range }, stop);
  }

  /** `POST /chain/<chain>/hash/branch`: the hashes of a branch, in descending order, 32 bytes each */
  hashBranch(
    chain: number,
    bounds: BranchBounds,
    range: HeightRange = {},
    stop: AbortSignal = NEVER,
  ): AsyncGenerator<Uint8Array, void> {
    return getHashes(this.#asker, { chain, bounds, range }, stop);
  }

  /** `GET /chain/<chain>/header/<hash>`, which only real nodes serve @param hash the block hash, 32 bytes */
  header(chain: number, hash: Uint8Array, stop: AbortSignal = NEVER): Promise<BlockHeader> {
    return getHeader(this.#asker, chain, hash, stop);
  }

  /**
   * `GET /chain/<chain>/header`, which only real nodes serve: the headers of all blocks, including orphans, in
   * ascending order
   */
  headers(chain: number, range: HeightRange = {}, stop: AbortSignal = NEVER): AsyncGenerator<BlockHeader, void> {
    return getHeaders(this.#asker, { chain, range }, stop);
  }

  /** `POST /chain/<chain>/header/branch`, which only real nodes serve: the headers of a branch, in descending order */
  headerBranch(
    chain: number,
    bounds: BranchBounds,
    range: HeightRange = {},
    stop: AbortSignal = NEVER,
  ): AsyncGenerator<BlockHeader, void> {
    return getHeaders(this.#asker, { chain, bounds, range }, stop);
  }

  /** `GET /config` at the host root (P2P) @returns the report, whose keys differ between versions of nodes */
  config(stop: AbortSignal = NEVER): Promise<ExactJsonObject> {
    return getReport(this.#asker, stop);
  }

  /** `GET /info` at the host root */
  info(stop: AbortSignal = NEVER): Promise<NodeInfo> {
    return getInfo(this.#asker, stop);
  }

  /** `GET /health-check` at the host root @returns the node's text, on one line, safe to show */
  health(stop: AbortSignal = NEVER): Promise<string> {
    return getHealth(this.#asker, stop);
  }

  /** Closes all connections, even those with a request in progress. */
  async close(): Promise<void> {
    await this.#asker.close();
  }
}
