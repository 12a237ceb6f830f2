/**
 * Connections in memory, in the place of TCP: they take virtual time, and break as those of a network do. What comes to
 * an end comes by a timer of the clock of this end's process, so nothing comes to a process that is frozen or killed.
 */

import { Duplex } from 'node:stream';
import { onAbort, within } from '#pickaxe/base/system/abort.js';
import type { Clock } from '#pickaxe/base/system/clock.js';
import type { Listen, ListenEvents } from '#pickaxe/miner/relay/stratum/listening.js';

/** Where an end of a connection is. */
export interface Place {
  /** The clock of the process that has this end. */
  readonly clock: Clock;
  /** The IP address that the other end sees. */
  readonly address: string;
}

export interface PipeOptions {
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
  /** The least and the most time that bytes take from one end to the other, in ms. The default is 1 to 40. */
  readonly latencyMs?: readonly [number, number];
  /** Most pieces into which one write is cut. The default is 3; with 1, nothing is cut. */
  readonly mostPieces?: number;
}

/** Number of bytes that may be on their way or unread. After that, writes wait, as with a full socket. */
const WINDOW_BYTES = 65_536;

/** A connection. Bytes arrive in order, after a random time, in pieces that have nothing to do with the writes. */
export class Pipe {
  /** The two ends. A program uses an end like a socket, and need not know the other one. */
  readonly ends: readonly [PipeEnd, PipeEnd];
  readonly #ways: readonly [Way, Way];

  /** @param places of the first and of the second end */
  constructor(places: readonly [Place, Place], options: PipeOptions) {
    const ways = [new Way(places[1].clock, options), new Way(places[0].clock, options)] as const;
    const ends = [new PipeEnd(ways[0], places[1].address), new PipeEnd(ways[1], places[0].address)] as const;
    ways[0].connect(ends[1], ways[1]);
    ways[1].connect(ends[0], ways[0]);
    this.ends = ends;
    this.#ways = ways;
  }

  /** Whether neither end has closed the connection. */
  get isOpen(): boolean {
    return this.ends.every((end) => !end.destroyed);
  }

  /** Whether the connection is half-open. */
  get isDeaf(): boolean {
    return this.#ways.some(({ isDeaf }) => isDeaf);
  }

  /** Breaks the connection: both ends get the error ECONNRESET, and what was on its way is lost. */
  reset(): void {
    for (const way of this.#ways) way.reset();
  }

  /** Makes the connection half-open: from now on all bytes are lost, and neither end is told. */
  deafen(): void {
    for (const way of this.#ways) way.isDeaf = true;
  }

  /** Nothing arrives for a while. After that, everything arrives. */
  stall(ms: number): void {
    for (const way of this.#ways) way.stall(ms);
  }

  /** Ends the connection in order: to each end it looks as if the other one had closed it. */
  close(): void {
    for (const way of this.#ways) way.send('end');
  }
}

/** One end of a connection. Its `write`, `end` and `destroy` act as those of a socket. */
export class PipeEnd extends Duplex {
  /** The IP address of the other end. */
  readonly remoteAddress: string;
  readonly #out: Way;
  #drained: () => void = () => {};

  constructor(out: Way, remoteAddress: string) {
    super({ allowHalfOpen: false });
    this.#out = out;
    this.remoteAddress = remoteAddress;
  }

  /** Called by the way to this end when this end wants more bytes. */
  onRead(drained: () => void): void {
    this.#drained = drained;
  }

  override _read(): void {
    this.#drained();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#out.send(bytes, done);
  }

  override _final(done: () => void): void {
    this.#out.send('end');
    done();
  }

  override _destroy(fault: Error | null, done: (fault: Error | null) => void): void {
    this.#out.send('end');
    done(fault);
  }
}

/** What is on its way: bytes, the end of the stream, or a reset. */
interface Item {
  readonly what: Buffer | 'end' | 'reset';
  readonly atMs: number;
}

/** One direction of a connection. */
class Way {
  /** Whether all that is sent is lost. */
  isDeaf = false;
  readonly #clock: Clock;
  readonly #options: PipeOptions;
  readonly #items: Item[] = [];
  readonly #waiting: (() => void)[] = [];
  #bytes = 0;
  #lastMs = 0;
  #stalledUntilMs = 0;
  #hasEnded = false;
  #isArmed = false;
  #isFull = false;
  #to!: PipeEnd;
  #back!: Way;

  /** @param clock of the process to which this way leads */
  constructor(clock: Clock, options: PipeOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Must be called once, before anything is sent. @param back the other direction */
  connect(to: PipeEnd, back: Way): void {
    this.#to = to;
    this.#back = back;
    to.onRead(() => {
      if (!this.#isFull) return;
      this.#isFull = false;
      this.#deliver();
    });
  }

  /** @param done called when there is room for more */
  send(what: Buffer | 'end' | 'reset', done: () => void = () => {}): void {
    if (this.#hasEnded) {
      done();
      return;
    }
    this.#hasEnded = typeof what === 'string';
    if (typeof what === 'string') this.#plan(what);
    else {
      this.#bytes += what.length;
      if (!this.isDeaf) for (const piece of this.#piecesOf(what)) this.#plan(piece);
    }
    if (this.#bytes <= WINDOW_BYTES) done();
    else this.#waiting.push(done);
  }

  stall(ms: number): void {
    this.#stalledUntilMs = this.#clock.monotonicMs() + ms;
  }

  reset(): void {
    this.#items.length = 0;
    this.#hasEnded = true;
    this.#clock.setTimeout(() => this.#break(), 0);
  }

  *#piecesOf(bytes: Buffer): Generator<Buffer> {
    const { random, mostPieces = 3 } = this.#options;
    let rest = bytes;
    for (let count = Math.floor(random() * mostPieces); count > 0 && rest.length > 1; count--) {
      const cut = 1 + Math.floor(random() * (rest.length - 1));
      yield Buffer.from(rest.subarray(0, cut));
      rest = rest.subarray(cut);
    }
    yield Buffer.from(rest);
  }

  #plan(what: Item['what']): void {
    if (this.isDeaf) return;
    const { random, latencyMs: [least, most] = [1, 40] } = this.#options;
    this.#lastMs = Math.max(this.#lastMs, this.#clock.monotonicMs() + least + random() * (most - least));
    this.#items.push({ what, atMs: this.#lastMs });
    this.#arm();
  }

  #arm(): void {
    if (this.#isArmed || this.#items.length === 0) return;
    this.#isArmed = true;
    const dueMs = Math.max(this.#items[0].atMs, this.#stalledUntilMs) - this.#clock.monotonicMs();
    this.#clock.setTimeout(
      () => {
        this.#isArmed = false;
        if (!this.#isFull) this.#deliver();
      },
      Math.max(0, dueMs),
    );
  }

  /** Delivers what is due, as far as the end reads it. */
  #deliver(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#stalledUntilMs) {
      this.#arm();
      return;
    }
    const due: Buffer[] = [];
    let last: Item['what'] | undefined;
    while (this.#items.length > 0 && this.#items[0].atMs <= nowMs && typeof last !== 'string') {
      last = this.#items.shift()?.what;
      if (last instanceof Buffer) due.push(last);
    }
    if (this.isDeaf) return;
    if (due.length > 0) this.#take(Buffer.concat(due));
    if (last === 'end' && !this.#to.destroyed) this.#to.push(null);
    if (last === 'reset') this.#break();
    this.#arm();
  }

  #take(bytes: Buffer): void {
    if (this.#to.destroyed) {
      // As in TCP, the sender is told that nobody is there any more.
      this.#back.refuse();
      return;
    }
    this.#bytes -= bytes.length;
    this.#isFull = !this.#to.push(bytes);
    for (const done of this.#waiting.splice(0)) done();
  }

  /** Tells the end to which this way leads that the other one is gone, even if that has ended the stream before. */
  refuse(): void {
    this.#plan('reset');
  }

  #break(): void {
    if (this.isDeaf || this.#to.destroyed) return;
    this.#to.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  }
}

/** A port of a simulated server: clients connect to it, and the server listens on it, as on one of TCP. */
export class PipePort {
  /**
   * What becomes of new connections: they are accepted; they are refused at once, as by a machine on which nothing
   * listens; or nothing answers, as behind a firewall.
   */
  state: 'accepts' | 'refuses' | 'is silent' = 'accepts';
  /** The open connections, oldest first. Their first end is the client's. */
  readonly pipes = new Set<Pipe>();
  readonly #place: Place;
  readonly #options: PipeOptions;
  #events: ListenEvents | undefined;
  #most = 0;
  #closed: (() => void) | undefined;

  /** @param place of the server */
  constructor(place: Place, options: PipeOptions) {
    this.#place = place;
    this.#options = options;
  }

  /** Begins to accept connections: `StratumOptions.listen` for a server of the product. */
  readonly listen: Listen = async (events, mostConnections) => {
    this.#events = events;
    this.#most = mostConnections;
    return {
      port: 3333,
      close: () =>
        new Promise((resolve) => {
          this.#events = undefined;
          this.#closed = resolve;
          this.#closeIfEmpty();
        }),
    };
  };

  /** What becomes of the port when the server is killed: its connections are reset, and nothing listens any more. */
  kill(): void {
    this.#events = undefined;
    for (const pipe of this.pipes) pipe.reset();
    this.pipes.clear();
  }

  /**
   * Connects a client.
   * @returns the client's end
   * @throws Error with a code of the system, or a TimeoutError after `timeoutMs`, or the reason of `stop`
   */
  connect(client: Place, timeoutMs: number, stop: AbortSignal): Promise<PipeEnd> {
    return within(client.clock, timeoutMs, stop, (signal) => this.#connect(client, signal));
  }

  async #connect(client: Place, signal: AbortSignal): Promise<PipeEnd> {
    return await new Promise((resolve, reject) => {
      onAbort(signal, () => reject(signal.reason as Error));
      // A frozen server also gets connections, because its system accepts them.
      client.clock.setTimeout(() => {
        if (signal.aborted || this.state === 'is silent') return;
        const events = this.state === 'accepts' ? this.#events : undefined;
        if (events) resolve(this.#open(client, events));
        else reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
      }, this.#roundTripMs());
    });
  }

  #open(client: Place, events: ListenEvents): PipeEnd {
    const pipe = new Pipe([client, this.#place], this.#options);
    const [near, far] = pipe.ends;
    if (this.pipes.size >= this.#most) {
      far.destroy();
      events.refused(client.address);
      return near;
    }
    this.pipes.add(pipe);
    far.once('close', () => {
      this.pipes.delete(pipe);
      this.#closeIfEmpty();
    });
    this.#place.clock.setTimeout(() => {
      // The system resets connections that the server has not taken when it closes its port.
      if (this.#events === events) events.connected(far);
      else far.destroy();
    }, 0);
    return near;
  }

  #closeIfEmpty(): void {
    if (this.pipes.size === 0) this.#closed?.();
  }

  #roundTripMs(): number {
    const { random, latencyMs: [least, most] = [1, 40] } = this.#options;
    return 2 * (least + random() * (most - least));
  }
}
