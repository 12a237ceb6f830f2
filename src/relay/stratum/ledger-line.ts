/** The shapes of the lines of the share ledger. A field that is optional is absent where its value is not known. */

import { z } from 'zod';

/** What became of a share. `unknown-job`: the session never had the job that it names. `invalid`: its nonce cannot be read. */
const SHARE_RESULTS = ['accepted', 'low-difficulty', 'duplicate', 'stale', 'unknown-job', 'invalid'] as const;
export type ShareResult = (typeof SHARE_RESULTS)[number];

const count = z.int().nonnegative();
const timeMillis = count.meta({ description: 'milliseconds since the UNIX epoch' });
const session = count.meta({ description: 'the number of the session since pickaxe was started' });
const worker = z.string().max(128);

export const LedgerLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('session'),
    timeMillis,
    session,
    nonce1: z.string().regex(/^[0-9a-f]{4}$/),
    worker,
    agent: z.string().max(63),
    address: z.string().meta({ description: 'the client’s address, as a proxy tells it where there is one' }),
  }),
  z.object({
    type: z.literal('share'),
    timeMillis,
    session,
    worker,
    result: z.enum(SHARE_RESULTS),
    job: z.string().max(16).exactOptional(),
    chain: count.exactOptional(),
    height: count.exactOptional(),
    nonce: z
      .string()
      .regex(/^\d{1,20}$/)
      .exactOptional()
      .meta({ description: 'a decimal number' }),
    difficulty: z.number().nonnegative().exactOptional().meta({ description: 'hashes that the share stands for' }),
    isBlock: z.boolean(),
  }),
  z.object({
    type: z.literal('left-out'),
    timeMillis,
    worker,
    lines: count.meta({
      description: 'shares of the worker that have no line of their own before this one, because they were too many',
    }),
    accepted: count.meta({ description: 'how many of them were accepted' }),
    blocks: count.meta({ description: 'how many of the accepted ones met the block’s target' }),
    acceptedHashes: z.number().nonnegative().meta({ description: 'how many hashes the accepted ones stand for' }),
  }),
  z.object({
    type: z.literal('lost'),
    timeMillis,
    lines: count.meta({ description: 'lines that are missing here, because the file could not be written' }),
  }),
]);
export type LedgerLine = z.infer<typeof LedgerLine>;

type Untimed<Line> = Line extends unknown ? Omit<Line, 'timeMillis'> : never;
/** A line before it is written. */
export type LedgerEntry = Untimed<Exclude<LedgerLine, { type: 'lost' }>>;
