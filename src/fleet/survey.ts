/**
 * Examines one NATS server of a fleet for `pickaxe doctor` and `pickaxe init`: whether it can be reached, what it
 * permits, and which coordinators publish states there.
 */

import type { Finding } from '../base/finding.ts';
import { pause } from '../base/system/abort.ts';
import { BoundedMap } from '../base/system/bounded.ts';
import { systemClock } from '../base/system/clock.ts';
import { oneLine } from '../base/text/plain-text.ts';
import { CoordinatorState, readMessage } from './messages.ts';
import { type Link, LinkError, untilConnected } from './nats/link.ts';
import { ask } from './nats/requests.ts';
import { type FleetSubjects, senderOf } from './subjects.ts';

interface FleetQuestion {
  /** A link to the examined server only. The caller opens and closes the link. */
  readonly link: Link;
  readonly subjects: FleetSubjects;
  /** The name of the member for which the server is examined. */
  readonly name: string;
  readonly isCoordinator: boolean;
  /** The link's warnings so far, about subjects that the server denies. The caller adds to this list. */
  readonly denials: readonly string[];
  readonly limits?: Partial<typeof fleetSurveyLimits>;
}

const fleetSurveyLimits = {
  connectMs: 8_000,
  /** Time for which states are collected. Each coordinator publishes one every second. */
  listenMs: 2_500,
  helloMs: 1_000,
  /** Maximum number of coordinators that a finding lists. */
  coordinators: 16,
  /** Maximum number of messages that are read. */
  messages: 500,
};

export async function examineFleetServer(question: FleetQuestion): Promise<Finding[]> {
  const { link, isCoordinator } = question;
  const limits = { ...fleetSurveyLimits, ...question.limits };
  const stop = new AbortController().signal;
  if (!(await untilConnected(systemClock, link, limits.connectMs, stop))) {
    const what = link.state.isConnected ? 'the connection has ended' : oneLine(link.state.reason);
    const why = isCoordinator ? 'the fleet’s rigs are reached by way of it' : 'the fleet’s work comes by way of it';
    return [{ about: 'connection', state: 'fault', what, why }];
  }
  const states = new BoundedMap<string, CoordinatorState>(limits.coordinators);
  const [denied] = await Promise.all([
    whyDenied(question, limits.helloMs, stop),
    collectStates(question, states, limits, stop),
  ]);
  const reached: Finding = { about: 'connection', state: 'ok', what: 'can be reached' };
  const permissions = permissionsOf(question, denied);
  return [reached, ...(permissions ? [permissions] : coordinatorsOf(question, states))];
}

/**
 * Collects the states of coordinators, except states with the name of the coordinator for which the server is examined.
 * Also subscribes to operators' requests, but only to find out whether the server permits that.
 */
async function collectStates(
  { link, subjects, name, isCoordinator }: FleetQuestion,
  states: BoundedMap<string, CoordinatorState>,
  { listenMs, messages }: typeof fleetSurveyLimits,
  stop: AbortSignal,
): Promise<void> {
  let left = messages;
  const end = link.subscribe(subjects.allBeats, ({ subject, data }) => {
    const sender = left-- > 0 ? senderOf(subject) : undefined;
    const state = sender === undefined ? undefined : readMessage(CoordinatorState, data);
    if (sender !== undefined && state && !(isCoordinator && sender === name)) states.set(sender, state);
  });
  const endControl = link.subscribe(subjects.controlsTo(name), () => {});
  await pause(systemClock, listenMs, stop);
  end();
  endControl();
}

/**
 * Sends a request to a coordinator of this member's name, only to find out whether the server permits that.
 * @returns the denial; undefined if the server has not denied the request
 */
async function whyDenied(
  { link, subjects, name }: FleetQuestion,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<string | undefined> {
  try {
    await ask(link, subjects.hello(name, name), {}, CoordinatorState, timeoutMs, stop);
  } catch (fault) {
    if (!(fault instanceof LinkError)) throw fault;
    if (fault.fault === 'denied') return fault.message;
  }
  return undefined;
}

function permissionsOf({ name, isCoordinator, denials }: FleetQuestion, denied: string | undefined) {
  const [first = denied] = denials;
  if (first === undefined) return undefined;
  const role = isCoordinator ? 'coordinator' : 'rig';
  return {
    about: 'permissions',
    state: 'fault',
    what: `the credentials are not those of a ${role} named ${oneLine(name)}: ${first}`,
    why: 'the server lets each member do only what its name and role need',
    remedy: `give --rig-name the name that pickaxe fleet keys made the credentials for, or make some for this ${role}`,
  } as const satisfies Finding;
}

function coordinatorsOf({ isCoordinator }: FleetQuestion, states: ReadonlyMap<string, CoordinatorState>): Finding[] {
  const about = 'coordinators';
  if (states.size === 0) {
    if (isCoordinator) return [{ about, state: 'ok', what: 'no other coordinator was found' }];
    const what = 'no coordinator was found';
    const why = 'coordinators give the work, and a rig waits for the first of them';
    return [{ about, state: 'fault', what, why, remedy: 'start pickaxe coordinate, with the same --nats-subject' }];
  }
  const shown = ([name]: readonly [string, CoordinatorState]) => oneLine(name);
  const lost = [...states].filter(([, state]) => state.lost !== null);
  return [
    { about, state: 'ok', what: `found ${[...states].map(shown).join(', ')}` },
    ...lost.map(([name, state]): Finding => {
      const why = 'it gives no new work meanwhile';
      return {
        about,
        state: 'warning',
        what: `${oneLine(name)} has lost its own source: ${oneLine(state.lost ?? '')}`,
        why,
      };
    }),
  ];
}
