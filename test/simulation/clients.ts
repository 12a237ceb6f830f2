/** What a node sees of its clients: how often they ask, and how soon after a block they ask for new work. */

import { Allowance } from './allowance.ts';
import type { SimulatedProcess } from './virtual-time.ts';

/** The bounds of docs/node.md, "How often at most": at once, and then per second. */
const WORKS = { atOnce: 250, perSecond: 25 };
const STREAMS = { atOnce: 60, perSecond: 5 };
/** Requests that follow accepted solutions are not counted. As many can be saved up. */
const MOST_PAID = 16;
/** Open streams for each chain. While settings change, or after a suspension, one more may be open for a moment. */
const STREAMS_A_CHAIN = 2;
/** A client that has not asked for work after this time is counted as asking now. */
const LONGEST_DELAY_MS = 5_000;
/** Least number of delays from which a median is computed. */
const ENOUGH = 5;
/**
 * Longest median of the delays. A New Cut takes some 30 ms, and so does the request. Without streams, work is polled
 * every two seconds, so the median would be a second.
 */
const LONGEST_MEDIAN_MS = 400;
/** The same for clients that were refused work, whose pauses become long only after some time. */
const LONGEST_REFUSED_MS = 150;

interface Client {
  readonly works: Allowance;
  readonly streams: Allowance;
  paid: number;
  /** The chains of the open update streams, one each. */
  readonly open: number[];
  /** The chain of the last work; deleted when the client asks again. */
  chain?: number;
  /** The chain of the last work while no block has come on it: the client mines it, even if other work is refused. */
  minedChain?: number;
  /** Whether the client has been refused work since it last got any. */
  isRefused: boolean;
  /**
   * When a block came on this chain, or, if work was refused, on a chain with an open stream, after which the client
   * has not asked yet.
   */
  waitingSinceMs?: number;
}

export class Clients {
  readonly #nowMs: () => number;
  readonly #chains: number;
  readonly #violate: (what: string) => void;
  readonly #clients = new Map<SimulatedProcess, Client>();
  #delaysMs: number[] = [];
  /** The delays of clients that had been refused work. */
  #refusedDelaysMs: number[] = [];

  constructor(nowMs: () => number, chains: number, violate: (what: string) => void) {
    this.#nowMs = nowMs;
    this.#chains = chains;
    this.#violate = violate;
  }

  askedForWork(process: SimulatedProcess): void {
    const client = this.#of(process);
    this.#endWait(client);
    if (client.paid > 0) client.paid--;
    else if (!client.works.take(this.#nowMs())) this.#violate(`${process.name} asks for work too often`);
  }

  gaveWork(process: SimulatedProcess, chain: number): void {
    const client = this.#of(process);
    client.chain = chain;
    client.minedChain = chain;
    client.isRefused = false;
  }

  gotNoWork(process: SimulatedProcess): void {
    const client = this.#of(process);
    this.askedForWork(process);
    client.isRefused = true;
  }

  accepted(process: SimulatedProcess): void {
    const client = this.#of(process);
    client.paid = Math.min(client.paid + 1, MOST_PAID);
    // A solution ends the client's work. Whatever comes first tells that to the client.
    delete client.chain;
    delete client.minedChain;
    delete client.waitingSinceMs;
  }

  openedStream(process: SimulatedProcess, chain: number): void {
    const client = this.#of(process);
    if (!client.streams.take(this.#nowMs())) this.#violate(`${process.name} asks for streams too often`);
    client.open.push(chain);
    if (client.open.length > STREAMS_A_CHAIN * this.#chains)
      this.#violate(`${process.name} has ${client.open.length} update streams`);
  }

  endedStream(process: SimulatedProcess, chain: number): void {
    const { open } = this.#of(process);
    const at = open.indexOf(chain);
    if (at >= 0) open.splice(at, 1);
  }

  /** From now on, nothing is wrong, so that clients hear of every block. Earlier delays are forgotten. */
  calm(): void {
    this.#delaysMs = [];
  }

  /** A block of somebody else has come while the node and all of its streams were well. */
  block(chain: number): void {
    for (const [process, client] of this.#clients) {
      if (process.isDead || process.isFrozen) {
        this.#clients.delete(process);
        continue;
      }
      if (client.minedChain === chain) delete client.minedChain;
      const wantsWork = client.isRefused && client.minedChain === undefined;
      if (client.chain === chain || (wantsWork && client.open.includes(chain))) client.waitingSinceMs ??= this.#nowMs();
    }
  }

  /** Checks that clients have heard of blocks by their update streams. */
  checkEnd(): void {
    const medianMs = medianOf(this.#delaysMs) ?? 0;
    if (medianMs > LONGEST_MEDIAN_MS) this.#violate(`clients ask for work ${medianMs.toFixed(0)} ms after a block`);
  }

  /** Checks that clients that were refused work did not wait longer than until the next block. */
  checkRefused(): void {
    const medianMs = medianOf(this.#refusedDelaysMs) ?? 0;
    this.#refusedDelaysMs = [];
    if (medianMs > LONGEST_REFUSED_MS) {
      this.#violate(`clients without work ask for it ${medianMs.toFixed(0)} ms after a block`);
    }
  }

  #endWait(client: Client): void {
    if (client.waitingSinceMs !== undefined) {
      const delayMs = Math.min(this.#nowMs() - client.waitingSinceMs, LONGEST_DELAY_MS);
      (client.isRefused ? this.#refusedDelaysMs : this.#delaysMs).push(delayMs);
    }
    delete client.waitingSinceMs;
    delete client.chain;
  }

  #of(process: SimulatedProcess): Client {
    let client = this.#clients.get(process);
    if (!client) {
      client = { works: new Allowance(WORKS), streams: new Allowance(STREAMS), paid: 0, open: [], isRefused: false };
      this.#clients.set(process, client);
    }
    return client;
  }
}

/** @returns the median; undefined of too few */
const medianOf = (list: readonly number[]) =>
  list.length < ENOUGH ? undefined : list.toSorted((a, b) => a - b)[list.length >> 1];
