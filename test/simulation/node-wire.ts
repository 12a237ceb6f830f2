/** What goes to and fro between a simulated node and its clients: requests, answers, bodies and update streams. */

import { Readable } from 'node:stream';
import type { SimulatedProcess } from './virtual-time.ts';

export interface Request {
  readonly path: string;
  readonly body: string | Uint8Array | null;
  readonly signal: AbortSignal;
}

/** An update stream: what it carries arrives in the client's process after a while, in order. */
export class UpdateStream {
  readonly chain: number;
  onEnd: () => void = () => {};
  readonly #client: SimulatedProcess;
  readonly #latencyMs: () => number;
  readonly #connection: number;
  #lastMs = 0;
  #isOver = false;
  readonly body = new Readable({ read: () => {} });

  constructor(chain: number, client: SimulatedProcess, latencyMs: () => number) {
    this.chain = chain;
    this.#client = client;
    this.#connection = client.connection;
    this.#latencyMs = latencyMs;
    this.body.on('error', () => {});
  }

  announce(): void {
    if (this.#client.connection !== this.#connection) this.end();
    this.#send('event:New Cut\n\n');
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onEnd();
    this.#send(null);
  }

  #send(chunk: string | null): void {
    const nowMs = this.#client.virtualMs;
    this.#lastMs = Math.max(this.#lastMs, nowMs + this.#latencyMs());
    this.#client.arrive(this.#lastMs - nowMs, () => {
      // The connection is dead after a suspension, which the client does not know.
      if (this.#client.connection !== this.#connection) return;
      if (!this.body.destroyed) this.body.push(chunk === null ? null : Buffer.from(chunk));
    });
  }
}

export interface Answer {
  readonly status: number;
  readonly body?: Buffer | string;
  /** The node's end of an update stream. */
  readonly stream?: UpdateStream;
}

/** How the body of an answer comes: at once, only its first half, or in two halves with this pause between them. */
export type Delivery = 'whole' | 'half' | { readonly pauseMs: number };

/** @returns what a client gets of an answer */
export function responseOf(
  { status, body = '', stream }: Answer,
  headers: Record<string, string>,
  delivery: Delivery,
  client: SimulatedProcess,
  signal: AbortSignal,
) {
  const readable = stream?.body ?? bodyOf(Buffer.from(body), delivery, client);
  // As undici does, the end of the request ends the body, too.
  const aborted = () => readable.destroy(signal.reason);
  signal.addEventListener('abort', aborted, { once: true });
  readable.once('close', () => signal.removeEventListener('abort', aborted)).on('error', () => {});
  const dump = async () => void readable.resume();
  return { statusCode: status, headers, body: Object.assign(readable, { dump }) };
}

function bodyOf(bytes: Buffer, delivery: Delivery, client: SimulatedProcess): Readable {
  if (bytes.length === 0) return Readable.from([]);
  if (delivery === 'whole') return Readable.from([bytes]);
  const readable = new Readable({ read: () => {} });
  readable.on('error', () => {});
  const middle = bytes.length >> 1;
  readable.push(bytes.subarray(0, middle));
  const end = () => {
    if (readable.destroyed) return;
    if (delivery === 'half') readable.destroy(failure('other side closed', 'UND_ERR_SOCKET'));
    else {
      readable.push(bytes.subarray(middle));
      readable.push(null);
    }
  };
  client.arrive(delivery === 'half' ? 1 : delivery.pauseMs, end);
  return readable;
}

export const failure = (message: string, code: string) => Object.assign(new Error(message), { code });
