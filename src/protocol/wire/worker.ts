/** The protocol between `pickaxe worker` and its parent (docs/workers.md). Pure. */

import { z } from 'zod';
import { jsonOrUndefined, jsonText, oneLine } from '../../base/text/plain-text.ts';
import { CHAIN_BYTES, fromHex, HEADER_BYTES, HEADER_OFFSET, toHex, WORK_BYTES, WORK_OFFSET } from '../chain/bytes.ts';
import { NO_NONCE1 } from '../chain/nonce.ts';
import { difficultyOf } from '../chain/target.ts';
import type { Solution } from '../chain/verify.ts';
import { headerTargetOf, parseWork, type Work } from '../chain/work.ts';
import { Nonce1Shape } from './nonce1.ts';
import { parseTarget } from './stratum.ts';

/** Must be incremented if a parent that was written for an earlier version would misunderstand a message. */
export const PROTOCOL_VERSION = 1;

/** Names of the worker's features beyond jobs and shares. Later versions may have more. */
export const CAPABILITIES = ['nonce1', 'time-may-roll', 'verdicts', 'retarget', 'share-rate'] as const;

export const LIMITS = {
  /** Maximum length of a line to the worker, in bytes. The line of a job has about 1,000. */
  lineBytes: 65_536,
  /** Maximum number of jobs of a connection. One more job ends the oldest job. */
  jobs: 64,
  /** Maximum length of a job's id, in characters. The ids of pools have about 12. */
  idCharacters: 64,
  /** Maximum length of the text `echo` in a `ping`, in characters. The `pong` repeats this text. */
  echoCharacters: 256,
} as const;

const ERROR_CODES = [
  'line-too-long',
  'not-json',
  'wrong-message',
  'id-in-use',
  'unknown-job',
  'unknown-share',
  'too-many-connections',
] as const;
type ErrorCode = (typeof ERROR_CODES)[number];

const BYE_REASONS = ['drained', 'input-ended', 'stopped', 'no-device'] as const;
export type ByeReason = (typeof BYE_REASONS)[number];

/* Lines from the parent. */

/** Maximum rate of shares. At a higher rate, writing a share's line would cost more than finding the share. */
const MOST_SHARES_PER_SECOND = 1_000;
/** Minimum rate of shares: one a day. */
const LEAST_SHARES_PER_SECOND = 1 / 86_400;
/** Maximum number of characters of a parent's line, or of a key in it, that an error quotes. */
const MOST_QUOTED = 80;
/** Maximum number of faults that an error lists. A line with more faults is probably no message of this protocol. */
const MOST_FAULTS = 3;

const JOB_ID = z
  .string()
  .min(1)
  .max(LIMITS.idCharacters)
  .meta({ description: 'the job’s name, which the parent chooses' });
const target = z
  .string()
  .regex(/^(0x)?[\da-fA-F]{1,64}$/)
  .meta({ description: 'a number in hex digits, the most significant first: a share’s hash must be at most this' });

const JobRequest = z.strictObject({
  type: z.literal('job'),
  id: JOB_ID,
  header: z
    .string()
    .regex(/^[\da-fA-F]{572}$/)
    .meta({ description: `${HEADER_BYTES} bytes in hex digits; the nonce in it is ignored` }),
  target: target.exactOptional(),
  nonce1: Nonce1Shape.exactOptional(),
  timeMayRoll: z
    .boolean()
    .exactOptional()
    .meta({ description: 'whether the worker may move the creation time forward to its clock; default: false' }),
  solutions: z
    .enum(['one', 'many'])
    .exactOptional()
    .meta({ description: 'whether the job ends with its first share; default: many' }),
  verdicts: z
    .boolean()
    .exactOptional()
    .meta({ description: 'whether the parent will send a verdict on each of its shares; default: false' }),
  clean: z
    .boolean()
    .exactOptional()
    .meta({ description: 'whether all earlier jobs of this connection are cancelled; default: false' }),
});
export type JobRequest = Readonly<z.infer<typeof JobRequest>>;

export const Request = z.discriminatedUnion('type', [
  JobRequest,
  z.strictObject({ type: z.literal('cancel'), id: JOB_ID.exactOptional() }),
  z.strictObject({ type: z.literal('target'), id: JOB_ID, target }),
  z.strictObject({
    type: z.literal('verdict'),
    share: z.int().positive().meta({ description: 'the number of the share' }),
    outcome: z.enum(['accepted', 'rejected', 'stale']),
    reason: z.string().max(1_000).exactOptional(),
  }),
  z.strictObject({
    type: z.literal('rate'),
    sharesPerSecond: z
      .number()
      .min(LEAST_SHARES_PER_SECOND)
      .max(MOST_SHARES_PER_SECOND)
      .nullable()
      .meta({ description: 'the most shares a second, on average; null: no limit' }),
  }),
  z.strictObject({ type: z.literal('stats') }),
  z.strictObject({ type: z.literal('ping'), echo: z.string().max(LIMITS.echoCharacters).exactOptional() }),
  z.strictObject({ type: z.literal('drain') }),
]);
export type Request = Readonly<z.infer<typeof Request>>;

/** The refusal of a line. The message describes the fault and its correction, for the author of the parent program. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
}

const TYPES = Request.options.map(({ shape }) => shape.type.value);

/** Advice for each field that has a wrong value, by the field's name. */
const REMEDIES: Readonly<Record<string, string>> = {
  id: `give a text of 1 to ${LIMITS.idCharacters} characters`,
  header: `give ${2 * HEADER_BYTES} hex digits (${HEADER_BYTES} bytes)`,
  target: 'give a number in 1 to 64 hex digits, the most significant first',
  nonce1: 'give {"value": V, "bytes": 0 to 4} with V below 256^bytes',
  value: 'give a whole number below 256^bytes',
  bytes: 'give a whole number from 0 to 4',
  timeMayRoll: 'give true or false',
  solutions: 'give "one" or "many"',
  verdicts: 'give true or false',
  clean: 'give true or false',
  share: 'give the number of a share',
  outcome: 'give "accepted", "rejected" or "stale"',
  reason: 'give a text of at most 1000 characters',
  sharesPerSecond: `give a number from 1/86400 to ${MOST_SHARES_PER_SECOND}, or null for no limit`,
  echo: `give a text of at most ${LIMITS.echoCharacters} characters`,
};

/** @param line a line from the parent, without its line end */
export function readRequest(line: string): Request | { readonly refusal: Refusal } {
  const json = jsonOrUndefined(line);
  if (json === undefined) {
    const message = `this line is not JSON: ${quoted(line)}. Write one JSON object a line, like {"type":"ping"}`;
    return { refusal: { code: 'not-json', message } };
  }
  const { success, data, error } = Request.safeParse(json);
  if (success) return data;
  return { refusal: { code: 'wrong-message', message: faultsOf(json, error.issues) } };
}

function faultsOf(json: unknown, issues: readonly z.core.$ZodIssue[]): string {
  const type = typeof json === 'object' && json !== null ? (json as { readonly type?: unknown }).type : undefined;
  const known = TYPES.find((one) => one === type);
  if (known === undefined) return `a line is an object whose "type" is one of: ${TYPES.join(', ')}`;
  const faults = issues.slice(0, MOST_FAULTS).map(({ path, ...issue }) => {
    if (issue.code === 'unrecognized_keys') return `there is no ${issue.keys.map(quoted).join(', ')}: remove it`;
    const name = path.filter((part) => typeof part === 'string');
    return `${name.join('.')}: ${REMEDIES[name.at(-1) ?? ''] ?? issue.message}`;
  });
  return `${known}: ${faults.join('; ')}`;
}

function quoted(text: string): string {
  return `"${oneLine(text, MOST_QUOTED)}"`;
}

/* Lines to the parent. Names follow the rules of all public JSON (docs/wrappers.md). */

const count = z.int().nonnegative();
const amount = z.number().nonnegative();
const device = z.string();
const kind = z.enum(['cpu', 'gpu']);
const state = z.enum(['starting', 'ready', 'paused', 'reopening', 'parked']);
const ANSWERED_ID = z.string().meta({ description: 'the job’s name, which the parent chose' });

/** The messages of the worker. An optional field is absent if it has no known value. */
export const Answer = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    protocol: z.literal(PROTOCOL_VERSION),
    version: z.string().meta({ description: 'pickaxe’s version' }),
    rig: z.string().meta({ description: 'the rig’s name' }),
    capabilities: z.array(z.enum(CAPABILITIES)),
    limits: z.object(Object.fromEntries(Object.keys(LIMITS).map((name) => [name, count])) as LimitShape),
    devices: z.array(z.object({ device, kind })),
  }),
  z.object({
    type: z.literal('device'),
    device,
    kind,
    state: state.exclude(['starting']),
    description: z.string(),
    reason: z.string().exactOptional(),
  }),
  z.object({
    type: z.literal('ready'),
    devices: z.array(device).meta({ description: 'those that hash as soon as there is a job' }),
  }),
  z.object({ type: z.literal('paused'), reason: z.string() }),
  z.object({
    type: z.literal('share'),
    share: z.int().positive().meta({ description: 'its number: 1, 2, 3 … on each connection' }),
    id: ANSWERED_ID,
    nonce: z
      .string()
      .regex(/^\d{1,20}$/)
      .meta({ description: 'a decimal number' }),
    header: z
      .string()
      .regex(/^[\da-f]{572}$/)
      .meta({ description: 'ready to be submitted' }),
    hash: z
      .string()
      .regex(/^[\da-f]{64}$/)
      .meta({ description: 'the proof-of-work hash, 32 bytes, the least significant first' }),
    difficulty: amount.meta({ description: 'hashes that such a share takes on average' }),
    isBlock: z.boolean().meta({ description: 'whether it meets the target in the header' }),
  }),
  z.object({
    type: z.literal('stats'),
    uptimeSeconds: amount,
    hashes: count,
    hashesPerSecond: amount.meta({ description: 'over half a minute' }),
    hardwareErrors: count,
    jobs: count.meta({ description: 'how many this connection holds' }),
    shares: count.meta({ description: 'how many this connection was sent' }),
    unreadShares: count.meta({ description: 'how many of them it has not read yet' }),
    devices: z.record(device, z.object({ kind, state, hashesPerSecond: amount, hashes: count })),
  }),
  z.object({ type: z.literal('pong'), echo: z.string().exactOptional() }),
  z.object({
    type: z.literal('error'),
    code: z.enum(ERROR_CODES),
    message: z.string().meta({ description: 'what is wrong and what to do, for people' }),
    line: count.meta({ description: 'the number of the line that was refused; 0 if none was' }),
    id: ANSWERED_ID.exactOptional(),
  }),
  z.object({ type: z.literal('bye'), reason: z.enum(BYE_REASONS), shares: count }),
]);
export type Answer = Readonly<z.infer<typeof Answer>>;

type LimitShape = Record<keyof typeof LIMITS, typeof count>;

export type AnswerOf<Type extends Answer['type']> = Extract<Answer, { type: Type }>;

export function answerLine(answer: Answer): string {
  return `${jsonText(answer)}\n`;
}

/* Conversions of jobs into works, and of solutions into shares. */

export function workOf(request: JobRequest): Work {
  const header = fromHex(request.header);
  const blockTarget = headerTargetOf(header);
  const { target, nonce1 = NO_NONCE1, timeMayRoll = false, solutions = 'many' } = request;
  return workOfHeader(header, {
    target: target === undefined ? blockTarget : targetOf(target),
    nonce1,
    rollTime: timeMayRoll,
    until: solutions === 'one' ? 'solved' : 'replaced',
  });
}

/** @param header 286 bytes, which contain the block target @param terms the work's fields that the header lacks */
export function workOfHeader(
  header: Uint8Array,
  { target, ...terms }: Pick<Work, 'target' | 'nonce1' | 'rollTime' | 'until'>,
): Work {
  const record = new Uint8Array(WORK_BYTES);
  const chain = header.subarray(HEADER_OFFSET.chain, HEADER_OFFSET.chain + CHAIN_BYTES);
  record.set(chain, WORK_OFFSET.chain);
  record.set(target, WORK_OFFSET.target);
  record.set(header, WORK_OFFSET.header);
  return parseWork(record, { ...terms, blockTarget: Uint8Array.from(headerTargetOf(header)) });
}

/** @param target valid hex digits @returns 32 bytes, little-endian */
export function targetOf(target: string): Uint8Array {
  return parseTarget(target) as Uint8Array;
}

export function shareOf(
  { work, nonce, header, powHash, isBlock }: Solution,
  share: number,
  id: string,
): AnswerOf<'share'> {
  return {
    type: 'share',
    share,
    id,
    nonce: nonce.toString(),
    header: toHex(header),
    hash: toHex(powHash),
    difficulty: difficultyOf(work.target),
    isBlock,
  };
}
