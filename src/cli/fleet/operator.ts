/** Connects the commands of a fleet's operator to NATS, and waits for the reports of all rigs. */

import { fleetMember } from '../../app/composition/fleet-link.ts';
import type { Loaded } from '../../app/config/load.ts';
import { EXIT } from '../../app/process/exit.ts';
import { pause } from '../../base/system/abort.ts';
import { type Clock, systemClock } from '../../base/system/clock.ts';
import type { Link } from '../../fleet/nats/link.ts';
import { type AskRig, asker } from '../../fleet/operator/ask-rigs.ts';
import { Roster } from '../../fleet/operator/roster.ts';
import type { FleetSubjects } from '../../fleet/subjects.ts';
import type { Io } from '../io.ts';
import { timeUpTo } from '../usage/options.ts';

/** The settings for which an operator's commands have flags. `rig.name` is the operator's name in NATS subjects. */
export const OPERATOR_SETTINGS = ['nats', 'rig.name'] as const;

/** Default time for which reports are collected: each rig reports once in 10 s, and the network may take a moment. */
export const WAIT_SECONDS = 15;
export const waitOf = timeUpTo(3_600, 'Give a time of at most an hour, like 15 or 1m.');
/** Maximum time to wait for a connection to a NATS server. */
const CONNECT_MS = 10_000;
const LOOK_MS = 100;

export interface Operator {
  readonly link: Link;
  readonly subjects: FleetSubjects;
  readonly clock: Clock;
  /** Identifies this run of the command: 16 hex digits, chosen at random. */
  readonly instance: string;
  readonly ask: AskRig;
  close(): Promise<void>;
}

/**
 * Begins to connect an operator. Tests have their own implementation.
 * @param warn called with a line about each subject that the server denies
 * @throws UsageError if the settings cannot be used
 */
export type OpenOperator = (loaded: Loaded, warn: (line: string) => void) => Operator;

export const openOperator: OpenOperator = ({ config }, warn) => {
  const { name, link, subjects, instance } = fleetMember(config, warn, 'operator');
  link.open();
  const ask = asker(link, subjects, name);
  return { link, subjects, clock: systemClock, instance, ask, close: () => link.close() };
};

/** @param warn called with a line about each member whose messages cannot be read */
export function rosterOf({ link, subjects, clock }: Operator, warn: (line: string) => void): Roster {
  return new Roster({ link, subjects, clock, warn });
}

/** Waits for a connection, for at most 10 s. @returns whether the operator is connected */
export async function connected({ link, clock }: Operator, stop: AbortSignal): Promise<boolean> {
  const untilMs = clock.monotonicMs() + CONNECT_MS;
  while (!link.state.isConnected && clock.monotonicMs() < untilMs && !stop.aborted) await pause(clock, LOOK_MS, stop);
  return link.state.isConnected;
}

/**
 * Prints a note, and collects the reports of members for `seconds`. Ends early if `io.stop` fires, or if there is no
 * connection for 10 s.
 */
export async function collectReports(
  seconds: number,
  roster: Roster,
  operator: Operator,
  io: Pick<Io, 'say' | 'stop'>,
): Promise<void> {
  io.say(`Listening for ${seconds} s: each rig reports once in 10 s …`);
  while (!io.stop.aborted && (await connected(operator, io.stop)) && roster.listeningSeconds < seconds) {
    await pause(operator.clock, LOOK_MS, io.stop);
  }
}

/** @param reason why there is no connection @returns the exit code */
export function endDisconnected(reason: string, io: Pick<Io, 'say'>): number {
  io.say(`error: there is no connection to a NATS server: ${reason}`);
  return EXIT.failed;
}
