/** Sends a control request to many rigs, and gathers what each of them answers. */

import { aborted, within } from '../system/abort.ts';
import { oneLine } from '../text/plain-text.ts';
import type { ControlAnswer, ControlRequest } from '../wire/fleet.ts';
import type { FleetControlAnswer, RigSelection } from './answers.ts';
import type { FleetRig } from './status.ts';

/** @returns the rig's answer @throws Error whose message is a sentence for people; LinkError */
export type AskRig = (rig: string, request: ControlRequest, stop: AbortSignal) => Promise<ControlAnswer>;

/** Time for all rigs to answer: less than an HTTP client's patience, and than `answerMs` of the HTTP server. */
const ANSWER_MS = 10_000;
/** Maximum number of rigs that are asked at a time. */
const MOST_AT_A_TIME = 256;
/** Maximum length of a rig's message in the answer. */
const MOST_MESSAGE = 200;

interface Target {
  readonly name: string;
  /** Absent if no rig of this name has reported. */
  readonly rig: FleetRig | undefined;
}

/** @returns the rigs that meet every condition, and the names that no rig has */
export function selectRigs(rigs: readonly FleetRig[], { names, group, pattern }: RigSelection): Target[] {
  const byName = new Map(rigs.map((rig) => [rig.name, rig]));
  const named = names ? [...new Set(names)].map((name) => ({ name, rig: byName.get(name) })) : undefined;
  return (named ?? rigs.map((rig) => ({ name: rig.name, rig }))).filter(
    ({ name, rig }) =>
      (group === undefined || rig?.group === group) && (pattern === undefined || matchesPattern(name, pattern)),
  );
}

/** Unlike a regular expression, this takes at most (length of the name) × (length of the pattern) steps. */
export function matchesPattern(name: string, pattern: string): boolean {
  let [at, in_] = [0, 0];
  /** Where the last `*` was, and up to where it matches. */
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

/** @param stop ends the requests @returns the answer of each rig: never rejects */
export async function askRigs(
  targets: readonly Target[],
  request: ControlRequest,
  ask: AskRig,
  stop: AbortSignal,
): Promise<FleetControlAnswer> {
  const answers = new Map<string, ControlAnswer>();
  // Rigs that are silent hardly answer, so they must not delay the others.
  const queue = [...targets].sort((a, b) => Number(a.rig?.silent ?? true) - Number(b.rig?.silent ?? true));
  await within(ANSWER_MS, stop, async (signal) => {
    const next = queue[Symbol.iterator]();
    const ended = aborted(signal).then(() => NO_ANSWER);
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

async function answerOf(
  { name, rig }: Target,
  request: ControlRequest,
  ask: AskRig,
  signal: AbortSignal,
  ended: Promise<ControlAnswer>,
): Promise<ControlAnswer> {
  if (!rig) return { done: false, message: 'no rig of this name has reported' };
  if (!rig.control) return { done: false, message: 'its owner does not let operators control it' };
  if (signal.aborted) return NOT_ASKED;
  try {
    const answer = await Promise.race([ask(name, request, signal), ended]);
    return { done: answer.done, message: oneLine(answer.message, MOST_MESSAGE) };
  } catch (fault) {
    if (signal.aborted) return NO_ANSWER;
    return { done: false, message: oneLine(fault instanceof Error ? fault.message : String(fault), MOST_MESSAGE) };
  }
}
