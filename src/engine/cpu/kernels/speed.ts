/** Compares the kernels' speeds. Which kernel is fastest depends more on the chip than on the instruction set. */

import { setTimeout as sleep } from 'node:timers/promises';
import { KERNEL_NAMES, type KernelName } from '../kernel-names.ts';

/**
 * Makes all threads run this kernel and measures it.
 * @param groups how many groups of cores there are
 * @returns hashes per millisecond and thread, for each group; undefined when no thread of the group had a processor in
 *   time
 */
export type TakeTurn = (name: KernelName, groups: number) => Promise<readonly (number | undefined)[]>;

interface Measurement {
  /** How many groups of cores there are. */
  readonly groups: number;
  readonly takeTurn: TakeTurn;
  /** Lets the threads rest between rounds, so that on a busy machine V8 gets processor time to compile. */
  readonly rest: () => void;
  /** Ends the measurement, which then throws the signal's reason. */
  readonly stop?: AbortSignal | undefined;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
  /** Returns numbers in [0, 1). */
  readonly random?: () => number;
}

/** How many turns each kernel gets. In this time V8 optimizes WebAssembly, which is much slower at first. */
const FIRST_TURNS = 10;

/** How many further turns the kernels get that may be the fastest of a group. */
const FINAL_TURNS = 15;

/** How long the threads rest between rounds. */
const REST_MS = 3;

/**
 * After the first turns, kernels slower than this fraction of the fastest one get no more. The exact value does not
 * matter.
 */
const HOPELESS = 0.7;

/** On a busy machine a turn takes 15 ms. From this time on there are no more turns than the least numbers. */
const ENOUGH_MS = 3_000;
const LEAST_FIRST_TURNS = 4;
const LEAST_FINAL_TURNS = 5;

/**
 * Measures kernels in turns. With twelve kernels this takes a second, including 50 ms for each kernel that may be the
 * fastest.
 * @returns the results of the turns, for each group
 */
export async function measureTurns(names: readonly KernelName[], measurement: Measurement): Promise<Turns[]> {
  const { groups, takeTurn, rest, stop, nowMs = () => performance.now(), random = Math.random } = measurement;
  const results = Array.from({ length: groups }, () => new Map(names.map((name) => [name, [] as number[]])));
  const startMs = nowMs();
  let rounds = 0;
  const race = async (entrants: readonly KernelName[]) => {
    rest();
    await sleep(REST_MS);
    rounds++;
    for (const name of shuffled(entrants, random)) {
      stop?.throwIfAborted();
      const rates = await takeTurn(name, groups);
      for (const [group, rate] of rates.entries()) if (rate !== undefined) results[group].get(name)?.push(rate);
    }
  };
  const isLate = () => nowMs() - startMs > ENOUGH_MS;
  while (rounds < FIRST_TURNS && !(rounds >= LEAST_FIRST_TURNS && isLate())) await race(names);
  const finalistsOf = (turns: Turns) => names.filter((name) => mayWin(name, turns));
  const finalists = names.filter((name) => results.some((turns) => mayWin(name, turns)));
  const isOpen = results.some((turns) => finalistsOf(turns).length > 1 || judge(turns).doubt !== undefined);
  for (let turns = 0; isOpen && turns < FINAL_TURNS; turns++) {
    if (turns >= LEAST_FINAL_TURNS && isLate()) break;
    await race(finalists);
  }
  stop?.throwIfAborted();
  return results;
}

function mayWin(name: KernelName, turns: Turns): boolean {
  const best = Math.max(...Array.from(turns.values(), bestOf));
  return bestOf(turns.get(name) ?? []) >= HOPELESS * best;
}

/**
 * @param random returns numbers in [0, 1)
 * @returns the entrants in a random order, so that a load that comes back at regular times does not always hit the same
 *   one
 */
function shuffled<T>(entrants: readonly T[], random: () => number): T[] {
  const left = [...entrants];
  return entrants.flatMap(() => left.splice(Math.floor(random() * left.length), 1));
}

/* Judges what kernels did in turns: which one is the fastest, and whether that can be relied on. Pure. */

/** H/s of one thread, by kernel. */
export type Speeds = Readonly<Partial<Record<KernelName, number>>>;

/** Each kernel's rates in its turns, in hashes per ms of one thread. */
export type Turns = ReadonlyMap<KernelName, readonly number[]>;

export interface Verdict {
  readonly speeds: Speeds;
  /** Undefined when there are no kernels. */
  readonly fastest?: KernelName;
  /** Why the verdict cannot be relied on: a clause for people. Absent when it can. */
  readonly doubt?: string;
}

/** Speeds whose difference is below this fraction count as equal, because measurements vary by as much. */
const TIE = 0.01;

/** Kernels that come this close to the fastest one may be the fastest, as far as turns of 2 ms can tell. */
const CLOSE = 0.05;

/**
 * Turns that differ by less confirm each other: on a machine with nothing else to do, most turns of a kernel differ by
 * less.
 */
const NEAR = 0.02;

/** How many turns must confirm each other. A single one can be too fast: clocks of some systems are coarse. */
const CONFIRMED_BY = 3;

/**
 * When fewer of a kernel's turns than this come near its speed, the others were disturbed, and the speed is doubtful.
 */
const LEAST_NEAR = 0.2;

interface Judged {
  readonly name: KernelName;
  /** In hashes per ms. */
  readonly rate: number;
  /** The best turn, confirmed or not. */
  readonly best: number;
  /** How many turns come near the rate or surpass it. */
  readonly near: number;
  readonly turns: number;
}

export function judge(turns: Turns): Verdict {
  const all = Array.from(turns, ([name, rates]) => judgeOne(name, rates)).filter(({ turns }) => turns > 0);
  const speeds = Object.fromEntries(all.map(({ name, rate }) => [name, Math.round(1000 * rate)]));
  const fastest = fastestOf(speeds);
  if (fastest === undefined) return { speeds };
  const leading = Math.max(...all.map(({ rate }) => rate));
  // The best turn counts for a kernel that was disturbed: it may be as fast as that.
  const mayWin = ({ name, best }: Judged) => name === fastest || best >= (1 - CLOSE) * leading;
  const doubtful = all.filter(mayWin).find(({ near, turns }) => near < leastNear(turns));
  if (!doubtful) return { speeds, fastest };
  const { name, near, turns: count } = doubtful;
  return { speeds, fastest, doubt: `only ${near} of ${count} turns of ${name} agree within ${100 * NEAR} %` };
}

/** @returns the fastest kernel; among equally fast ones, the first in KERNEL_NAMES; undefined when there are none */
export function fastestOf(speeds: Speeds): KernelName | undefined {
  const best = Math.max(...Object.values(speeds));
  return KERNEL_NAMES.find((name) => speeds[name] !== undefined && speeds[name] >= (1 - TIE) * best);
}

/** @returns the rate of the best turn; 0 when there is none */
function bestOf(rates: readonly number[]): number {
  return Math.max(0, ...rates);
}

/**
 * The best turns count, because other programs can only slow a turn down: the highest rate that several turns confirm.
 * Without such turns it is the highest of all.
 */
function judgeOne(name: KernelName, rates: readonly number[]): Judged {
  const sorted = [...rates].sort((a, b) => b - a);
  const last = CONFIRMED_BY - 1;
  const from = sorted.findIndex((best, i) => i + last < sorted.length && sorted[i + last] >= (1 - NEAR) * best);
  const rate = from >= 0 ? sorted[from + 1] : bestOf(rates);
  const near =
    from >= 0 ? sorted.filter((each) => each >= (1 - NEAR) * rate).length - from : Math.min(1, sorted.length);
  return { name, rate, best: bestOf(rates), near, turns: rates.length };
}

function leastNear(turns: number): number {
  return Math.max(CONFIRMED_BY, LEAST_NEAR * turns);
}
