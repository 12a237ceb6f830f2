/** One run of a world: its time, its randomness, its faults, what happened, and what was wrong. */

import { createHash } from 'node:crypto';
import { type Random, seededRandom } from '#pickaxe/mock-node/random.js';
import { VirtualTime } from './virtual-time.ts';

/** A world's faults, by name. A fault gets randomness of its own, so that leaving out one does not change another. */
export type Faults = Readonly<Record<string, (random: Random) => void>>;

export interface RunOptions {
  readonly seed: number;
  /** Virtual minutes with faults. A calm minute follows. */
  readonly minutes: number;
  /** Numbers of the planned faults that are left out. */
  readonly without?: ReadonlySet<number>;
  /** Mean pause between faults, in ms. The default is one of `MEAN_PAUSES_MS`. */
  readonly faultMs?: number;
}

export interface Violation {
  readonly atMs: number;
  readonly what: string;
}

/** Mean pauses between two faults, of which each run has one. */
const MEAN_PAUSES_MS = [6_000, 15_000, 30_000];
/** Fraction of the kinds of faults that a run has. */
const KINDS_PART = 0.3;
/** More of them are hardly ever news. */
const MOST_VIOLATIONS = 20;

export class Simulation {
  readonly time = new VirtualTime();
  readonly options: RunOptions;
  readonly violations: Violation[] = [];
  /** What happened, a line each. */
  readonly trace: string[] = [];
  /** Numbers and names of the faults that have happened. */
  readonly happened: { readonly number: number; readonly name: string }[] = [];
  readonly #hash = createHash('sha256');

  constructor(options: RunOptions) {
    this.options = options;
  }

  /** @returns a generator of its own for each name, so that one part of the world does not disturb another */
  random(name: string): Random {
    return seededRandom(createHash('sha256').update(`${this.options.seed} ${name}`).digest().readUInt32LE(0));
  }

  note(what: string): void {
    const line = `${(this.time.nowMs / 1000).toFixed(3)} ${what}`;
    this.trace.push(line);
    this.#hash.update(`${line}\n`);
  }

  violate(what: string): void {
    if (this.violations.length >= MOST_VIOLATIONS || this.violations.some((known) => known.what === what)) return;
    this.violations.push({ atMs: this.time.nowMs, what });
    this.note(`VIOLATION ${what}`);
  }

  /**
   * Plans faults at random times, until the calm minute begins. Each run has only some kinds of faults, so that these
   * meet each other more often, and leave time in which nothing else is wrong.
   */
  planFaults(faults: Faults): void {
    const { minutes, without } = this.options;
    const random = this.random('plan');
    const faultMs = this.options.faultMs ?? MEAN_PAUSES_MS[Math.floor(random() * MEAN_PAUSES_MS.length)];
    const all = Object.keys(faults);
    const some = all.filter(() => random() < KINDS_PART);
    const names = some.length > 0 ? some : all;
    const planner = this.time.start('faults');
    let atMs = 0;
    for (let number = 0; ; number++) {
      atMs += -Math.log(1 - random()) * faultMs;
      const name = names[Math.floor(random() * names.length)];
      if (atMs >= 60_000 * minutes) return;
      if (without?.has(number)) continue;
      planner.after(atMs, () => {
        this.happened.push({ number, name });
        this.note(`fault ${number}: ${name}`);
        faults[name](this.random(`fault ${number}`));
      });
    }
  }

  /** SHA-256 of what happened: equal for equal runs. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}
