/** What a parent may send to `pickaxe worker`: the shapes of its lines. Pure. */

import { z } from 'zod';
import { HEADER_BYTES } from '../chain/layout.ts';
import { oneLine } from '../text/one-line.ts';
import { type ErrorCode, LIMITS } from './worker-words.ts';

/** At this rate a share comes every millisecond, and its line costs more than finding it. */
const MOST_SHARES_PER_SECOND = 1_000;
/** Slower than a share a day, a rate says nothing. */
const LEAST_SHARES_PER_SECOND = 1 / 86_400;
/** How much of a parent's words an error repeats. */
const MOST_QUOTED = 80;
/** With more, the line is of another kind altogether. */
const MOST_FAULTS = 3;

const id = z.string().min(1).max(LIMITS.idCharacters).meta({ description: 'the job’s name, which the parent chooses' });
const target = z
  .string()
  .regex(/^(0x)?[\da-fA-F]{1,64}$/)
  .meta({ description: 'a number in hex digits, the most significant first: a share’s hash must be at most this' });

const Nonce1Shape = z
  .strictObject({ value: z.int().nonnegative(), bytes: z.union([z.literal(0), z.literal(1), z.literal(2)]) })
  .refine(({ value, bytes }) => value < 2 ** (8 * bytes), 'the value must fit in the bytes')
  .meta({ description: 'the low bytes of the nonce, which the parent fixes: nonce modulo 2^(8·bytes) = value' });

const JobRequest = z.strictObject({
  type: z.literal('job'),
  id,
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

/** Every line to the worker. */
export const Request = z.discriminatedUnion('type', [
  JobRequest,
  z.strictObject({ type: z.literal('cancel'), id: id.exactOptional() }),
  z.strictObject({ type: z.literal('target'), id, target }),
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

/** Why a line was refused, for the parent's author: what is wrong and what to do. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
}

const TYPES = Request.options.map(({ shape }) => shape.type.value);

/** What to write into a field, by the end of its path. */
const SAYS: Readonly<Record<string, string>> = {
  id: `give a text of 1 to ${LIMITS.idCharacters} characters`,
  header: `give ${2 * HEADER_BYTES} hex digits (${HEADER_BYTES} bytes)`,
  target: 'give a number in 1 to 64 hex digits, the most significant first',
  nonce1: 'give {"value": V, "bytes": 0, 1 or 2} with V below 256^bytes',
  value: 'give a whole number below 256^bytes',
  bytes: 'give 0, 1 or 2',
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

/** @param line one line without its end @returns what it asks for, or why it was refused */
export function readRequest(line: string): Request | { readonly refusal: Refusal } {
  const json = parsed(line);
  if (json === undefined) {
    const message = `this line is not JSON: ${quoted(line)}. Write one JSON object a line, like {"type":"ping"}`;
    return { refusal: { code: 'not-json', message } };
  }
  const { success, data, error } = Request.safeParse(json);
  if (success) return data;
  return { refusal: { code: 'wrong-message', message: faultsOf(json, error.issues) } };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function faultsOf(json: unknown, issues: readonly z.core.$ZodIssue[]): string {
  const type = typeof json === 'object' && json !== null ? (json as { readonly type?: unknown }).type : undefined;
  const known = TYPES.find((one) => one === type);
  if (known === undefined) return `a line is an object whose "type" is one of: ${TYPES.join(', ')}`;
  const faults = issues.slice(0, MOST_FAULTS).map(({ path, ...issue }) => {
    if (issue.code === 'unrecognized_keys') return `there is no ${issue.keys.map(quoted).join(', ')}: remove it`;
    const name = path.filter((part) => typeof part === 'string');
    return `${name.join('.')}: ${SAYS[name.at(-1) ?? ''] ?? issue.message}`;
  });
  return `${known}: ${faults.join('; ')}`;
}

function quoted(text: string): string {
  return `"${oneLine(text, MOST_QUOTED)}"`;
}
