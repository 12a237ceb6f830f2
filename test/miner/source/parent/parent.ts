/** A parent that tests script: it writes lines to a ParentSource and reads its answers. */

import { EventEmitter } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { type Clock, systemClock } from '#pickaxe/base/system/clock.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import type { ParentSession } from '#pickaxe/miner/source/parent/parent-session.js';
import { ParentSource } from '#pickaxe/miner/source/parent/parent-source.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { Answer, LIMITS } from '#pickaxe/protocol/wire/worker.js';

let made = 0;

/** @param difficulty how many hashes a block needs on average. @returns a header of 286 bytes that no other test has */
export function makeHeader(difficulty = 100): Uint8Array {
  const number = ++made;
  const header = Uint8Array.from({ length: 286 }, (_, i) => (number * 31 + i * 17) & 0xff);
  header.set(targetForDifficulty(difficulty), 158);
  const view = new DataView(header.buffer);
  view.setBigInt64(8, BigInt(Date.now()) * 1000n - 30_000_000n, true);
  view.setUint32(222, number % 20, true);
  view.setBigUint64(258, 1_000n, true);
  return header;
}

export function job(id: string, header = makeHeader(), more: object = {}) {
  return { type: 'job', id, header: toHex(header), ...more };
}

/** @returns the target of shares of this difficulty as a parent writes it */
export function targetHex(difficulty: number): string {
  return toHex(targetForDifficulty(difficulty).toReversed());
}

export class ScriptedParent {
  readonly input = new PassThrough();
  /** Nothing is read from it until `read` is called, or the constructor was told to. */
  readonly output: PassThrough;
  readonly answers: Answer[] = [];
  /** Lines that are no answers of the documented shape. */
  readonly wrong: string[] = [];
  session: ParentSession | undefined;
  /** Called for each answer. */
  onAnswer: (answer: Answer) => void = () => {};
  #rest = '';

  /** @param reads whether it reads from the start */
  constructor(reads = true) {
    this.output = new PassThrough({ highWaterMark: 1024 });
    if (reads) this.read();
  }

  read(): void {
    this.output.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk).split('\n');
      this.#rest = lines.pop() as string;
      for (const line of lines) this.#take(line);
    });
  }

  say(...messages: (object | string)[]): void {
    for (const message of messages) {
      this.input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
    }
  }

  of<Type extends Answer['type']>(type: Type): Extract<Answer, { type: Type }>[] {
    return this.answers.filter((answer) => answer.type === type) as Extract<Answer, { type: Type }>[];
  }

  /** Goes away as a killed process does. */
  die(): void {
    this.output.destroy();
    this.input.destroy();
  }

  #take(line: string): void {
    const { success, data } = Answer.safeParse(JSON.parse(line));
    if (!success) {
      this.wrong.push(line);
      return;
    }
    this.answers.push(data);
    this.onAnswer(data);
  }
}

/** A source for scripted parents. */
/** The end of a parent's output without a stream: a test emits what the parent writes. */
export class ParentInput extends EventEmitter {
  isPaused = false;

  get asReadable(): Readable {
    return this as unknown as Readable;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }
}

export class ParentWorld {
  readonly events: MinerEvent[] = [];
  hashes = 0;
  readonly drained: string[] = [];
  /** Number of times that the last parent has gone. */
  deserted = 0;
  readonly source: ParentSource;

  constructor(clock: Clock = systemClock) {
    this.source = new ParentSource({
      name: 'the parent',
      rig: { greeting: () => [hello], stats: () => stats },
      emit: (event) => this.events.push(event),
      clock,
      hashes: () => this.hashes,
      drain: (_, reason) => this.drained.push(reason),
      deserted: () => {
        this.deserted++;
      },
    });
  }

  connect(parent = new ScriptedParent()): ScriptedParent {
    const { input, output } = parent;
    parent.session = this.source.connect({ input, output, end: () => output.end() });
    return parent;
  }
}

const hello: Answer = {
  type: 'hello',
  protocol: 1,
  version: '0.0.0',
  rig: 'test',
  capabilities: [],
  limits: LIMITS,
  devices: [],
};

const stats = {
  type: 'stats',
  uptimeSeconds: 1,
  hashes: 0,
  hashesPerSecond: 0,
  hardwareErrors: 0,
  devices: {},
} as const;
