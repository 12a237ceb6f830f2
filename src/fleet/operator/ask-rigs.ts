/** Sends a control request to many rigs, and gathers their answers. */

import { aborted, within } from '../../base/system/abort.ts';
import { systemClock } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { ControlAnswer, type ControlRequest } from '../messages.ts';
import { type Link, LinkError, type LinkFault } from '../nats/link.ts';
import { ask } from '../nats/requests.ts';
import type { FleetSubjects } from '../subjects.ts';
import type { FleetControlAnswer, RigSelection } from './fleet-answers.ts';
import type { FleetRig } from './fleet-status.ts';

/** Sends a request to a rig. @returns the rig's answer @throws Error whose message is for people */
export type AskRig = (rig: string, request: ControlRequest, stop: AbortSignal) => Promise<ControlAnswer>;

/** Maximum time until one rig's answer. Rigs usually answer much sooner. */
const RIG_ANSWER_MS = 4_000;

/** What the operator is told about a rig that has not answered: a message for each kind of `LinkError`. */
const FAULTS: Readonly<Record<LinkFault, string>> = {
  disconnected: 'it was not asked: there is no connection to a NATS server',
  'no-responders': 'it is not connected, has another name, or an earlier version of pickaxe',
  denied:
    'the NATS server does not let this account control rigs: check --rig-name; pickaxe fleet keys writes the configuration of servers anew',
  timeout: 'it did not answer in time, and may have done it',
};

/** @param operator the name of the member that sends the requests @returns a function that sends them over this link */
export function asker(link: Link, subjects: FleetSubjects, operator: string): AskRig {
  return async (rig, request, stop) => {
    const subject = subjects.control(rig, operator);
    const answer = await ask(link, subject, request, ControlAnswer, RIG_ANSWER_MS, stop).catch((fault: unknown) => {
      throw fault instanceof LinkError ? new Error(FAULTS[fault.fault], { cause: fault }) : fault;
    });
    if (!answer) throw new Error('its answer cannot be read');
    return answer;
  };
}

/**
 * Maximum time until all answers. It is less than the fleet page's timeout, and less than the HTTP server's `answerMs`.
 */
const ANSWER_MS = 10_000;
/** Maximum number of rigs that are asked at a time. */
const MOST_AT_A_TIME = 256;
/** Maximum length of a rig's message in the answer to the operator, in UTF-16 code units. */
const MOST_MESSAGE = 200;

export interface Target {
  readonly name: string;
  /** Whether the rig is unresponsive; absent for a rig that has not reported. */
  readonly silent?: boolean;
  /** Why the rig is not asked; absent if it is asked. */
  readonly refusal?: string;
}

/**
 * @returns the rigs that meet every condition of the selection. If no group is given, a named rig that has not reported
 *   is also returned, with a refusal
 */
export function selectRigs(rigs: readonly FleetRig[], { names, group, pattern }: RigSelection): Target[] {
  const byName = new Map(rigs.map((rig) => [rig.name, rig]));
  const named = names ? [...new Set(names)].map((name) => ({ name, rig: byName.get(name) })) : undefined;
  const wanted = (named ?? rigs.map((rig) => ({ name: rig.name, rig }))).filter(
    ({ name, rig }) =>
      (group === undefined || rig?.group === group) && (pattern === undefined || matchesPattern(name, pattern)),
  );
  return wanted.map(({ name, rig }): Target => {
    if (!rig) return { name, refusal: 'no rig of this name has reported' };
    const { silent, control } = rig;
    return { name, silent, ...(!control && { refusal: 'its owner does not let operators control it' }) };
  });
}

/**
 * Takes at most about (length of the name) × (length of the pattern) steps. A regular expression can take far more.
 * @param pattern `*` stands for any characters, `?` for one
 * @returns whether the whole name matches
 */
export function matchesPattern(name: string, pattern: string): boolean {
  let [at, in_] = [0, 0];
  /** The position of the last `*` so far in the pattern, and the end of the part of the name that this `*` matches. */
  let star: { readonly pattern: number; name: number } | undefined;
  while (at < name.length) {
    if (pattern[in_] === '*') {
      star = { pattern: in_, name: at };
      in_++;
    } else if (pattern[in_] === '?' || pattern[in_] === name[at]) {
      in_++;
      at++;
    } else if (star) {
      star.name++;
      in_ = star.pattern + 1;
      at = star.name;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(in_));
}

/**
 * Sends a request to all targets without a refusal, and gathers their answers for at most `ANSWER_MS`. Never rejects.
 * @param stop ends the requests
 * @returns an answer for each target
 */
export async function askRigs(
  targets: readonly Target[],
  request: ControlRequest,
  ask: AskRig,
  stop: AbortSignal,
): Promise<FleetControlAnswer> {
  const answers = new Map<string, ControlAnswer>();
  // Unresponsive rigs come last. They will hardly answer, and must not delay the requests to the other rigs.
  const queue = [...targets.filter(({ silent }) => !silent), ...targets.filter(({ silent }) => silent)];
  await within(systemClock, ANSWER_MS, stop, async (signal) => {
    const next = queue[Symbol.iterator]();
    const ended = aborted(signal).then(() => (stop.aborted ? ENDING : NO_ANSWER));
    const askInTurn = async () => {
      for (const target of next) answers.set(target.name, await answerOf(target, request, ask, signal, ended));
    };
    await Promise.all(Array.from({ length: MOST_AT_A_TIME }, askInTurn));
  });
  const rigs = targets.map(({ name }) => ({ name, ...(answers.get(name) ?? NOT_ASKED) }));
  const done = rigs.filter((each) => each.done).length;
  return { done, failed: rigs.length - done, rigs };
}

const NOT_ASKED: ControlAnswer = { done: false, message: 'it was not asked: the other rigs took too long' };
const NO_ANSWER: ControlAnswer = { done: false, message: `it did not answer within ${ANSWER_MS / 1000} s` };
const ENDING: ControlAnswer = { done: false, message: 'pickaxe ended before it answered' };

async function answerOf(
  { name, refusal }: Target,
  request: ControlRequest,
  ask: AskRig,
  signal: AbortSignal,
  ended: Promise<ControlAnswer>,
): Promise<ControlAnswer> {
  if (refusal !== undefined) return { done: false, message: refusal };
  if (signal.aborted) return NOT_ASKED;
  try {
    const answer = await Promise.race([ask(name, request, signal), ended]);
    return { done: answer.done, message: oneLine(answer.message, MOST_MESSAGE) };
  } catch (fault) {
    if (signal.aborted) return ended;
    return { done: false, message: oneLine(fault instanceof Error ? fault.message : String(fault), MOST_MESSAGE) };
  }
}
