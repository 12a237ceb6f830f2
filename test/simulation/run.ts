/** Runs a world with a seed: minutes with faults, a calm minute, and an end. */

import { SignalListeners } from './signal-listeners.ts';
import { type Faults, type RunOptions, Simulation, type Violation } from './simulation.ts';
import { FleetWorld } from './worlds/fleet.ts';
import { PaymentsWorld } from './worlds/payments.ts';
import { PoolWorld } from './worlds/pool.ts';
import { PoolFleetWorld } from './worlds/pool-fleet.ts';
import { SoloWorld } from './worlds/solo.ts';
import { StratumWorld } from './worlds/stratum.ts';

/** Everything that one run simulates. */
export interface World {
  /** Solutions or shares found, accepted, and lost although somebody would have taken them. */
  readonly totals: { readonly found: number; readonly accepted: number; readonly lost: number };
  /** Time from the last fault to `checkMining`. Default: a minute. */
  readonly calmMs?: number;
  /** What may happen at random times. */
  faults(): Faults;
  /** Checks what must be true after each event. */
  check(): void;
  /** Ends all faults, where faults can come alone. */
  endFaults?(): void;
  /** Ends all faults, and begins the calm minute. */
  calm(): void;
  /** Checks what must be true a minute after the last fault. */
  checkMining(): void;
  /** Stops what finds solutions. */
  stop(): void;
  /** Stops all other members. */
  stopMembers(): void;
  /** Checks what must be true after the end. */
  checkEnd(): void;
}

export type MakeWorld = (simulation: Simulation) => World;

export const WORLDS: Readonly<Record<string, MakeWorld>> = {
  solo: (simulation) => new SoloWorld(simulation),
  fleet: (simulation) => new FleetWorld(simulation, { nodes: 2, coordinators: 2, rigs: 6, hasOwnNodes: false }),
  'fleet-own-nodes': (simulation) =>
    new FleetWorld(simulation, { nodes: 2, coordinators: 2, rigs: 6, hasOwnNodes: true }),
  payments: (simulation) => new PaymentsWorld(simulation),
  pool: (simulation) => new PoolWorld(simulation),
  'pool-and-fleet': (simulation) => new PoolFleetWorld(simulation),
  stratum: (simulation) => new StratumWorld(simulation, 100),
};

const CALM_MS = 60_000;
const END_MS = 60_000;
/** Time after the last fault from which little happens. */
const SETTLED_MS = 20_000;

export interface Run {
  readonly seed: number;
  readonly virtualMs: number;
  readonly steps: number;
  readonly found: number;
  readonly accepted: number;
  readonly lost: number;
  readonly violations: readonly Violation[];
  readonly faults: readonly { readonly number: number; readonly name: string }[];
  readonly trace: readonly string[];
  readonly digest: string;
}

export async function runWorld(make: MakeWorld, options: RunOptions): Promise<Run> {
  const simulation = new Simulation(options);
  const { time } = simulation;
  const listeners = listenForErrors(simulation);
  const before = listenersOf();
  const signals = new SignalListeners();
  try {
    const world = make(simulation);
    simulation.planFaults(world.faults(), world.endFaults?.bind(world));
    time.afterEvent = () => world.check();
    const calmMs = 60_000 * options.minutes;
    await time.runUntil(calmMs);
    if (world.endFaults) simulation.endFaults();
    world.calm();
    const endMs = calmMs + (world.calmMs ?? CALM_MS);
    await time.runUntil(calmMs + SETTLED_MS);
    signals.mark();
    await time.runUntil(endMs);
    world.checkMining();
    const leak = signals.check();
    if (leak !== undefined) simulation.violate(leak);
    world.stop();
    await time.runUntil(endMs + END_MS);
    world.stopMembers();
    await time.runUntil(endMs + 2 * END_MS);
    world.checkEnd();
    if (listenersOf() !== before)
      simulation.violate(`listeners of the process were ${before} and are ${listenersOf()}`);
    return {
      seed: options.seed,
      virtualMs: time.nowMs,
      steps: time.steps,
      ...world.totals,
      violations: simulation.violations,
      faults: simulation.happened,
      trace: simulation.trace,
      digest: simulation.digest(),
    };
  } finally {
    signals.end();
    listeners.end();
  }
}

/** @returns the number of listeners of the process for each event, as a text */
function listenersOf(): string {
  return process
    .eventNames()
    .map((name) => `${String(name)} ${process.listenerCount(name)}`)
    .join(', ');
}

/** Errors that nobody handles, and warnings, are violations. */
function listenForErrors(simulation: Simulation) {
  const onError = (fault: unknown) => simulation.violate(`unhandled: ${fault instanceof Error ? fault.stack : fault}`);
  const onWarning = ({ message }: Error) => simulation.violate(`warning: ${message}`);
  process.on('unhandledRejection', onError).on('uncaughtException', onError).on('warning', onWarning);
  return {
    end: () => process.off('unhandledRejection', onError).off('uncaughtException', onError).off('warning', onWarning),
  };
}
