/** Runs worlds with many seeds, repeats one run, and finds the fewest faults with which a run still fails. */

import { type MakeWorld, type Run, runWorld, WORLDS } from './run.ts';
import type { RunOptions } from './simulation.ts';

export { runWorld, WORLDS };

export interface Request {
  /** Names of worlds; all of them if it is empty. */
  readonly worlds: readonly string[];
  readonly first: number;
  readonly seeds: number;
  /** Virtual minutes with faults in each run. */
  readonly minutes: number;
  /** Only faults whose names contain this text happen. */
  readonly only?: string | undefined;
  /** Faults come one at a time in all runs. */
  readonly alone?: boolean | undefined;
  /** No run begins after this processor time, in seconds. */
  readonly seconds: number;
}

/** What all runs of a world have shown. */
export interface Summary {
  readonly world: string;
  readonly seeds: number;
  readonly virtualHours: number;
  readonly cpuSeconds: number;
  readonly found: number;
  readonly accepted: number;
  readonly lost: number;
  readonly violations: readonly { readonly seed: number; readonly atSeconds: number; readonly what: string }[];
}

/** Number of lines of a trace that are shown before a violation. */
const SHOWN_LINES = 30;

/** @throws Error for an unknown world */
export function worldsOf(names: readonly string[]): readonly string[] {
  for (const name of names) {
    if (!(name in WORLDS)) throw new Error(`there is no world ${name}; there are ${Object.keys(WORLDS).join(', ')}`);
  }
  return names.length > 0 ? names : Object.keys(WORLDS);
}

/** @param onRun called after each run; returns whether to go on with this world */
export async function simulate(request: Request, onRun: (world: string, run: Run) => boolean): Promise<Summary[]> {
  const summaries: Summary[] = [];
  const worlds = worldsOf(request.worlds);
  for (const [at, world] of worlds.entries()) {
    const began = process.cpuUsage();
    const cpuSeconds = () => {
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1e6;
    };
    const sum = { seeds: 0, virtualMs: 0, found: 0, accepted: 0, lost: 0 };
    const violations: Summary['violations'][number][] = [];
    const share =
      (request.seconds - summaries.reduce((all, { cpuSeconds: spent }) => all + spent, 0)) / (worlds.length - at);
    for (let seed = request.first; seed < request.first + request.seeds && cpuSeconds() < share; seed++) {
      const { minutes, only, alone } = request;
      const run = await runWorld(WORLDS[world], { seed, minutes, only, alone });
      sum.seeds++;
      sum.virtualMs += run.virtualMs;
      sum.found += run.found;
      sum.accepted += run.accepted;
      sum.lost += run.lost;
      violations.push(...run.violations.map(({ atMs, what }) => ({ seed, atSeconds: atMs / 1000, what })));
      if (!onRun(world, run)) break;
    }
    const { seeds, virtualMs, found, accepted, lost } = sum;
    const virtualHours = virtualMs / 3_600_000;
    summaries.push({ world, seeds, virtualHours, cpuSeconds: cpuSeconds(), found, accepted, lost, violations });
  }
  return summaries;
}

/**
 * Leaves out faults as long as the run still fails in the same way.
 * @param onStep called with the number of faults that are left
 * @returns the run with the fewest faults that was found
 */
export async function shrink(
  make: MakeWorld,
  run: Run,
  options: Pick<RunOptions, 'minutes' | 'faultMs' | 'only'>,
  onStep: (faults: number) => void,
): Promise<Run> {
  const wanted = kindOf(run.violations[0].what);
  let least = run;
  let without = new Set<number>();
  for (let size = Math.ceil(run.faults.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < least.faults.length; ) {
      const left = least.faults.slice(at, at + size).map(({ number }) => number);
      const tried = new Set([...without, ...left]);
      const next = await runWorld(make, { ...options, seed: run.seed, without: tried });
      if (next.violations.some(({ what }) => kindOf(what) === wanted)) {
        least = next;
        without = tried;
        onStep(next.faults.length);
      } else at += size;
    }
  }
  return least;
}

/** @returns a violation as text for people, with what happened before */
export function describeFailure(world: string, { seed, violations, trace, digest }: Run): string {
  const [{ atMs, what }] = violations;
  const until = trace.findIndex((line) => line.includes('VIOLATION'));
  return [
    `world ${world}, seed ${seed}: after ${(atMs / 1000).toFixed(3)} s: ${what}`,
    ...trace.slice(Math.max(0, until - SHOWN_LINES), until + 1).map((line) => `  ${line}`),
    `trace ${digest}`,
    `To repeat it: npm run simulate -- --world ${world} --seed ${seed} --trace`,
  ].join('\n');
}

/** The same fault has other numbers and names in another run. */
const kindOf = (what: string) => what.replace(/(?:rig|node|c)\d+|chain \d+|nonce [0-9a-f]+|\d+(?:\.\d+)?/g, '#');
