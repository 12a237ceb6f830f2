/** A simulated ASIC: a stratum client on a socket, which really hashes. */

import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type ConnectionOptions as TlsOptions, connect as tlsConnect } from 'node:tls';
import { puzzleOf, solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce } from '#pickaxe/protocol/chain/nonce.js';
import { parseHeader, parseTarget } from '#pickaxe/protocol/wire/stratum.js';

// biome-ignore lint/suspicious/noExplicitAny: messages are of many kinds
type Message = any;

export class Asic {
  readonly socket: Socket;
  /** All that the server has sent. */
  readonly received: Message[] = [];
  readonly closed: Promise<unknown>;
  nonce1 = -1;
  #targetHex = '';
  #notify: Message;
  #next = 0;
  #id = 10;

  constructor(port: number, { tls, first }: { tls?: TlsOptions; first?: string | Buffer } = {}) {
    const raw = connect(port, '127.0.0.1');
    raw.on('error', () => {});
    if (first !== undefined) raw.write(first);
    this.socket = tls ? tlsConnect({ ...tls, socket: raw }) : raw;
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.socket.once('close', resolve));
    const lines = createInterface({ input: this.socket });
    lines.on('line', (line) => this.#take(JSON.parse(line)));
    lines.on('error', () => {});
  }

  say(message: object | string): void {
    this.socket.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`);
  }

  login(user = 'asic.1', password = 'd=0.0000001'): void {
    this.say({ id: 1, method: 'mining.subscribe', params: ['asic/1', null] });
    this.say({ id: 2, method: 'mining.authorize', params: [user, password] });
  }

  get job(): Message {
    return this.#notify;
  }

  /** Hashes until it has found a share of its newest job, and submits it. @returns the id of the request */
  mine(hashes = 100_000): number | undefined {
    if (!this.#notify || this.nonce1 < 0) return undefined;
    const [job, headerHex] = this.#notify.params;
    const puzzle = puzzleOf(parseHeader(headerHex) as Uint8Array, parseTarget(this.#targetHex) as Uint8Array);
    for (const end = this.#next + hashes; this.#next < end; this.#next++) {
      const nonce = { lane: this.nonce1, step: 1, counter: this.#next, page: 0 };
      if (!solves(puzzle, nonce)) continue;
      this.#next++;
      const nonce2 = (joinNonce(nonce) >> 16n).toString(16).padStart(12, '0');
      this.say({ id: ++this.#id, method: 'mining.submit', params: ['asic.1', job, nonce2] });
      return this.#id;
    }
    return undefined;
  }

  answerTo(id: unknown): Message {
    return this.received.find((message) => message.id === id && message.method === undefined);
  }

  end(): void {
    this.socket.destroy();
  }

  #take(message: Message): void {
    this.received.push(message);
    if (message.id === 1 && message.result) this.nonce1 = Number.parseInt(message.result[1], 16);
    if (message.method === 'mining.set_target') this.#targetHex = message.params[0];
    if (message.method === 'mining.notify') {
      this.#notify = message;
      this.#next = 0;
    }
  }
}
