/**
 * The JSON messages that a fleet's coordinators, rigs and operators exchange over NATS servers. Rigs' reports are in
 * `rig-report.ts`. docs/fleet.md describes all of them. Pure.
 */

import { z } from 'zod';
import { jsonOrUndefined, jsonText } from '../base/text/plain-text.ts';
import { OUTCOMES, STALE_REASONS } from '../miner/events/vocabulary.ts';
import {
  equalBytes,
  fromHex,
  HEADER_BYTES,
  TARGET_BYTES,
  toHex,
  WORK_BYTES,
  WORK_OFFSET,
} from '../protocol/chain/bytes.ts';
import { NO_NONCE1 } from '../protocol/chain/nonce.ts';
import { parseWork, type Work } from '../protocol/chain/work.ts';
import { Nonce1Shape } from '../protocol/wire/nonce1.ts';
import { MOST_NAME } from './subjects.ts';

/* Parts of messages */

/** Maximum length of texts for people, in UTF-16 code units. */
export const MOST_TEXT = 1_000;
/** Maximum length of a message, in bytes. The longest message is the report of a rig with many devices. */
export const MOST_MESSAGE_BYTES = 65_536;
/** Maximum number of ended works that a state lists. Earlier ends do not matter, because rigs have newer work now. */
export const MOST_ENDED = 16;

/** A string in JSON can contain half of a surrogate pair. A subject cannot, so such a string is not a valid name. */
export const memberName = z
  .string()
  .min(1)
  .max(MOST_NAME)
  .refine((name) => !/\p{Surrogate}/u.test(name), 'is no text');
export const sentence = z.string().max(MOST_TEXT);
/**
 * 16 hex digits that a coordinator or rig chooses at random at each start. They reveal a restart, and two members with
 * the same name.
 */
export const instance = z.string().regex(/^[\da-f]{16}$/);
/** The name of a work, unique among the works of all coordinators: the coordinator's `instance`, `-` and a number. */
const workName = z.string().regex(/^[\da-f]{16}-\d{1,15}$/);
const bytes = (count: number) => z.string().regex(new RegExp(`^[\\da-f]{${2 * count}}$`));

/* A coordinator's state */

/** A request for a coordinator's state. A message of another form on its subject is answered as if it were `{}`. */
export const HelloRequest = z.strictObject({
  /** Present if the answer should also contain the header of the block on which the current work builds. */
  parent: z.literal(true).exactOptional(),
});
export type HelloRequest = Readonly<z.infer<typeof HelloRequest>>;

const GivenWork = z.strictObject({
  name: workName,
  /** The work record: 322 bytes, in hex. */
  record: bytes(WORK_BYTES),
  /** Target of a block: 32 bytes, little-endian, in hex. Absent if it equals the record's target of a solution. */
  blockTarget: bytes(TARGET_BYTES).exactOptional(),
  /** The low bytes of the nonce that the coordinator's source has assigned. Absent if it has assigned none. */
  nonce1: Nonce1Shape.exactOptional(),
  rollTime: z.boolean(),
  until: z.enum(['solved', 'replaced']),
});
export type GivenWork = Readonly<z.infer<typeof GivenWork>>;

export const CoordinatorState = z.strictObject({
  instance,
  /** Number of states before this one since the coordinator's start. A lower number means an older state. */
  number: z.int().nonnegative(),
  version: z.string().max(64),
  /** The name of the current work; null while there is none. */
  work: workName.nullable(),
  /** The current work. Absent if there is none, and in short states, which have only the work's name. */
  given: GivenWork.exactOptional(),
  /**
   * The latest creation time that is surely valid when this state is made, in µs since the UNIX epoch. It holds for the
   * current work or, while there is none, for the last work; 0 before the first work.
   */
  latestTimeMicros: z.int().nonnegative(),
  /**
   * Works that have ended within the last 10 s, the latest end first. Their solutions are worthless. Works that were
   * only replaced are not listed, because their solutions still count.
   */
  ended: z.array(z.strictObject({ name: workName, reason: z.enum(STALE_REASONS) })).max(MOST_ENDED),
  /** Why the coordinator's own source is out of reach, or that the coordinator is stopping; null otherwise. */
  lost: sentence.nullable(),
  /**
   * Why the coordinator's work is probably worth nothing. Absent while the coordinator is healthy, and while no other
   * coordinator could take over its rigs. Rigs with an earlier version of pickaxe cannot read a state with this field.
   * So they leave the coordinator, too.
   */
  fault: sentence.exactOptional(),
  /**
   * The header of the block on which the current work builds: 286 bytes, in hex. Its proof of work proves that the
   * block exists. Present only in the answer to a request with `parent`, and only if a node has returned the header.
   */
  parent: bytes(HEADER_BYTES).exactOptional(),
});
export type CoordinatorState = Readonly<z.infer<typeof CoordinatorState>>;

/** @param name unique among the works of all coordinators @returns the work in the form that a state contains */
export function givenWorkOf(work: Work, name: string): GivenWork {
  const { chain, target, blockTarget, header, nonce1, rollTime, until } = work;
  const record = new Uint8Array(WORK_BYTES);
  new DataView(record.buffer).setUint32(WORK_OFFSET.chain, chain, true);
  record.set(target, WORK_OFFSET.target);
  record.set(header, WORK_OFFSET.header);
  return {
    name,
    record: toHex(record),
    ...(!equalBytes(target, blockTarget) && { blockTarget: toHex(blockTarget) }),
    ...(nonce1.bytes > 0 && { nonce1 }),
    rollTime,
    until,
  };
}

export function workOfGiven({ record, blockTarget, nonce1 = NO_NONCE1, rollTime, until }: GivenWork): Work {
  const terms = { nonce1, rollTime, until, ...(blockTarget !== undefined && { blockTarget: fromHex(blockTarget) }) };
  return parseWork(fromHex(record), terms);
}

/* Solutions */

/**
 * Whether the work comes from a pool. Only the coordinator that issued such a work can submit its shares, because a
 * pool accepts a share only over the connection on which it sent the work.
 */
export function isOfPool({ until, nonce1 }: Work): boolean {
  return until !== 'solved' || nonce1.bytes > 0;
}

export const SolutionRequest = z.strictObject({
  /** The coordinator that issued the work. */
  coordinator: memberName,
  work: workName,
  /** The header with the creation time and nonce of the solution: 286 bytes, in hex. */
  header: bytes(HEADER_BYTES),
});
export type SolutionRequest = Readonly<z.infer<typeof SolutionRequest>>;

/**
 * Codes of the reasons for which a coordinator refuses a solution. If the issuer of the work answers `not-a-solution`
 * or `wrong-message`, or `unknown-work` for a pool's work, the rig does not send the solution again. After every other
 * refusal, the rig sends it again, to this or to another coordinator.
 */
export const SOLUTION_REFUSALS = {
  'unknown-work': 'the coordinator neither gave the work nor knows of it',
  'not-a-solution': 'the header is not one of the work, or its hash misses the target',
  'too-many': 'the rig has sent too many solutions, or wrong ones',
  'wrong-message': 'it has not the right form',
  'not-mine': 'the coordinator cannot submit it: a pool fixed a part of the work, or none of its nodes takes it',
  'too-early': 'its creation time is later than the latest one that is surely valid; it does not count as wrong',
} as const;
export type SolutionRefusal = keyof typeof SOLUTION_REFUSALS;

export const SolutionAnswer = z.discriminatedUnion('state', [
  /** The solution is being submitted. The rig repeats its request. If a coordinator is named here, the rig asks it. */
  z.strictObject({ state: z.literal('pending'), coordinator: memberName.exactOptional() }),
  z.strictObject({
    state: z.literal('verdict'),
    outcome: z.enum(OUTCOMES),
    reason: sentence,
    /** The name of the node or pool that gave the verdict. Absent if it is not known. */
    by: z.string().max(MOST_TEXT).exactOptional(),
  }),
  /** The coordinator has not submitted the solution, or none of its nodes has accepted it. */
  z.strictObject({
    state: z.literal('refused'),
    code: z.enum(Object.keys(SOLUTION_REFUSALS) as SolutionRefusal[]),
    reason: sentence,
  }),
]);
export type SolutionAnswer = Readonly<z.infer<typeof SolutionAnswer>>;

/* Control of a rig */

const celsius = z.number().min(0).max(150).nullable();

export const ControlRequest = z.discriminatedUnion('command', [
  z
    .strictObject({ command: z.literal('pause'), device: memberName.exactOptional() })
    .describe('pauses the device, or all'),
  z
    .strictObject({ command: z.literal('resume'), device: memberName.exactOptional() })
    .describe('resumes the device, or all'),
  z
    .strictObject({
      command: z.literal('limits'),
      gpuCelsius: celsius.exactOptional(),
      cpuCelsius: celsius.exactOptional(),
    })
    .describe('pauses devices at these temperatures; null: the rig’s own limits, which none can exceed'),
  z
    .strictObject({ command: z.literal('restart') })
    .describe('ends mining, and begins again with the configuration read afresh'),
]);
export type ControlRequest = Readonly<z.infer<typeof ControlRequest>>;

export const ControlAnswer = z.strictObject({ done: z.boolean(), message: sentence });
export type ControlAnswer = Readonly<z.infer<typeof ControlAnswer>>;

/* Messages as bytes */

const UTF8 = new TextEncoder();
const FROM_UTF8 = new TextDecoder('utf-8', { fatal: true });

export function messageBytes(message: unknown): Uint8Array {
  return UTF8.encode(jsonText(message));
}

/** @returns the message; undefined if it has more than `MOST_MESSAGE_BYTES`, or is not UTF-8 JSON of this schema */
export function readMessage<Schema extends z.ZodType>(schema: Schema, data: Uint8Array): z.infer<Schema> | undefined {
  if (data.length > MOST_MESSAGE_BYTES) return undefined;
  let text: string;
  try {
    text = FROM_UTF8.decode(data);
  } catch {
    return undefined;
  }
  return schema.safeParse(jsonOrUndefined(text)).data;
}
