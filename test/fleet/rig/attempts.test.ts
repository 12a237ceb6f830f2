/** Whom a rig asks by each attempt to deliver a solution, by the answers that came before. */

import { expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { messageBytes, type SolutionAnswer } from '#pickaxe/fleet/messages.js';
import { LinkError, type LinkFault } from '#pickaxe/fleet/nats/link.js';
import { fleetLimits } from '#pickaxe/fleet/rig/rig-limits.js';
import { type Fleet, FleetAttempts } from '#pickaxe/fleet/rig/solution-delivery.js';
import { makeWork } from '../../fakes.ts';
import { mine } from '../../miner/source/follow.ts';
import { SUBJECTS } from './world.ts';

type Reply = SolutionAnswer | LinkFault;

const taken = { state: 'verdict', outcome: 'accepted', reason: '' } as const;
const refused = (code: 'too-early' | 'unknown-work') => ({ state: 'refused', code, reason: `it is ${code}` }) as const;
const never = new AbortController().signal;

/** @param script by coordinator, in the order of the requests to it; the last reply is repeated */
function delivery(script: Record<string, readonly Reply[]>, onRequest: () => unknown = () => {}, isSilent = false) {
  const asked: string[] = [];
  const request = async (subject: string, _data: Uint8Array, _limitMs: number, stop: AbortSignal) => {
    stop.throwIfAborted();
    const name = Object.keys(script).find((each) => subject === SUBJECTS.solution(each, 'rig')) ?? 'anyone';
    const replies = script[name] ?? [taken];
    const reply = replies[Math.min(asked.filter((each) => each === name).length, replies.length - 1)];
    asked.push(name);
    onRequest();
    if (typeof reply === 'string') throw new LinkError(reply, `${name}: ${reply}`);
    return messageBytes(reply);
  };
  const responsive = () => Object.keys(script);
  const fleet = { link: { request }, subjects: SUBJECTS, rig: 'rig', responsive } as unknown as Fleet;
  const issuer = { coordinator: 'a', isUnresponsive: isSilent, outage: never };
  const attempts = new FleetAttempts(fleet, issuer, mine(makeWork(100)), 'work', systemClock, fleetLimits);
  return { asked, attempt: (stop = never) => attempts.attempt(stop) };
}

it.each<[what: string, script: Record<string, readonly Reply[]>, attempts: number, asked: string]>([
  [
    'the issuer’s answer is lost twice: it is asked once more, and then another',
    { a: ['timeout'], c: [taken] },
    3,
    'a a c',
  ],
  [
    'its answer is lost again after the other had refused: it is asked once more again, and then anyone',
    { a: ['timeout'], c: [refused('unknown-work')] },
    6,
    'a a c a a anyone',
  ],
  ['the connection is away: the next attempt asks the other', { a: ['disconnected'], c: [taken] }, 2, 'a c'],
  [
    'the connection is away while the issuer is asked once more: it is asked once more again',
    { a: ['timeout', 'disconnected', 'timeout'], c: [taken] },
    4,
    'a a a c',
  ],
  [
    'it is too early for another one: that one is asked again, and nobody else at once',
    { a: [refused('unknown-work')], c: [refused('too-early')], d: [taken] },
    4,
    'a c a c',
  ],
  [
    'another one does not know the work: the next is asked at once',
    { a: [refused('unknown-work')], c: [refused('unknown-work')], d: [taken] },
    2,
    'a c d',
  ],
])('%s', async (_, script, attempts, asked) => {
  const { attempt, asked: seen } = delivery(script);
  for (let count = 0; count < attempts; count++) await attempt();
  expect(seen.join(' ')).toBe(asked);
});

it('a rig that is stopped while another coordinator refuses asks no further one, and knows that none took it', async () => {
  const stopping = new AbortController();
  const script = { a: [refused('unknown-work')], c: [refused('unknown-work')], d: [taken] };
  const { attempt, asked } = delivery(script, () => asked.length === 2 && stopping.abort());
  await attempt();
  expect(await attempt(stopping.signal)).toEqual({ message: 'it is unknown-work', mayHaveBeenTaken: false });
  expect(asked).toEqual(['a', 'c']);
});

it('what another coordinator has refused is no reason why the issuer cannot be reached', async () => {
  const { attempt } = delivery({ a: ['no-responders'], c: [refused('unknown-work')] });
  const messages: unknown[] = [];
  for (let count = 0; count < 3; count++) messages.push(await attempt());
  expect(messages).toEqual([
    { message: 'coordinator a: a: no-responders', mayHaveBeenTaken: false },
    { message: 'it is unknown-work', mayHaveBeenTaken: false },
    { message: 'coordinator a: a: no-responders', mayHaveBeenTaken: false },
  ]);
});

it.each<[what: string, isSilent: boolean, script: Record<string, readonly Reply[]>, asked: string]>([
  [
    'the issuer is silent: another one is asked twice, and then the next',
    true,
    { c: ['timeout'], d: [taken] },
    'c c d',
  ],
  [
    'the issuer has got too many: it is asked again, and nobody else',
    false,
    { a: [{ state: 'refused', code: 'too-many', reason: '' }], c: [taken] },
    'a a a',
  ],
])('%s', async (_, isSilent, script, asked) => {
  const { attempt, asked: seen } = delivery(script, undefined, isSilent);
  for (let count = 0; count < 3; count++) await attempt();
  expect(seen.join(' ')).toBe(asked);
});
