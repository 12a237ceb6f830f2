/** A GPU's child process that does not exist: tests say what it sends, and when it ends. */

import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ToChild, ToParent } from '#pickaxe/miner/engine/gpu/protocol.js';

export class FakeChild extends EventEmitter {
  /** The children that were started, in order. */
  static readonly started: FakeChild[] = [];
  pid: number | undefined = 4711;
  readonly stderr = new PassThrough();
  connected = true;
  readonly sent: ToChild[] = [];
  /** The signals that it got before it ended. */
  readonly signals: string[] = [];
  /** Whether it ends when it is told to: a process that hangs in its driver does not. */
  hangs = false;
  #hasEnded = false;

  /** What `fork` was called with. */
  forked: readonly unknown[] = [];
  isReferenced = true;

  /** Starts a child in place of `fork`. */
  static fork(...forked: readonly unknown[]): FakeChild {
    const child = new FakeChild();
    child.forked = forked;
    FakeChild.started.push(child);
    return child;
  }

  /** The messages of one type that it was sent. */
  sentOf<Type extends ToChild['type']>(type: Type): Extract<ToChild, { type: Type }>[] {
    return this.sent.filter((message): message is Extract<ToChild, { type: Type }> => message.type === type);
  }

  send(message: ToChild): void {
    this.sent.push(message);
  }

  says(...messages: readonly ToParent[]): void {
    for (const message of messages) this.emit('message', message);
  }

  /** Ends, after its last output. */
  exit(code: number | null, signal: string | null = null, lastOutput = ''): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.connected = false;
    this.stderr.end(lastOutput);
    this.emit('exit', code, signal);
  }

  kill(signal: string): void {
    if (this.#hasEnded) return;
    this.signals.push(signal);
    if (!this.hangs) this.exit(null, signal);
  }

  disconnect(): void {
    if (!this.hangs) this.exit(0);
    this.connected = false;
  }

  unref(): void {
    this.isReferenced = false;
  }
}

const variant = { shader: 'wgsl', workgroupSize: 64, trips: 16 } as const;

/** The tuning of a GPU with this rate. */
export const tuningOf = (hashesPerSecond: number) => ({
  variant,
  batchMs: 8,
  hashesPerSecond,
  variants: [{ variant, hashesPerSecond }],
  batches: [],
});

/** The answer of a GPU with this rate to `open`. */
export const openedWith = (hashesPerSecond: number): ToParent => ({
  type: 'opened',
  model: 'a card',
  driver: 'a driver',
  tuning: tuningOf(hashesPerSecond),
  why: 'pretended',
  sensors: 'none',
});
