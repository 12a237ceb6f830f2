/**
 * Simulates hashers for test networks whose nodes do not check the proof of work. Work of the main network is never
 * solved.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { Clock, Timer } from '../../base/system/clock.ts';
import { formatHttpAddress, type HttpAddress, hostOf, isLoopback } from '../../base/text/addresses.ts';
import { jsonOrUndefined } from '../../base/text/plain-text.ts';
import type { Job } from '../../protocol/chain/job.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import { powHash, type Solution } from '../../protocol/chain/verify.ts';
import { networkNumberOf, type Work, withNonce } from '../../protocol/chain/work.ts';
import type { Listener } from '../events/events.ts';
import type { Verdict, WorkSource } from '../source/source.ts';
import { LoneWorker } from './accounts.ts';
import { type Relay, RelayedWorks } from './relay.ts';

/**
 * The network number of mainnet01 in block headers: all 61 headers of mainnet01 in test/vectors/headers.json have it.
 */
const MAINNET = 5;
/** Pause after a solution that was not accepted, so that a node which checks the proof of work is not flooded. */
const REST_MS = 1_000;

interface SimulatedRelayOptions {
  readonly pace: Pace;
  readonly source: WorkSource;
  readonly emit: Listener;
  readonly clock: Clock;
  readonly random: () => number;
  readonly warn: (line: string) => void;
}

export class SimulatedRelay implements Relay {
  readonly name = 'simulated';
  readonly #options: SimulatedRelayOptions;
  readonly #works: RelayedWorks;
  #account: LoneWorker | undefined;
  /** Cancels the pace's plan for the present work. */
  #cancel = () => {};
  #rest: Timer | undefined;
  #hasRefused = false;

  constructor(options: SimulatedRelayOptions) {
    this.#options = options;
    const { source, emit, clock } = options;
    const changed = (work: Work | undefined) => this.#change(work);
    this.#works = new RelayedWorks({ name: this.name, source, emit, clock, changed });
  }

  async open(): Promise<void> {
    await this.#options.pace.open?.();
  }

  async run(stop: AbortSignal): Promise<void> {
    const { emit, clock } = this.#options;
    this.#account = new LoneWorker({ relay: this.name, worker: this.name, emit, clock, hashes: false });
    try {
      await this.#works.follow(stop);
    } finally {
      this.#cancel();
      this.#rest?.cancel();
      this.#account.end();
      await this.#options.pace.close?.();
    }
  }

  #change(work: Work | undefined): void {
    this.#account?.works(work?.target);
    this.#cancel();
    if (work && !this.#rest) this.#begin(work);
  }

  #begin(work: Work): void {
    if (networkNumberOf(work.header) === MAINNET) {
      if (!this.#hasRefused) this.#options.warn('this is work of mainnet01, for which nothing is simulated');
      this.#hasRefused = true;
      return;
    }
    this.#cancel = this.#options.pace.begin(work, () => this.#solve(work), this.#options.clock);
  }

  #solve(work: Work): void {
    const job = this.#works.jobOf(work);
    if (!job) return;
    const nonce = BigInt(Math.floor(this.#options.random() * 2 ** 53));
    const solution = assumeSolved(job, nonce);
    void this.#works.submit(solution)?.then((verdict) => this.#apply(solution, verdict));
  }

  #apply(solution: Solution, verdict: Verdict): void {
    const { outcome } = verdict;
    this.#options.pace.judged?.(solution.work, verdict);
    this.#account?.brought(solution, outcome);
    if (outcome === 'accepted' || this.#rest) return;
    this.#cancel();
    this.#rest = this.#options.clock.setTimeout(() => {
      this.#rest = undefined;
      const { current } = this.#works;
      if (current) this.#begin(current);
    }, REST_MS);
  }
}

/**
 * Makes a solution WITHOUT PROOF OF WORK. Only nodes of a test network that do not check the proof of work accept it.
 * Other nodes reject it, and drop the work for all rigs of the same miner.
 */
export function assumeSolved(job: Job, nonce: bigint): Solution {
  const header = withNonce(job.header, nonce);
  const isShare = job.work.until === 'replaced';
  return { work: job.work, nonce, header, powHash: powHash(header), isBlock: true, isShare } as Solution;
}

/*
 * Blocks on demand, as in the reference client: `POST /make-blocks` with `{"0": 2, "5": 1}` requests two blocks of
 * chain 0 and one block of chain 5. Such a number of blocks is the goal of its chain. While any goal is open, works of
 * all chains are solved, because a chain can grow only if its neighbors grow, too.
 */

const PATH = '/make-blocks';
/** Maximum length of a request's body, in bytes. Goals for 1,000 chains take up to 15,000 bytes. */
const MOST_BODY_BYTES = 16_384;
/**
 * A goal is dropped after this number of accepted blocks in a row that were all of other chains: probably the network
 * has no such chain. If nodes choose among 20 chains at random, the probability of this is about 10^−22 for a chain
 * that exists.
 */
const MOST_OTHERS = 1_000;
/** Maximum number of connections at the same time. Scripts on this machine use one or two. */
const MOST_CONNECTIONS = 32;
/** Time limit for receiving a request. A short request from the same machine takes far less. */
const REQUEST_MS = 10_000;

const Goals = z.record(z.string().regex(/^\d{1,4}$/), z.int().min(1).max(100_000));

interface Answer {
  readonly status: number;
  readonly json: object;
}

export class OnDemandPace implements Pace {
  readonly #address: HttpAddress;
  readonly #server: Server;
  /**
   * The open goals by chain. `blocks`: number of missing blocks of the chain. `others`: number of accepted blocks of
   * other chains since the goal was last requested or the chain had its last block.
   */
  readonly #goals = new Map<number, { blocks: number; others: number }>();
  /**
   * The dropped goals by chain: the number of blocks that were missing when the goal was dropped (see `MOST_OTHERS`).
   */
  readonly #givenUp = new Map<number, number>();
  /** Solves the current work. Undefined if there is no work, or if the work has been solved. */
  #solve: (() => void) | undefined;

  /** @throws Error unless the host is a loopback address */
  constructor(address: HttpAddress) {
    if (!isLoopback(address.host))
      throw new Error('blocks on demand are for this machine only: give a loopback address');
    this.#address = address;
    this.#server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
      void this.#handle(request, response);
    });
    this.#server.maxConnections = MOST_CONNECTIONS;
  }

  get what(): string {
    return `blocks on demand: POST http://${formatHttpAddress({ ...this.#address, port: this.port })}${PATH}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? this.#address.port;
  }

  async open(): Promise<void> {
    const { host, port } = this.#address;
    await new Promise<void>((resolve, reject) => {
      // The listener is never removed: without a listener, a later `error` event of the server would end the process.
      this.#server.on('error', reject);
      this.#server.listen(port, host, resolve);
    });
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  begin(_: Work, solve: () => void): () => void {
    this.#solve = solve;
    this.#go();
    return () => {
      if (this.#solve === solve) this.#solve = undefined;
    };
  }

  judged({ chain }: Work, { outcome }: Verdict): void {
    if (outcome !== 'accepted') return;
    for (const [wanted, goal] of this.#goals) {
      goal.others = wanted === chain ? 0 : goal.others + 1;
      if (wanted === chain) goal.blocks--;
      if (goal.others >= MOST_OTHERS) this.#givenUp.set(wanted, goal.blocks);
      if (goal.blocks <= 0 || goal.others >= MOST_OTHERS) this.#goals.delete(wanted);
    }
  }

  /** Solves the current work if any goal is open. The verdict on the solution is counted in `judged`. */
  #go(): void {
    if (this.#goals.size === 0) return;
    const solve = this.#solve;
    this.#solve = undefined;
    solve?.();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, json } = await this.#answer(request).catch(() => ({ status: 400, json: faultOf('unreadable') }));
    const headers = { 'content-type': 'application/json', ...(status >= 400 && { connection: 'close' }) };
    response.writeHead(status, headers).end(`${JSON.stringify(json)}\n`);
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const { method, url = '', headers } = request;
    // A web page can make its own host name resolve to this machine (DNS rebinding). Then the `Host` header has that
    // name.
    if (!isLoopback(hostOf(headers.host) ?? '')) return { status: 403, json: faultOf('ask under a loopback address') };
    if (url.split('?')[0] !== PATH) return { status: 404, json: faultOf(`there is only ${PATH}`) };
    if (method === 'GET') return { status: 200, json: this.#open() };
    if (method === 'DELETE') {
      this.#goals.clear();
      this.#givenUp.clear();
      return { status: 200, json: this.#open() };
    }
    if (method !== 'POST') return { status: 405, json: faultOf('use POST, GET or DELETE') };
    // A web page cannot send this content type to another origin without a preflight request, and this server refuses
    // those.
    if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
      return { status: 415, json: faultOf('send application/json') };
    }
    const body = await bodyOf(request);
    if (body === undefined) return { status: 413, json: faultOf(`send at most ${MOST_BODY_BYTES} bytes`) };
    const goals = Goals.safeParse(jsonOrUndefined(body)).data;
    if (!goals) return { status: 400, json: faultOf('send an object of chains and counts, like {"0": 2, "5": 1}') };
    for (const [name, count] of Object.entries(goals)) {
      const chain = Number(name);
      this.#goals.set(chain, { blocks: (this.#goals.get(chain)?.blocks ?? 0) + count, others: 0 });
      this.#givenUp.delete(chain);
    }
    this.#go();
    return { status: 200, json: this.#open() };
  }

  #open(): object {
    const open = Object.fromEntries(Array.from(this.#goals, ([chain, { blocks }]) => [chain, blocks]));
    return { open, ...(this.#givenUp.size > 0 && { givenUp: Object.fromEntries(this.#givenUp) }) };
  }
}

function faultOf(message: string): object {
  return { error: { message } };
}

/** @returns the request's body; undefined if it has more than `MOST_BODY_BYTES` bytes */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * Number of chains of the network. A constant delay is divided by this number, as in the reference client, so that each
 * chain gets one block per delay.
 */
const CHAINS = 20;

export interface Pace {
  /** A description of the pace for people, on one line. */
  readonly what: string;
  /**
   * Plans the solution of a work: calls `solve` when the work should be solved.
   * @returns a function that cancels the plan
   */
  begin(work: Work, solve: () => void, clock: Clock): () => void;
  judged?(work: Work, verdict: Verdict): void;
  /** Begins to listen, if the pace is a server. @throws Error if that is not possible */
  open?(): Promise<void>;
  close?(): Promise<void>;
}

/**
 * Solves works as often as devices of a given hashrate would. The number of hashes for a work is exponentially
 * distributed, and its mean is the work's difficulty.
 */
export class HashratePace implements Pace {
  readonly what: string;
  readonly #hashesPerSecond: number;
  readonly #random: () => number;

  /** @param random returns uniformly distributed numbers in [0, 1) */
  constructor(hashesPerSecond: number, random: () => number) {
    this.#hashesPerSecond = hashesPerSecond;
    this.#random = random;
    this.what = `a hashrate of ${hashesPerSecond} H/s`;
  }

  begin({ target }: Work, solve: () => void, clock: Clock): () => void {
    const hashes = -Math.log(1 - this.#random()) * difficultyOf(target);
    return later(clock, (1000 * hashes) / this.#hashesPerSecond, solve);
  }
}

/**
 * Solves each work after a constant time. If the works of 20 chains take turns, each chain gets one block in `seconds`.
 */
export class DelayPace implements Pace {
  readonly what: string;
  readonly #ms: number;

  constructor(seconds: number) {
    this.#ms = (1000 * seconds) / CHAINS;
    this.what = `a block of each of ${CHAINS} chains in ${seconds} s`;
  }

  begin(_: Work, solve: () => void, clock: Clock): () => void {
    return later(clock, this.#ms, solve);
  }
}

function later(clock: Clock, ms: number, action: () => void): () => void {
  const timer = clock.setTimeout(action, ms);
  return () => timer.cancel();
}
