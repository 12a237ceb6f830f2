/**
 * A small mining node: serves the mining API of document 1 as real nodes do, referees strictly, keeps books, and can be
 * told to fail. What the first run and the tests mine against; there is no peer network and there are no transactions.
 */

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toHex } from '../chain/bytes.ts';
import { HEADER_BYTES, HEADER_OFFSET, TARGET_BYTES } from '../chain/layout.ts';
import { difficultyOf, targetForDifficulty } from '../chain/target.ts';
import { creationTimeOf, nonceOf } from '../chain/work.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import { Books, type Outcome } from './books.ts';
import { type Block, Chains } from './chains.ts';
import { type Endpoint, type Fault, type FaultInput, FaultScript } from './faults.ts';
import { createMockServer } from './http.ts';
import { type MinerInfo, type MockNodeOptions, minerSchema, optionsSchema, type Settings } from './options.ts';
import { type Random, randomInteger, seededRandom } from './random.ts';
import { type Judgement, nonceKey, Referee } from './referee.ts';
import { UpdateStreams } from './streams.ts';

/** What happens at the node, for a log. */
export type MockNodeEvent =
  | { event: 'work'; chain: number; height: bigint; account: string }
  | { event: 'submission'; outcome: Outcome; reason: string; chain: number; height: bigint; nonce: bigint }
  | { event: 'block'; by: 'miner' | 'rival'; chain: number; height: bigint }
  | { event: 'stream'; chain: number; open: number }
  | { event: 'fault'; endpoint: Endpoint; kind: Fault['kind'] };

export interface MockNodeSurroundings {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly onEvent?: (event: MockNodeEvent) => void;
}

export interface MockNodeAddress {
  /** `http://host:port` */
  readonly url: string;
  /** With the path of document 1: `http://host:port/ledger/0.0/<network>`. */
  readonly baseUrl: string;
  readonly port: number;
}

export class MockNode {
  readonly books = new Books();
  readonly settings: Settings;
  /** How far the node's clock is ahead of the real one; may be changed while running. */
  clockSkewMs: number;
  /** May be changed while running. */
  miningEnabled: boolean;
  /** Chooses the chain of the next work; may be replaced while running. */
  pickChain: () => number;
  readonly #chains: Chains;
  readonly #referee: Referee;
  readonly #streams: UpdateStreams;
  readonly #faults: FaultScript;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onEvent: (event: MockNodeEvent) => void;
  readonly #server: Server;
  /** Where it listens, once it has. */
  #port: number;
  #rivalTimer: NodeJS.Timeout | undefined;
  readonly #blockTimers = new Set<NodeJS.Timeout>();
  #refreshTimer: NodeJS.Timeout | undefined;

  /** @throws ZodError when the options are wrong. */
  constructor(options: MockNodeOptions = {}, { clock, random, onEvent }: MockNodeSurroundings = {}) {
    this.settings = optionsSchema.parse(options);
    this.clockSkewMs = this.settings.clockSkewMs;
    this.miningEnabled = this.settings.miningEnabled;
    this.#port = this.settings.port;
    this.#clock = clock ?? systemClock;
    this.#random = random ?? seededRandom(this.settings.seed ?? Math.floor(Math.random() * 2 ** 32));
    this.#onEvent = onEvent ?? (() => {});
    const target = targetForDifficulty(this.settings.difficulty);
    this.#chains = new Chains(this.settings.chains, this.settings.network, target, this.nowUs(), this.#random);
    this.#referee = new Referee(this.settings.workLifetimeMs);
    this.#streams = new UpdateStreams(this.settings, this.#random);
    this.#faults = new FaultScript(this.#random);
    this.pickChain = () => randomInteger(this.#random, this.settings.chains);
    this.#server = createMockServer(this);
    this.#server.on('connection', () => {
      this.books.connections += 1;
    });
  }

  /** @throws when the port cannot be had. */
  async start(): Promise<MockNodeAddress> {
    await this.#listen();
    if (this.settings.rivalMs > 0) this.#awaitRival();
    if (this.settings.refreshMs > 0) {
      this.#refreshTimer = setInterval(() => this.refreshPayload(), this.settings.refreshMs);
    }
    const url = `http://${this.settings.host}:${this.#port}`;
    return { url, baseUrl: `${url}/ledger/0.0/${this.settings.network}`, port: this.#port };
  }

  async close(): Promise<void> {
    clearTimeout(this.#rivalTimer);
    for (const timer of this.#blockTimers) clearTimeout(timer);
    clearInterval(this.#refreshTimer);
    this.#streams.close();
    await this.goAway();
  }

  /** Cuts off every connection, and has new ones refused until `comeBack`; the chains live on meanwhile. */
  async goAway(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Listens again, where it did before. */
  async comeBack(): Promise<void> {
    await this.#listen();
  }

  /** The node's clock: µs since the UNIX epoch. */
  nowUs(): bigint {
    return this.#clock.nowUs() + BigInt(this.clockSkewMs) * 1000n;
  }

  /** Expected hashes for a solution; a change counts for work handed out from now on. */
  get difficulty(): number {
    return difficultyOf(this.#chains.target);
  }
  set difficulty(expectedHashes: number) {
    this.#chains.target = targetForDifficulty(expectedHashes);
  }

  /** 32 bytes, little-endian. */
  get target(): Uint8Array {
    return this.#chains.target;
  }
  set target(target: Uint8Array) {
    if (target.length !== TARGET_BYTES) throw new RangeError(`a target is ${TARGET_BYTES} bytes, not ${target.length}`);
    this.#chains.target = target.slice();
  }

  /** The script of faults; may be changed while running. */
  get faults(): readonly Fault[] {
    return this.#faults.faults;
  }
  set faults(script: readonly FaultInput[]) {
    this.#faults.faults = script;
  }

  get openStreams(): number {
    return this.#streams.open;
  }

  openStreamsFor(chain: number): number {
    return this.#streams.openFor(chain);
  }

  endStreams(): void {
    this.#streams.endAll();
  }

  /** The streams that are open now tell nothing more, and end as they would have. */
  silenceStreams(): void {
    this.#streams.silenceAll();
  }

  /** The streams that are open now are gone without a word: their reader is not even told that they have ended. */
  loseStreams(): void {
    this.#streams.loseAll();
  }

  /** Somebody else's block. */
  advance(chain = randomInteger(this.#random, this.settings.chains)): void {
    const append = () => {
      this.books.rivalBlocks += 1;
      this.#append(chain, this.#chains.rivalHeader(chain, this.nowUs()), 'rival');
    };
    const { cutLeadMs } = this.settings;
    if (cutLeadMs === 0) append();
    else this.#later(cutLeadMs, append);
    this.#tellCut(chain);
  }

  /** Newer transactions for one chain: the old work stays valid. */
  refreshPayload(chain = randomInteger(this.#random, this.settings.chains)): void {
    this.#chains.refreshPayload(chain);
    this.#streams.refreshed(chain);
  }

  // What the HTTP routes ask for.

  nextFault(endpoint: Endpoint): Fault | undefined {
    const fault = this.#faults.next(endpoint);
    if (fault) {
      this.books.faults += 1;
      this.#onEvent({ event: 'fault', endpoint, kind: fault.kind });
    }
    return fault;
  }

  /** Whether nothing is handed out for now. */
  get hasTooMuchWork(): boolean {
    return this.#referee.remembered(this.#clock.monotonicMs()) > this.settings.workLimit;
  }

  /** Whether this miner may mine: account, predicate and keys must equal a configured miner's. */
  isAuthorized(miner: MinerInfo): boolean {
    const { miners } = this.settings;
    const keysOf = (each: MinerInfo) => JSON.stringify([...new Set(each['public-keys'])].sort());
    const same = (other: MinerInfo) =>
      other.account === miner.account && other.predicate === miner.predicate && keysOf(other) === keysOf(miner);
    return miners.length === 0 ? minerSchema.safeParse(miner).success : miners.some(same);
  }

  /** 322 bytes for a chain that the node picks. */
  issueWork(miner: MinerInfo): Uint8Array {
    const chain = this.pickChain();
    const record = this.#chains.work(chain, miner.account, this.nowUs());
    this.#referee.issue(record, chain, this.#chains.parentTimeUs(chain), this.#clock.monotonicMs());
    this.books.worksServed += 1;
    this.#onEvent({ event: 'work', chain, height: this.#chains.heightOf(chain) + 1n, account: miner.account });
    return record;
  }

  submit(header: Uint8Array): Judgement {
    const judgement = this.#referee.judge(header, this.nowUs(), this.#clock.monotonicMs());
    if (header.length === HEADER_BYTES) this.#book(header, judgement);
    if (judgement.status === 'taken') {
      if (judgement.work.late) this.books.orphaned += 1;
      else {
        this.#append(judgement.work.chain, header, 'miner');
        this.#tellCut(judgement.work.chain);
      }
    }
    return judgement;
  }

  blocks(chain: number, minHeight: bigint, maxHeight: bigint): Block[] {
    return this.#chains.blocks(chain, minHeight, maxHeight);
  }

  get streams(): UpdateStreams {
    return this.#streams;
  }

  streamOpened(chain: number): void {
    this.books.mostOpenStreams = Math.max(this.books.mostOpenStreams, this.#streams.open);
    this.#onEvent({ event: 'stream', chain, open: this.#streams.open });
  }

  #book(header: Uint8Array, judgement: Judgement): void {
    const view = new DataView(header.buffer, header.byteOffset);
    const outcome = judgement.status === 'taken' ? 'accepted' : judgement.status === 404 ? 'stale' : 'rejected';
    const submission = {
      outcome,
      reason: judgement.status === 'taken' ? '' : judgement.text,
      chain: view.getUint32(HEADER_OFFSET.chain, true),
      height: view.getBigUint64(HEADER_OFFSET.height, true),
      nonce: nonceOf(header),
      creationTimeUs: creationTimeOf(header),
      workTimeUs: judgement.work ? creationTimeOf(judgement.work.header) : undefined,
      duplicate: this.books.isDuplicate(toHex(header), nonceKey(header)),
      header,
    } as const;
    this.books.record(submission);
    if (judgement.status === 400 && judgement.timeViolation) this.books.timeViolations += 1;
    this.#onEvent({ event: 'submission', ...submission });
  }

  #append(chain: number, header: Uint8Array, by: 'miner' | 'rival'): void {
    this.#chains.append(chain, header);
    this.#referee.advance(chain, this.settings.lateSolutions === 'refuse');
    this.#onEvent({ event: 'block', by, chain, height: this.#chains.heightOf(chain) });
  }

  #tellCut(chain: number): void {
    this.#streams.newCut(chain);
    if (this.settings.neighbourCuts) {
      for (const neighbour of this.#chains.adjacentsOf(chain)) this.#streams.newCut(neighbour);
    }
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, this.settings.host);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #later(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#blockTimers.delete(timer);
      action();
    }, ms);
    this.#blockTimers.add(timer);
  }

  #awaitRival(): void {
    // Blocks are a Poisson process: exponential gaps.
    const gapMs = -Math.log(1 - this.#random()) * this.settings.rivalMs;
    this.#rivalTimer = setTimeout(() => {
      this.advance();
      this.#awaitRival();
    }, gapMs);
  }
}
