/**
 * The client of one node's API: every endpoint of document 1 except mining, and with `CommandApi` all of document 2.
 * Every method can throw a NodeError; iterators throw it while iterating. Whatever can be checked is checked: hashes,
 * roots, and that an answer matches its request.
 */

import { BY_AUTHORITY, type Trust } from '../../base/net/tls-trust.ts';
import { type Clock, systemClock } from '../../base/system/clock.ts';
import type { Cut, Peer } from '../../protocol/ledger/cut.ts';
import type { BlockHeader, Dialect } from '../../protocol/ledger/header.ts';
import type { ExactJsonObject } from '../../protocol/ledger/json.ts';
import type { Payload, PayloadWithOutputs, Proven } from '../../protocol/ledger/payload.ts';
import { NodeHttp } from '../http/exchange.ts';
import { NodeClock, type Skew } from '../http/node-clock.ts';
import { Asker, type DialectSetting, type HeightRange, NEVER } from '../http/request.ts';
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
  /** The service port: `http://host:port`, or a URL with the path of the API, which is then used as it is. */
  readonly url?: string;
  /** The P2P port. At least one of the two URLs is needed; nodes of documents 1 and 2 have only one. */
  readonly p2pUrl?: string;
  readonly network: string;
  /** Default: `auto`, which derives the dialect from the URL and from the node's answers. */
  readonly dialect?: DialectSetting;
  /**
   * The path before `/local`, below the path of the API, such as `chain/<chain>/pact/api/v1`, or from the host root,
   * such as `/api/v1` of a stand-alone server. Default: the dialect's.
   */
  readonly commandPath?: string;
  /** The version code in headers of a network that pickaxe does not know. Default: the node is asked. */
  readonly versionCode?: number;
  /** How to trust the certificate of each port. Default: signed by an authority. */
  readonly trust?: Trust;
  readonly p2pTrust?: Trust;
  readonly userAgent?: string;
}

export interface NodeApiContext {
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly limits?: Partial<ApiLimits>;
  /**
   * Whether only untrusted peers have named the node. If so, its name must not resolve to this machine or its link.
   */
  readonly isStranger?: boolean;
}

export class NodeApi extends CommandApi {
  readonly #asker: Asker;
  readonly #versionCode: VersionCode;
  readonly #nodeClock: NodeClock;

  /** @throws Error if no URL is given, or one is not a node URL */
  constructor(options: NodeApiOptions, context: NodeApiContext = {}) {
    const { url, p2pUrl, network, dialect = 'auto', commandPath, versionCode, userAgent = 'pickaxe' } = options;
    const { clock = systemClock, random = Math.random, isStranger = false } = context;
    if (url === undefined && p2pUrl === undefined) throw new Error('a client needs the URL of a node');
    const limits = { ...apiLimits, ...context.limits };
    const nodeClock = new NodeClock(clock);
    const shared = { nodeClock, clock, userAgent, isStranger };
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
    const asker = new Asker({ sides, network: named, dialect, limits, random });
    super(asker, commandPath);
    this.#asker = asker;
    this.#nodeClock = nodeClock;
    this.#versionCode = new VersionCode(asker, versionCode);
  }

  /** @returns a client of a peer's P2P port that trusts only the certificate with the peer's id */
  static ofPeer(
    peer: Peer,
    options: Omit<NodeApiOptions, 'url' | 'p2pUrl' | 'trust' | 'p2pTrust'>,
    context: NodeApiContext = {},
  ): NodeApi {
    const of = { ...options, p2pUrl: urlOfPeer(peer), p2pTrust: trustOfPeer(peer) };
    return new NodeApi(of, { isStranger: true, ...context });
  }

  /** The network's id in the URL, otherwise the given one. */
  get network(): string {
    return this.#asker.network;
  }

  /** The version of the node's software, after its first answer. Safe to show. */
  get nodeVersion(): string | undefined {
    return this.#asker.nodeVersion;
  }

  get answers(): number {
    return this.#asker.answers;
  }

  /** This machine's address as the node sees it, once known: real nodes send it on the P2P port. Safe to show. */
  get seenAs(): string | undefined {
    return this.#asker.seenAs;
  }

  /**
   * The time to use as the creation time of a command.
   * @returns the lower of the local clock and the node's, in µs since the UNIX epoch
   * @throws Error while `skew` is undefined: call `cut()` first, for example
   */
  latestTimeUs(): bigint {
    if (!this.#nodeClock.skew) {
      throw new Error('The node has not told its time yet: ask for something first, such as cut().');
    }
    return this.#nodeClock.latestTimeUs();
  }

  /** The local clock minus the node's; undefined before its first answer with its time. */
  get skew(): Skew | undefined {
    return this.#nodeClock.skew;
  }

  /** The node's dialect, which is detected unless it was given or is in the URL. */
  dialect(stop: AbortSignal = NEVER): Promise<Dialect> {
    return this.#asker.dialect(stop);
  }

  /** `GET /cut` */
  cut(query: CutQuery = {}, stop: AbortSignal = NEVER): Promise<Cut> {
    return getCut(this.#asker, query, stop);
  }

  /** `PUT /cut` (P2P): publishes a cut with an origin. Success means only that the node will examine it. */
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

  /** `POST /chain/<chain>/payload/batch`, as often as needed @returns each place's payload, or undefined */
  payloads(
    chain: number,
    places: readonly PayloadPlace[],
    stop: AbortSignal = NEVER,
  ): Promise<(Proven<Payload> | undefined)[]> {
    return new PayloadReader(this.#asker, BARE, chain).many(places, stop);
  }

  /** `POST /chain/<chain>/payload/outputs/batch`, which real nodes serve although document 1 does not mention it */
  payloadsWithOutputs(
    chain: number,
    places: readonly PayloadPlace[],
    stop: AbortSignal = NEVER,
  ): Promise<(Proven<PayloadWithOutputs> | undefined)[]> {
    return new PayloadReader(this.#asker, WITH_OUTPUTS, chain).many(places, stop);
  }

  /** `GET /chain/<chain>/block`: all blocks, orphans too, in ascending order */
  blocks(chain: number, range: HeightRange = {}, stop: AbortSignal = NEVER): AsyncGenerator<Block, void> {
    return getBlocks(this.#asker, this.#versionCode, { chain, range }, stop);
  }

  /** `POST /chain/<chain>/block/branch`: in descending order */
  blockBranch(
    chain: number,
    bounds: BranchBounds,
    range: HeightRange = {},
    stop: AbortSignal = NEVER,
  ): AsyncGenerator<Block, void> {
    return getBlocks(this.#asker, this.#versionCode, { chain, bounds, range }, stop);
  }

  /** `GET /chain/<chain>/hash`: the hashes of all blocks, orphans too, in ascending order, 32 bytes each */
  hashes(chain: number, range: HeightRange = {}, stop: AbortSignal = NEVER): AsyncGenerator<Uint8Array, void> {
    return getHashes(this.#asker, { chain, range }, stop);
  }

  /** `POST /chain/<chain>/hash/branch`: in descending order, 32 bytes each */
  hashBranch(
    chain: number,
    bounds: BranchBounds,
    range: HeightRange = {},
    stop: AbortSignal = NEVER,
  ): AsyncGenerator<Uint8Array, void> {
    return getHashes(this.#asker, { chain, bounds, range }, stop);
  }

  /** `GET /chain/<chain>/header/<hash>`, of real nodes @param hash the block hash, 32 bytes */
  header(chain: number, hash: Uint8Array, stop: AbortSignal = NEVER): Promise<BlockHeader> {
    return getHeader(this.#asker, chain, hash, stop);
  }

  /** `GET /chain/<chain>/header`, of real nodes: all headers, orphans' too, in ascending order */
  headers(chain: number, range: HeightRange = {}, stop: AbortSignal = NEVER): AsyncGenerator<BlockHeader, void> {
    return getHeaders(this.#asker, { chain, range }, stop);
  }

  /** `POST /chain/<chain>/header/branch`, of real nodes: in descending order */
  headerBranch(
    chain: number,
    bounds: BranchBounds,
    range: HeightRange = {},
    stop: AbortSignal = NEVER,
  ): AsyncGenerator<BlockHeader, void> {
    return getHeaders(this.#asker, { chain, bounds, range }, stop);
  }

  /** `GET /config` at the host root (P2P) @returns the report, whose keys differ between versions */
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
