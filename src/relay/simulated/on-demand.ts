/**
 * Blocks on demand, as the reference client has them: `POST /make-blocks` with `{"0": 2, "5": 1}` opens goals, and as
 * long as any is open, work of every chain is solved, because the chains need each other's blocks.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { Work } from '../../chain/work.ts';
import type { Verdict } from '../../source/source.ts';
import { formatHttpAddress, type HttpAddress, hostOf, isLoopback } from '../../text/addresses.ts';
import { jsonOrUndefined } from '../../text/plain-text.ts';
import type { Pace } from './pace.ts';

const PATH = '/make-blocks';
/** In bytes: goals for 1,000 chains need 15,000. */
const MOST_BODY_BYTES = 16_384;
/**
 * A goal ends when so many blocks in a row were none of its chain: the network has no such chain. Where nodes choose
 * among 20 chains at random, a chain is left out for so long once in 10^22 times.
 */
const MOST_OTHERS = 1_000;
/** The scripts of one machine use one or two; more are a mistake. */
const MOST_CONNECTIONS = 32;
/** A request of so few bytes comes at once on this machine. */
const REQUEST_MS = 10_000;

/** Blocks to make by chain. */
const Goals = z.record(z.string().regex(/^\d{1,4}$/), z.int().min(1).max(100_000));

interface Answer {
  readonly status: number;
  readonly json: object;
}

export class OnDemandPace implements Pace {
  readonly #address: HttpAddress;
  readonly #server: Server;
  /** How many blocks each chain still needs, and how many of other chains have come since its last one. */
  readonly #goals = new Map<number, { blocks: number; others: number }>();
  /** How many blocks the chains lacked that no work has named. */
  readonly #givenUp = new Map<number, number>();
  /** Solves the current work; undefined once it has been called, and while there is no work. */
  #solve: (() => void) | undefined;

  /** @throws Error when other machines could reach the address */
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

  /** The port it listens on. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? this.#address.port;
  }

  async open(): Promise<void> {
    const { host, port } = this.#address;
    await new Promise<void>((resolve, reject) => {
      // The listener stays: an `error` event that nobody hears, such as of a connection that fails, would end the
      // process.
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

  /** Solves the current work if a goal is open. The verdict on it decides whether the next one is solved, too. */
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
    // A page of any website can have its name resolved to this machine (DNS rebinding), but its own name is in this
    // header.
    if (!isLoopback(hostOf(headers.host) ?? '')) return { status: 403, json: faultOf('ask under a loopback address') };
    if (url.split('?')[0] !== PATH) return { status: 404, json: faultOf(`there is only ${PATH}`) };
    if (method === 'GET') return { status: 200, json: this.#open() };
    if (method === 'DELETE') {
      this.#goals.clear();
      this.#givenUp.clear();
      return { status: 200, json: this.#open() };
    }
    if (method !== 'POST') return { status: 405, json: faultOf('use POST, GET or DELETE') };
    // A web page cannot send this type to another origin without asking first, and it is never allowed to.
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

/** @returns undefined when it is too long */
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
