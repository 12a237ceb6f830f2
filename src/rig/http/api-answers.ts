/**
 * The shapes of the HTTP API's queries, bodies and answers, except the status. A figure that is not known is null, and
 * a `fault` is null if there is none.
 */

import { z } from 'zod';
import { amount, coins, count, millis } from '../status/shapes.ts';
import { PolledChains, RIG_STATES, Status } from '../status/status.ts';

/** The event `status` of the event stream. All other events of the stream are lines of `--json`. */
export const StatusEvent = z.object({ type: z.literal('status'), ...Status.shape });
export type StatusEvent = z.infer<typeof StatusEvent>;

const blocks = z.array(count).describe('blocks');
const column = z.array(z.number().nullable());

export const HistoryAnswer = z
  .object({
    range: z.enum(['10m', '1h', '24h']),
    stepSeconds: amount,
    timeMillis: z.array(millis).describe('the end of each step'),
    accepted: blocks,
    rejected: blocks,
    stale: blocks,
    shares: z.object({ accepted: z.array(count), rejected: z.array(count), stale: z.array(count) }),
    devices: z
      .record(
        z.string(),
        z
          .object({ hashesPerSecond: column, temperatureCelsius: column, powerWatts: column })
          .meta({ id: 'DeviceHistory' }),
      )
      .describe('by name'),
    relays: z
      .record(
        z.string(),
        z
          .object({ hashesPerSecond: column })
          .meta({ id: 'RelayHistory', description: 'estimated from shares; of a fleet, as its rigs report it' }),
      )
      .describe('by name'),
  })
  .meta({ id: 'History', description: 'columns of equal length: the figures at one index belong together' });
export type HistoryAnswer = z.infer<typeof HistoryAnswer>;

export const LogAnswer = z
  .object({
    lines: z
      .array(
        z
          .object({
            number: count,
            timeMillis: millis,
            level: z.enum(['info', 'warn', 'error']),
            tag: z.string(),
            message: z.string(),
          })
          .meta({ id: 'LogLine' }),
      )
      .describe('those with a number above the query’s `after`'),
  })
  .meta({ id: 'Log', description: 'the last lines of the log' });
export type LogAnswer = z.infer<typeof LogAnswer>;

export const BalanceAnswer = z
  .object({
    account: z.string().describe('the one that earns'),
    node: z.string().describe('the one that answered; pickaxe cannot prove the amounts'),
    timeMillis: millis.describe('when it answered'),
    total: coins.nullable().describe('the sum; null unless every chain answered'),
    chains: z.array(
      z
        .object({
          chain: count,
          balance: coins.nullable().describe('`0.0` without an account'),
          exists: z.boolean().nullable().describe('whether the account exists'),
          fault: z.string().nullable().describe('why there is no answer'),
        })
        .meta({ id: 'ChainBalance', description: '`balance` and `exists` are null if the chain did not answer' }),
    ),
  })
  .meta({ id: 'Balance', description: 'the balance of the account that earns' });
export type BalanceAnswer = z.infer<typeof BalanceAnswer>;

export const Readiness = z
  .object({ ready: z.boolean(), reasons: z.array(z.enum(RIG_STATES)).describe('its `state` unless it mines') })
  .meta({ id: 'Readiness', description: 'whether the rig mines' });
export const Health = z
  .object({ status: z.literal('ok'), polledChains: PolledChains })
  .meta({ id: 'Health', description: 'whether the process is alive' });
const ERROR_CODES = [
  'bad-request',
  'body-too-large',
  'forbidden-host',
  'forbidden-origin',
  'headers-too-large',
  'internal',
  'method-not-allowed',
  'no-node',
  'no-such-device',
  'no-such-rig',
  'node-failed',
  'not-found',
  'not-json',
  'path-too-long',
  'read-only',
  'timeout',
  'too-many-clients',
  'unauthorized',
  'unavailable',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export const ErrorAnswer = z
  .object({ error: z.object({ code: z.enum(ERROR_CODES), message: z.string() }) })
  .meta({ id: 'Error', description: 'why a request failed' });
export type ErrorAnswer = z.infer<typeof ErrorAnswer>;

export const HistoryQuery = z.strictObject({ range: HistoryAnswer.shape.range.default('1h') });
export const LogQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'a line number')
    .default('0')
    .describe('lines with a higher number'),
});
/** Body of a request to pause or resume a device. If `device` is absent, the request is about all devices. */
export const ControlBody = z.strictObject({ device: z.string().min(1).max(32).optional() }).meta({ id: 'ControlBody' });
