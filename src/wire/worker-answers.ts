/** What `pickaxe worker` sends to its parent: the shapes of its lines. Names follow the rules of all public JSON. Pure. */

import { z } from 'zod';
import { jsonText } from '../text/json-text.ts';
import { BYE_REASONS, CAPABILITIES, ERROR_CODES, LIMITS, PROTOCOL_VERSION } from './worker-words.ts';

const count = z.int().nonnegative();
const amount = z.number().nonnegative();
const device = z.string();
const kind = z.enum(['cpu', 'gpu']);
const state = z.enum(['starting', 'ready', 'paused', 'reopening', 'parked']);
const id = z.string().meta({ description: 'the job’s name, which the parent chose' });

/** Every line of the worker. A field that is optional is absent where its value is not known. */
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
    id,
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
    id: id.exactOptional(),
  }),
  z.object({ type: z.literal('bye'), reason: z.enum(BYE_REASONS), shares: count }),
]);
export type Answer = Readonly<z.infer<typeof Answer>>;

type LimitShape = Record<keyof typeof LIMITS, typeof count>;

/** An answer of one type. */
export type AnswerOf<Type extends Answer['type']> = Extract<Answer, { type: Type }>;

/** @returns the answer as a line, with its end */
export function answerLine(answer: Answer): string {
  return `${jsonText(answer)}\n`;
}
