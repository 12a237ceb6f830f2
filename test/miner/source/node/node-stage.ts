/** A source on a node of which the test gives every answer, and what the source does with it, in words. */

import { vi } from 'vitest';
import { sharedController } from '#pickaxe/base/system/abort.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import type { SourceUpdate } from '#pickaxe/miner/source/source.js';
import type { Transport } from '#pickaxe/node/http/exchange.js';
import { basePathOf } from '#pickaxe/node/http/url.js';
import { parseWork, type Work } from '#pickaxe/protocol/chain/work.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { turns } from '../../../turns.ts';
import { wrongSolution } from '../follow.ts';
import { miner } from './node.ts';

/** What the network DEVELOPMENT calls itself in headers, and what another one does. */
const [OWN, OTHER] = [1, 5];

interface Contents {
  chain?: number;
  height?: number;
  parent?: number;
  payload?: number;
  code?: number;
  /** The creation time, in seconds: nodes write the present into each copy of a work. */
  atS?: number;
}

/** The works that the node gives, by the names that tests call them. */
export const WORKS: Record<string, Contents> = {
  A: {},
  'A later': { atS: 20 },
  'A with more': { payload: 2 },
  B: { parent: 2, height: 8, payload: 3 },
  /** On another parent at A's height: the block below was replaced. */
  'A beside': { parent: 3, payload: 4 },
  /** Of a node that is a block behind. */
  before: { parent: 4, height: 6, payload: 5 },
  C: { chain: 5, parent: 5, payload: 6 },
  foreign: { code: OTHER, payload: 7 },
};

export function recordOf(name: string): Uint8Array {
  const { chain = 3, height = 7, parent = 1, payload = 1, code = OWN, atS = 0 } = WORKS[name];
  const record = new Uint8Array(322);
  const view = new DataView(record.buffer);
  view.setUint32(0, chain, true);
  view.setBigInt64(36 + 8, BigInt(atS) * 1_000_000n, true);
  record.fill(parent, 36 + 16, 36 + 48);
  record.fill(payload, 36 + 190, 36 + 222);
  view.setUint32(36 + 222, chain, true);
  view.setBigUint64(36 + 258, BigInt(height), true);
  view.setUint32(36 + 266, code, true);
  return record;
}

/** @returns the name of a work: that of its payload, whatever its time is */
function nameOf({ header }: Work): string {
  const payload = header[190];
  return Object.keys(WORKS).find((name) => (WORKS[name].payload ?? 1) === payload)!;
}

/** An answer of the node, or how its connection fails. */
export type Answer =
  | {
      status: number;
      body?: Uint8Array | string;
      headers?: Record<string, string>;
      /** Whether the answer has a node's headers. The default is true. */
      byNode?: boolean;
      /** Whether the connection breaks after the body. */
      isCut?: boolean;
    }
  | Error;

export const gives = (name: string): Answer => ({ status: 200, body: recordOf(name) });
export const broken = () => Object.assign(new Error('the other side closed'), { code: 'UND_ERR_SOCKET' });
export const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

interface Asked {
  /** The last part of the path: `work`, `solved`, `updates` and the chain, `config` or `health-check`. */
  readonly what: string;
  readonly signal: AbortSignal;
  readonly settle: (answer: Answer | Wire) => void;
}

/** The body of an open stream. */
class Wire {
  readonly #chunks: (Uint8Array | Error | undefined)[] = [];
  #wake = () => {};

  /** @param chunk undefined ends the stream */
  push(chunk: string | Error | undefined): void {
    this.#chunks.push(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk);
    this.#wake();
  }

  async *read(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const wake = () => this.#wake();
    signal.addEventListener('abort', wake, { once: true });
    for (;;) {
      if (signal.aborted) throw signal.reason;
      if (this.#chunks.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const chunk = this.#chunks.shift();
      if (chunk === undefined) return;
      if (chunk instanceof Error) throw chunk;
      yield chunk;
    }
  }
}

/** How long a cell of a table is looked at, unless the node is asked for work before. */
const LOOK_MS = 21_000;
/** Works are too old sooner than in the world, so that tests need not wait through hundreds of refused requests. */
const EXPIRY_MS = 40_000;

/** @returns what ends the use of the stage's time */
function useStage(): () => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  const fake = setTimeout;
  // As in Node.js, no timer fires before a millisecond has passed: a wait for the rest of one must not repeat for ever.
  vi.stubGlobal('setTimeout', (act: () => void, ms = 1, ...more: []) => fake(act, Math.max(1, ms), ...more));
  return () => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  };
}

/** How a cell of a table is looked at: by default until work is asked for, and with everything that is seen. */
export interface Look {
  readonly until?: string;
  readonly mostMs?: number;
  readonly hasPlace?: (what: string) => boolean;
}

interface RequestOptions {
  readonly path: string;
  readonly body: string | Uint8Array | null;
  readonly signal: AbortSignal;
}

export class Stage {
  readonly source: NodeSource;
  /** What was seen, and when (ms). */
  readonly seen: { readonly what: string; readonly atMs: number }[] = [];
  /** What the source has said to people. */
  readonly reasons: string[] = [];
  /** The node's clock, in seconds since the UNIX epoch, as its answers have it. */
  nodeSeconds = 1_000;
  /** Number of times that the source has renewed its connections: each kind of them has a transport of its own. */
  transports = 0;
  readonly #dialect: Dialect;
  readonly #leave: () => void;
  readonly #stopping = sharedController();
  readonly #ended: Promise<void>;
  readonly #works = new Map<string, Work>();
  #asked: Asked[] = [];
  readonly #always = new Map<string, Answer>();
  readonly #wires = new Map<string, Wire>();
  #sleptMs = 0;

  constructor(dialect: Dialect) {
    this.#leave = useStage();
    this.#dialect = dialect;
    const clock = {
      ...systemClock,
      nowUs: () => BigInt(Date.now() + this.#sleptMs) * 1000n,
      monotonicMs: () => Date.now() + this.#sleptMs,
    };
    const options = { url: 'http://node.example:1848', network: 'development', miner };
    this.source = new NodeSource(options, {
      clock,
      random: () => 1,
      limits: { expiryMs: EXPIRY_MS },
      emit: (event) => this.#told(event),
      transport: () => {
        this.transports++;
        return this.#transport;
      },
    });
    this.#ended = this.source.follow((update) => this.#updated(update), this.#stopping.signal);
  }

  readonly #transport: Transport = {
    request: (request) => this.#request(request as RequestOptions) as ReturnType<Transport['request']>,
    close: async () => {},
    destroy: async () => {},
  };

  #request({ path, body, signal }: RequestOptions): Promise<unknown> {
    const base = basePathOf(this.#dialect, 'development');
    const isBelow = path.startsWith(base);
    if (path.includes('/0.0/') && !isBelow) return Promise.resolve(this.#response({ status: 404 }, signal));
    const last = path.slice(path.lastIndexOf('/') + 1);
    const what = last === 'updates' ? `stream ${(body as Uint8Array)[0]}` : last;
    if (what !== 'config') this.#see(what === 'work' ? 'asks' : what === 'solved' ? 'sends' : `asks for ${what}`);
    return new Promise((resolve, reject) => {
      const asked: Asked = {
        what,
        signal,
        settle: (answer) => {
          this.#asked = this.#asked.filter((each) => each !== asked);
          if (answer instanceof Error) reject(answer);
          else resolve(this.#response(answer, signal));
        },
      };
      this.#asked.push(asked);
      const answer = this.#always.get(what);
      if (answer) asked.settle(answer);
      signal.addEventListener('abort', () => {
        if (!this.#asked.includes(asked)) return;
        this.#asked = this.#asked.filter((each) => each !== asked);
        if (what === 'work') this.#see('asks no longer');
        reject(signal.reason);
      });
    });
  }

  /** Answers the oldest open request for this. */
  answer(what: string, answer: Answer): void {
    const asked = this.#asked.find((each) => each.what === what);
    if (!asked) throw new Error(`nobody asks for ${what}`);
    asked.settle(answer);
  }

  isAsked(what: string): boolean {
    return this.#asked.some((each) => each.what === what);
  }

  /** Lets time pass until this is asked for. */
  async until(what: string): Promise<void> {
    if (!(await this.#passUntil(() => this.isAsked(what), LOOK_MS))) throw new Error(`nobody asks for ${what}`);
  }

  /** Answers this request, and each later one, as soon as it is made. */
  always(what: string, answer: Answer): void {
    this.#always.set(what, answer);
    this.#asked.find((each) => each.what === what)?.settle(answer);
  }

  /** Gives work, and looks at what is due at once. */
  async give(name: string): Promise<void> {
    this.answer('work', gives(name));
    await this.pass(0);
  }

  /** Opens the stream that was asked for. */
  open(chain: number): void {
    const wire = new Wire();
    this.#asked.find(({ what }) => what === `stream ${chain}`)!.settle(wire);
    this.#wires.set(`stream ${chain}`, wire);
  }

  /** @param chunk undefined ends the stream */
  send(chain: number, chunk: string | Error | undefined): void {
    this.#wires.get(`stream ${chain}`)!.push(chunk);
  }

  /** Submits a solution of the work of this name. */
  submit(name: string): void {
    const work = this.#works.get(name) ?? parseWork(recordOf(name));
    void this.source
      .submit(wrongSolution(work), this.#stopping.signal)
      .then(({ outcome }) => this.#see(`verdict: ${outcome}`));
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Lets time pass of which the process does not notice anything before its next timer. */
  sleep(ms: number): void {
    this.#sleptMs += ms;
  }

  async pass(ms: number): Promise<void> {
    if (ms === 0) await turns(1);
    else await this.#passUntil(() => false, ms);
  }

  /** Lets time pass until this is true, but at most `mostMs`. @returns whether it is true */
  async #passUntil(isThere: () => boolean, mostMs: number): Promise<boolean> {
    let isOver = false;
    const end = setTimeout(() => {
      isOver = true;
    }, mostMs);
    await turns(1);
    while (!isThere() && !isOver) {
      vi.advanceTimersToNextTimer();
      await turns(1);
    }
    clearTimeout(end);
    return isThere();
  }

  /**
   * @param until what the cell of a table ends with, if it is seen within `mostMs`
   * @param hasPlace whether something has a place in the cell
   * @returns what is seen by an event, and after how many seconds
   */
  async after(
    event: () => void | Promise<void>,
    { until = 'asks', mostMs = LOOK_MS, hasPlace = () => true }: Look = {},
  ): Promise<string> {
    const { length } = this.seen;
    const beganMs = Date.now();
    await event();
    await this.#passUntil(() => this.seen.slice(length).some(({ what }) => what === until), mostMs);
    const words = this.seen.slice(length).flatMap(({ what, atMs }) => {
      const seconds = Math.round((atMs - beganMs) / 10) / 100;
      return hasPlace(what) ? (seconds === 0 ? what : `${seconds} s: ${what}`) : [];
    });
    return words.join(', ') || '-';
  }

  async end(): Promise<void> {
    this.stop();
    for (const { settle } of [...this.#asked]) settle(broken());
    await this.pass(10_000);
    await this.#ended;
    this.#leave();
  }

  #see(what: string): void {
    this.seen.push({ what, atMs: Date.now() });
  }

  #response(answer: Exclude<Answer, Error> | Wire, signal: AbortSignal) {
    const node = { 'x-server-timestamp': String(this.nodeSeconds) };
    if (answer instanceof Wire) {
      const body = Object.assign(answer.read(signal), { dump: async () => {}, destroy: () => {} });
      return { statusCode: 200, headers: node, body };
    }
    const { status, body = '', headers = {}, byNode = true, isCut = false } = answer;
    const read = async function* () {
      if (body.length > 0) yield typeof body === 'string' ? Buffer.from(body) : Buffer.from(body);
      if (isCut) throw broken();
    };
    const stream = Object.assign(read(), { dump: async () => {}, destroy: () => {} });
    return { statusCode: status, headers: { ...(byNode && node), ...headers }, body: stream };
  }

  #updated(update: SourceUpdate): void {
    if (update.kind === 'work') this.#works.set(nameOf(update.work), update.work);
    if (update.kind === 'work') this.#see(`work ${nameOf(update.work)}`);
    else if (update.kind === 'stale') this.#see(`${update.works.map(nameOf).join(' and ')} ended: ${update.reason}`);
    else this.#see(update.kind);
  }

  #told(event: MinerEvent): void {
    if (event.type === 'missed-cut') this.#see(`missed a block of ${event.chain}`);
    if (event.type === 'polling')
      this.#see(`polls ${event.chains.map(({ chain, reason }) => `${chain} (${reason})`).join(' ') || 'nothing'}`);
    if (event.type !== 'source') return;
    this.reasons.push(event.reason);
    this.#see(`says ${event.state}`);
  }
}
