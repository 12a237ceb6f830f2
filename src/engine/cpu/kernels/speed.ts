/** Compares the kernels' speeds. Which kernel is fastest depends more on the chip than on the instruction set. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { KernelName } from '../kernel-names.ts';
import { bestOf, judge, type Turns } from './verdict.ts';

/**
 * Makes all threads run this kernel and measures it.
 * @param groups how many groups of cores there are
 * @returns hashes per millisecond and thread, for each group; undefined when no thread of the group had a processor in time
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
}

/** How many turns each kernel gets. In this time V8 optimizes WebAssembly and JavaScript, which are much slower at first. */
const FIRST_TURNS = 10;

/** How many further turns the kernels get that may be the fastest of a group. */
const FINAL_TURNS = 15;

/** How long the threads rest between rounds. */
const REST_MS = 3;

/** After the first turns, kernels slower than this fraction of the fastest one get no more. The exact value does not matter. */
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
  const { groups, takeTurn, rest, stop, nowMs = () => performance.now() } = measurement;
  const results = Array.from({ length: groups }, () => new Map(names.map((name) => [name, [] as number[]])));
  const startMs = nowMs();
  let rounds = 0;
  const race = async (entrants: readonly KernelName[]) => {
    rest();
    await sleep(REST_MS);
    for (const name of inTurns(entrants, rounds++)) {
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
 * @returns the kernels in another order in each round, so that a load that comes back at regular times does not always hit the
 *   same kernel
 */
export function inTurns<T>(entrants: readonly T[], round: number): T[] {
  const from = Math.floor(round / 2) % Math.max(1, entrants.length);
  const order = [...entrants.slice(from), ...entrants.slice(0, from)];
  return round % 2 === 0 ? order : order.reverse();
}
