/** A pretended chip with a fake clock. Its kernels have given speeds. */

import {
  type Evaluation,
  evaluate,
  measureTurns,
  type TakeTurn,
} from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';
import type { KernelName } from '#pickaxe/miner/engine/device.js';

/** MH/s of one thread, by kernel. */
export type Figures = Partial<Record<KernelName, number>>;

/** How long a turn takes with a processor, and the time from one to the next. */
const TURN_MS = 3;
const BETWEEN_MS = 0.1;

export class FakeChip {
  nowMs = 0;
  readonly turns: KernelName[] = [];
  rests = 0;
  /** Draws the order of the turns. */
  random = randomFrom(1);
  /** Factor by which other programs slow down a turn that begins now, as measured by the thread's clock. */
  slowdown: (name: KernelName) => number = () => 1;
  /** The kernel's speed in its turn of this number (from 1), as a fraction of its figure. */
  warmth: (name: KernelName, turn: number) => number = () => 1;
  readonly #groups: readonly Figures[];

  /** @param groups the figures of each kind of cores */
  constructor(...groups: Figures[]) {
    this.#groups = groups;
  }

  get names(): KernelName[] {
    return Object.keys(this.#groups[0]) as KernelName[];
  }

  readonly takeTurn: TakeTurn = async (name) => {
    this.turns.push(name);
    const turn = this.turns.filter((each) => each === name).length;
    const factor = this.slowdown(name);
    this.nowMs += TURN_MS * factor + BETWEEN_MS;
    return this.#groups.map((figures) => (1000 * figures[name]! * this.warmth(name, turn)) / factor);
  };

  /** @returns a verdict for each kind of cores */
  async choose(stop?: AbortSignal): Promise<Evaluation[]> {
    const turns = await measureTurns(this.names, {
      groups: this.#groups.length,
      takeTurn: this.takeTurn,
      rest: () => this.rests++,
      nowMs: () => this.nowMs,
      random: this.random,
      stop,
    });
    return turns.map(evaluate);
  }
}

/** @returns a function with reproducible random numbers in [0, 1) */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
