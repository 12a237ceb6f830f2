/**
 * Subjects and messages (JSON) of a fleet's coordinators, rigs and operators on NATS servers: docs/fleet.md. Pure.
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

/** The tokens of a reply subject that follow those of the inbox: none is empty or a wildcard, as NATS requires. */
const ANSWER_TOKENS = /^(?=.{1,200}$)[\w$+/=-]+(?:\.[\w$+/=-]+)*$/;

/* Subjects. The last token is the sender's name, which the permissions of a server enforce. */

/** Queue group of the coordinators that answer fallback requests: only one of its members gets each request. */
export const FALLBACK_QUEUE = 'coordinators';

export class FleetSubjects {
  readonly #prefix: string;

  /** @param prefix distinguishes the fleets of a server: tokens separated by dots, such as `pickaxe` */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Subject of a coordinator's whole states, one for each new work. The rigs that mine its work subscribe to it. */
  work(coordinator: string): string {
    return `${this.#prefix}.work.${token(coordinator)}`;
  }

  get allWork(): string {
    return `${this.#prefix}.work.*`;
  }

  /** Subject of a coordinator's short states, one every second and when a work ends. All members subscribe to it. */
  beat(coordinator: string): string {
    return `${this.#prefix}.beat.${token(coordinator)}`;
  }

  get allBeats(): string {
    return `${this.#prefix}.beat.*`;
  }

  /** Subject of requests for a coordinator's whole state. */
  hello(coordinator: string, sender: string): string {
    return `${this.#prefix}.hello.${token(coordinator)}.${token(sender)}`;
  }

  /** Subjects of a member's requests for states to any coordinator, for the member's permissions. */
  hellosBy(sender: string): string {
    return `${this.#prefix}.hello.*.${token(sender)}`;
  }

  hellosTo(coordinator: string): string {
    return `${this.#prefix}.hello.${token(coordinator)}.*`;
  }

  /** Subject of requests with a solution, to the coordinator that issued the work. */
  solution(coordinator: string, rig: string): string {
    return `${this.#prefix}.solution.${token(coordinator)}.${token(rig)}`;
  }

  solutionsBy(rig: string): string {
    return `${this.#prefix}.solution.*.${token(rig)}`;
  }

  solutionsTo(coordinator: string): string {
    return `${this.#prefix}.solution.${token(coordinator)}.*`;
  }

  /** Subject of requests with a solution to any coordinator, if the issuer of the work is unresponsive. */
  fallback(rig: string): string {
    return `${this.#prefix}.fallback.${token(rig)}`;
  }

  get fallbacks(): string {
    return `${this.#prefix}.fallback.*`;
  }

  /** Subject of a rig's reports. */
  report(rig: string): string {
    return `${this.#prefix}.report.${token(rig)}`;
  }

  get reports(): string {
    return `${this.#prefix}.report.*`;
  }

  /** Subject of an operator's requests to a rig. */
  control(rig: string, operator: string): string {
    return `${this.#prefix}.control.${token(rig)}.${token(operator)}`;
  }

  controlsBy(operator: string): string {
    return `${this.#prefix}.control.*.${token(operator)}`;
  }

  controlsTo(rig: string): string {
    return `${this.#prefix}.control.${token(rig)}.*`;
  }

  get controls(): string {
    return `${this.#prefix}.control.*.*`;
  }

  /** First part of the subjects of answers to a rig or coordinator, without a final dot. */
  inbox(member: string): string {
    return `${this.#prefix}.inbox.${token(member)}`;
  }

  get inboxes(): string {
    return `${this.#prefix}.inbox.>`;
  }

  /**
   * First part of the subjects of answers to an operator, without a final dot. Rigs publish these answers. With
   * subjects of their own, rigs need no permission to publish to the inbox of another rig.
   */
  operatorInbox(operator: string): string {
    return `${this.#prefix}.operator.${token(operator)}`;
  }

  /** Subjects of the answers to operators. The last two tokens are random, and secret until the request. */
  get operatorAnswers(): string {
    return `${this.#prefix}.operator.*.*.*`;
  }

  /**
   * Whether an answer to this subject reaches only the member that asks. A request can name any subject for its answer,
   * even one on which rigs would take the answer for a state of a coordinator.
   */
  isInboxOf(member: string, reply: string): boolean {
    return isBelow(this.inbox(member), reply);
  }

  isInboxOfOperator(operator: string, reply: string): boolean {
    return isBelow(this.operatorInbox(operator), reply);
  }

  /** Subjects that rigs of any name may publish and subscribe to, for a site that has only rigs. */
  get ofAnyRig(): { readonly publish: readonly string[]; readonly subscribe: readonly string[] } {
    const prefix = this.#prefix;
    return {
      publish: [`${prefix}.hello.*.*`, `${prefix}.solution.*.*`, this.fallbacks, this.reports, this.operatorAnswers],
      subscribe: [this.allWork, this.allBeats, this.controls, `${prefix}.inbox.*.>`],
    };
  }
}

function isBelow(inbox: string, reply: string): boolean {
  return reply.startsWith(`${inbox}.`) && ANSWER_TOKENS.test(reply.slice(inbox.length + 1));
}

/**
 * The name of a member as one token of a subject: characters other than letters, digits, `-` and `_` are
 * written as their UTF-8 bytes, each as `%` and two hex digits.
 */
export function token(name: string): string {
  return encodeURIComponent(name).replace(/[.!~*'()]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** @returns the name in the last token of a subject; undefined if the token is not that of a name */
export function senderOf(subject: string): string | undefined {
  const last = subject.slice(subject.lastIndexOf('.') + 1);
  try {
    const name = decodeURIComponent(last);
    return token(name) === last && name.length > 0 && name.length <= MOST_NAME ? name : undefined;
  } catch {
    return undefined;
  }
}

/* Parts of messages */

/** Maximum length of a member's name, in characters. */
export const MOST_NAME = 64;
/** Maximum length of texts for people, in characters. */
export const MOST_TEXT = 1_000;
/** Maximum length of a message, in bytes. The longest, a rig's report, has about 10,000. */
export const MOST_MESSAGE_BYTES = 65_536;
/** Maximum number of ended works that a state names. A rig that missed more of them has newer work anyway. */
export const MOST_ENDED = 16;

/** A name in JSON can contain half of a surrogate pair. No subject can, so no member has such a name. */
export const memberName = z
  .string()
  .min(1)
  .max(MOST_NAME)
  .refine((name) => !/\p{Surrogate}/u.test(name), 'is no text');
export const sentence = z.string().max(MOST_TEXT);
/** 16 random hex digits, new at each start of a coordinator or rig, which reveal restarts and duplicate names. */
export const instance = z.string().regex(/^[\da-f]{16}$/);
/** The name of a work, unique among all coordinators. */
const workName = z.string().regex(/^[\da-f]{16}-\d{1,15}$/);
const bytes = (count: number) => z.string().regex(new RegExp(`^[\\da-f]{${2 * count}}$`));

/* A coordinator's state */

/** A request for a coordinator's state. Any other message to its subject is answered like an empty request. */
export const HelloRequest = z.strictObject({
  /** Whether the answer should have the header of the block on which the current work builds. */
  parent: z.literal(true).exactOptional(),
});
export type HelloRequest = Readonly<z.infer<typeof HelloRequest>>;

const GivenWork = z.strictObject({
  name: workName,
  /** The work record, 322 bytes. */
  record: bytes(WORK_BYTES),
  /** Target of a block: 32 bytes, little-endian; absent if it is the target in the record. */
  blockTarget: bytes(TARGET_BYTES).exactOptional(),
  /** The part of the nonce that the source has fixed; absent without one. */
  nonce1: Nonce1Shape.exactOptional(),
  rollTime: z.boolean(),
  until: z.enum(['solved', 'replaced']),
});
export type GivenWork = Readonly<z.infer<typeof GivenWork>>;

export const CoordinatorState = z.strictObject({
  instance,
  /** Number of this state, counted from the start of the coordinator. A state with a lower number is older. */
  number: z.int().nonnegative(),
  version: z.string().max(64),
  /** The name of the current work; null while there is none. */
  work: workName.nullable(),
  /** The current work. Absent in short states, which have only its name. */
  given: GivenWork.exactOptional(),
  /** The latest creation time that is surely valid for the work now, in µs since the UNIX epoch. */
  latestTimeMicros: z.int().nonnegative(),
  /** Works whose solutions are worthless, newest first. Works that were merely replaced are not listed. */
  ended: z.array(z.strictObject({ name: workName, reason: z.enum(STALE_REASONS) })).max(MOST_ENDED),
  /** Why the coordinator's own source is out of reach; null while it is in reach. */
  lost: sentence.nullable(),
  /**
   * Why the coordinator's work is probably worth nothing; absent while the coordinator is healthy, or if no other could
   * take over. Rigs of earlier versions cannot read a state with this field, and so leave the coordinator, too.
   */
  fault: sentence.exactOptional(),
  /**
   * The header of the block on which the current work builds, 286 bytes, which proves that the block exists. Present
   * only in answers to requests for it, and only if a node has given it.
   */
  parent: bytes(HEADER_BYTES).exactOptional(),
});
export type CoordinatorState = Readonly<z.infer<typeof CoordinatorState>>;

/** @param name unique among the works of all coordinators @returns the work as it is in a state */
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

/** Whether the work is a pool's, whose shares only the issuer can submit: a pool takes them over one connection. */
export function isOfPool({ until, nonce1 }: Work): boolean {
  return until !== 'solved' || nonce1.bytes > 0;
}

export const SolutionRequest = z.strictObject({
  /** The coordinator that issued the work. */
  coordinator: memberName,
  work: workName,
  /** The header with the creation time and nonce of the solution, 286 bytes. */
  header: bytes(HEADER_BYTES),
});
export type SolutionRequest = Readonly<z.infer<typeof SolutionRequest>>;

/** Reasons for which a coordinator refuses a solution. After `too-early`, the rig sends it again. */
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
  /** The solution is being submitted. The rig asks again, and asks the coordinator named here if there is one. */
  z.strictObject({ state: z.literal('pending'), coordinator: memberName.exactOptional() }),
  z.strictObject({
    state: z.literal('verdict'),
    outcome: z.enum(OUTCOMES),
    reason: sentence,
    /** The name of the node or pool that answered. */
    by: z.string().max(MOST_TEXT).exactOptional(),
  }),
  /** The coordinator has not submitted the solution. */
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

/** @returns undefined unless the bytes are a message of this kind */
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
