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
  /** Only faults whose names contain this text happen. */
  readonly only?: string | undefined;
  /** Faults come one at a time, in worlds that can end them between. By default, they do in some of the runs. */
  readonly alone?: boolean | undefined;
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
/** Fraction of the runs in which faults come alone, in worlds that can end them between. */
const ALONE_PART = 0.4;
/** How long a fault lasts that comes alone, and how long nothing is wrong before each. */
const ALONE_MS = [30_000, 200_000];
const QUIET_MS = 60_000;
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
  /** The fault that is there alone; undefined while there is none, and where faults come in any number. */
  alone: { readonly name: string; readonly sinceMs: number } | undefined;
  /** Since when there has been no fault, in a run whose faults come alone; undefined otherwise. */
  quietSinceMs: number | undefined;
  /** The name of the last fault that came alone and has ended. */
  endedAlone: string | undefined;
  /** The process in which faults begin and end. */
  #faulty = this.time.start('faults');
  #areAlone = false;
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

  /** Does something for a fault after a while, such as its next step. */
  after(ms: number, act: () => void): void {
    this.#faulty.after(ms, act);
  }

  /** Cancels what is left of all faults. The world itself ends them. */
  endFaults(): void {
    this.#faulty.kill();
    this.#faulty = this.time.start('faults');
    this.alone = undefined;
  }

  /** Ends a fault at a random time. A fault that comes alone lasts until all faults are ended. */
  endLater(random: Random, mostMs: number, act: () => void): void {
    const ms = random() * mostMs;
    if (!this.#areAlone) this.#faulty.after(ms, act);
  }

  /**
   * Plans faults until the calm minute begins: in most runs at random times, in the others one at a time.
   * @param endFaults ends all faults of a world in which they can come alone
   */
  planFaults(faults: Faults, endFaults?: () => void): void {
    const { only = '' } = this.options;
    const some = Object.fromEntries(Object.entries(faults).filter(([name]) => name.includes(only)));
    if (Object.keys(some).length === 0) throw new Error(`this world has no fault such as “${only}”`);
    const random = this.random('plan');
    const canBeAlone = endFaults !== undefined && this.options.faultMs === undefined;
    this.#areAlone = canBeAlone && (random() < ALONE_PART || this.options.alone === true);
    if (endFaults && this.#areAlone) this.#planOneAtATime(some, endFaults, random);
    else this.#planAtRandom(some, random);
  }

  /** A fault that comes alone shows by itself what it does, and leaves time to notice it. */
  #planOneAtATime(faults: Faults, endFaults: () => void, random: Random): void {
    const endMs = 60_000 * this.options.minutes;
    const names = Object.keys(faults);
    this.quietSinceMs = 0;
    let atMs = QUIET_MS;
    for (let number = 0; ; number++) {
      const name = names[Math.floor(random() * names.length)];
      const untilMs = atMs + ALONE_MS[Math.floor(random() * ALONE_MS.length)];
      if (untilMs >= endMs) return;
      if (!this.options.without?.has(number)) {
        this.#faulty.after(atMs, () => {
          this.alone = { name, sinceMs: this.time.nowMs };
          this.quietSinceMs = undefined;
          this.#begin(faults, number, name);
        });
        this.#faulty.after(untilMs, () => {
          this.alone = undefined;
          this.endedAlone = name;
          this.quietSinceMs = this.time.nowMs;
          this.note('the fault ends');
          endFaults();
        });
      }
      atMs = untilMs + QUIET_MS;
    }
  }

  /**
   * Each run has only some kinds of faults, so that these meet each other more often, and leave time in which nothing
   * else is wrong.
   */
  #planAtRandom(faults: Faults, random: Random): void {
    const { minutes, without } = this.options;
    const faultMs = this.options.faultMs ?? MEAN_PAUSES_MS[Math.floor(random() * MEAN_PAUSES_MS.length)];
    const all = Object.keys(faults);
    const some = all.filter(() => random() < KINDS_PART);
    const names = some.length > 0 ? some : all;
    let atMs = 0;
    for (let number = 0; ; number++) {
      atMs += -Math.log(1 - random()) * faultMs;
      const name = names[Math.floor(random() * names.length)];
      if (atMs >= 60_000 * minutes) return;
      if (without?.has(number)) continue;
      this.#faulty.after(atMs, () => this.#begin(faults, number, name));
    }
  }

  #begin(faults: Faults, number: number, name: string): void {
    this.happened.push({ number, name });
    this.note(`fault ${number}: ${name}`);
    faults[name](this.random(`fault ${number}`));
  }

  /** SHA-256 of what happened: equal for equal runs. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}
