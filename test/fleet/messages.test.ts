/** Which messages of a fleet are read: each bound is tried with a message that just fits, and one that does not. */

import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  ControlAnswer,
  ControlRequest,
  CoordinatorState,
  givenWorkOf,
  HelloRequest,
  isOfPool,
  messageBytes,
  readMessage,
  SolutionAnswer,
  SolutionRequest,
  workOfGiven,
} from '#pickaxe/fleet/messages.js';
import { RigReport } from '#pickaxe/fleet/rig-report.js';
import { FleetSubjects, senderOf, token } from '#pickaxe/fleet/subjects.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import type { WorkTerms } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../fakes.ts';
import { beat, INSTANCE, report, reportedDevice } from './operator/messages.ts';

const text = (length: number) => 'x'.repeat(length);
const name = `${INSTANCE}-1`;
const STATE = beat(0, name);
const GIVEN = givenWorkOf(makeWork(4), name);
const ENDED = { name, reason: 'solved' } as const;
const REQUEST = { coordinator: 'c1', work: name, header: 'a'.repeat(572) };
const REPORT = report();
const LIMITS = { command: 'limits' } as const;

const isRead = (schema: z.ZodType, message: unknown) => readMessage(schema, messageBytes(message)) !== undefined;

/** A message with one part that just fits, and with one that does not. */
const BOUNDS: [what: string, schema: z.ZodType, fits: object, exceeds: object][] = [
  ['the number of a state', CoordinatorState, { ...STATE, number: 0 }, { ...STATE, number: -1 }],
  ['the version', CoordinatorState, { ...STATE, version: text(64) }, { ...STATE, version: text(65) }],
  [
    'its number of digits',
    CoordinatorState,
    beat(0, `${INSTANCE}-${'9'.repeat(15)}`),
    beat(0, `${name}${'0'.repeat(15)}`),
  ],
  ['the latest time', CoordinatorState, { ...STATE, latestTimeMicros: 0 }, { ...STATE, latestTimeMicros: -1 }],
  [
    'the ended works',
    CoordinatorState,
    { ...STATE, ended: Array.from({ length: 16 }, () => ENDED) },
    { ...STATE, ended: Array.from({ length: 17 }, () => ENDED) },
  ],
  ['why the source is lost', CoordinatorState, { ...STATE, lost: text(1_000) }, { ...STATE, lost: text(1_001) }],
  ['the fault', CoordinatorState, { ...STATE, fault: text(1_000) }, { ...STATE, fault: text(1_001) }],
  ['the parent', CoordinatorState, { ...STATE, parent: 'a'.repeat(572) }, { ...STATE, parent: 'a'.repeat(574) }],
  [
    'the given work',
    CoordinatorState,
    { ...STATE, given: GIVEN },
    { ...STATE, given: { ...GIVEN, record: `${GIVEN.record}00` } },
  ],
  [
    'its target of a block',
    CoordinatorState,
    { ...STATE, given: { ...GIVEN, blockTarget: 'a'.repeat(64) } },
    { ...STATE, given: { ...GIVEN, blockTarget: 'a'.repeat(62) } },
  ],
  ['the instance', CoordinatorState, STATE, { ...STATE, instance: `${INSTANCE}0` }],
  ['a field of a later version', CoordinatorState, STATE, { ...STATE, mood: 'good' }],
  ['a request for the state', HelloRequest, { parent: true }, { parent: false }],
  [
    'the coordinator’s name',
    SolutionRequest,
    { ...REQUEST, coordinator: text(64) },
    { ...REQUEST, coordinator: text(65) },
  ],
  ['a name', SolutionRequest, { ...REQUEST, coordinator: 'c' }, { ...REQUEST, coordinator: '' }],
  ['the header', SolutionRequest, REQUEST, { ...REQUEST, header: 'a'.repeat(570) }],
  ['a pending answer', SolutionAnswer, { state: 'pending', coordinator: 'c1' }, { state: 'pending', coordinator: '' }],
  [
    'who gave the verdict',
    SolutionAnswer,
    { state: 'verdict', outcome: 'accepted', reason: '', by: text(1_000) },
    { state: 'verdict', outcome: 'accepted', reason: '', by: text(1_001) },
  ],
  [
    'the reason of a refusal',
    SolutionAnswer,
    { state: 'refused', code: 'too-many', reason: text(1_000) },
    { state: 'refused', code: 'too-many', reason: text(1_001) },
  ],
  [
    'the code of a refusal',
    SolutionAnswer,
    { state: 'refused', code: 'too-early', reason: '' },
    { state: 'refused', code: 'toString', reason: '' },
  ],
  ['the lowest limit', ControlRequest, { ...LIMITS, gpuCelsius: 0 }, { ...LIMITS, gpuCelsius: -1 }],
  ['the highest limit', ControlRequest, { ...LIMITS, cpuCelsius: 150 }, { ...LIMITS, cpuCelsius: 150.1 }],
  [
    'the message of an answer',
    ControlAnswer,
    { done: true, message: text(1_000) },
    { done: true, message: text(1_001) },
  ],
  [
    'the devices of a report',
    RigReport,
    report({ devices: Array.from({ length: 64 }, () => reportedDevice()) }),
    report({ devices: Array.from({ length: 65 }, () => reportedDevice()) }),
  ],
  ['a text of a report', RigReport, { ...REPORT, version: text(128) }, { ...REPORT, version: text(129) }],
  ['a count of a report', RigReport, { ...REPORT, found: 1e11 }, { ...REPORT, found: 1e11 + 1 }],
  ['a count', RigReport, { ...REPORT, found: 0 }, { ...REPORT, found: -1 }],
  ['a hashrate', RigReport, { ...REPORT, hashesPerSecond: 1e30 }, { ...REPORT, hashesPerSecond: 1.1e30 }],
  ['an amount', RigReport, { ...REPORT, hashesPerSecond: 0 }, { ...REPORT, hashesPerSecond: -1 }],
  [
    'frost',
    RigReport,
    report({ devices: [reportedDevice({ celsius: -300 })] }),
    report({ devices: [reportedDevice({ celsius: -301 })] }),
  ],
  [
    'heat',
    RigReport,
    report({ devices: [reportedDevice({ celsius: 1e4 })] }),
    report({ devices: [reportedDevice({ celsius: 10_001 })] }),
  ],
];

describe('the bound of', () => {
  it.each(BOUNDS)('%s', (_, schema, fits, exceeds) => {
    expect([isRead(schema, fits), isRead(schema, exceeds)]).toEqual([true, false]);
  });

  it('the bytes of a message', () => {
    const bytes = messageBytes({ done: true, message: '' });
    const padded = (length: number) => new Uint8Array(length).fill(0x20).map((space, i) => bytes[i] ?? space);
    expect(readMessage(ControlAnswer, padded(65_536))).toEqual({ done: true, message: '' });
    expect(readMessage(ControlAnswer, padded(65_537))).toBeUndefined();
  });
});

it.each([
  ['no UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
  ['no JSON', new TextEncoder().encode('{')],
  ['nothing', new Uint8Array()],
])('%s is no message', (_, bytes) => {
  expect(readMessage(ControlAnswer, bytes)).toBeUndefined();
});

describe('a work', () => {
  const TERMS: [what: string, terms: Partial<WorkTerms>, isOfPool: boolean][] = [
    ['of a node', {}, false],
    ['whose target of a solution is easier than that of a block', { blockTarget: targetForDifficulty(1e9) }, false],
    ['of a pool', { until: 'replaced', rollTime: false, nonce1: { value: 5, bytes: 2 } }, true],
    ['of a pool that assigns no nonce', { until: 'replaced' }, true],
    ['with an assigned nonce', { nonce1: { value: 0, bytes: 1 } }, true],
  ];

  it.each(TERMS)('%s is the same after it was given to a rig', (_, terms, ofPool) => {
    const work = makeWork(4, terms);
    const given = givenWorkOf(work, name);
    expect(workOfGiven(readMessage(CoordinatorState, messageBytes({ ...STATE, given }))!.given!)).toEqual(work);
    expect(isOfPool(work)).toBe(ofPool);
  });

  it('has no more in its message than it needs', () => {
    expect(Object.keys(givenWorkOf(makeWork(4), name))).toEqual(['name', 'record', 'rollTime', 'until']);
  });
});

describe('the name of a member in a subject', () => {
  it.each(['rig', 'r-1_A', 'a.b', "!~*'()", 'hall 1/rig>', 'ü', '😀', text(64)])('%s is found again', (member) => {
    const made = token(member);
    expect(made).toMatch(/^[\w%-]+$/);
    expect(senderOf(`pickaxe.report.${made}`)).toBe(member);
  });

  it.each(['', text(65), '%', '%zz', '%ff', '%41', '%2e', 'a b', '!'])('“%s” is none', (last) => {
    expect(senderOf(`pickaxe.report.${last}`)).toBeUndefined();
  });

  it('has upper-case digits of two places, as servers’ permissions have them', () => {
    expect(token("a.b!c'd")).toBe('a%2Eb%21c%27d');
  });
});

it('an answer goes to the inbox of the one who asks, and is at most 200 characters longer', () => {
  const subjects = new FleetSubjects('a.b');
  const inbox = subjects.inbox('rig');
  const belongs = (rest: string) => subjects.isInboxOf('rig', `${inbox}${rest}`);
  expect(['.1', '.a.b', `.${text(200)}`].map(belongs)).toEqual([true, true, true]);
  expect(['', '.', '1', '.a.', '.a..b', '.*', '.>', `.${text(201)}`].map(belongs)).toEqual(Array(8).fill(false));
});
