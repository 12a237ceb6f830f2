/**
 * What `/api/v1` answers besides the status. Types and the OpenAPI document are made from these. Null stands for what
 * is not known.
 */

import { z } from 'zod';
import { RANGES_MS } from '../history.ts';
import { LOG_LEVELS } from '../log-tail.ts';
import { amount, coins, count, millis } from '../shapes.ts';
import { PolledChains, RIG_STATES, Status } from '../status.ts';
import { ERROR_CODES } from './access.ts';

/** The event `status` of the event stream. Its other events are the lines of `--json`. */
export const StatusEvent = z.object({ type: z.literal('status'), ...Status.shape });
export type StatusEvent = z.infer<typeof StatusEvent>;

const column = z.array(z.number().nullable());

export const HistoryAnswer = z
  .object({
    range: z.enum(Object.keys(RANGES_MS) as [keyof typeof RANGES_MS, ...(keyof typeof RANGES_MS)[]]),
    stepSeconds: amount,
    timeMillis: z.array(millis).meta({ description: 'when each step ended, milliseconds since the UNIX epoch' }),
    accepted: z.array(count),
    rejected: z.array(count),
    stale: z.array(count),
    shares: z.object({ accepted: z.array(count), rejected: z.array(count), stale: z.array(count) }),
    devices: z.record(
      z.string(),
      z
        .object({ hashesPerSecond: column, temperatureCelsius: column, powerWatts: column })
        .meta({ id: 'DeviceHistory' }),
    ),
    relays: z.record(
      z.string(),
      z.object({ hashesPerSecond: column }).meta({ id: 'RelayHistory', description: 'estimated from shares' }),
    ),
  })
  .meta({ id: 'History', description: 'Columns: the figures at one index belong together' });

export const LogAnswer = z
  .object({
    lines: z.array(
      z
        .object({
          number: count,
          timeMillis: millis,
          level: z.enum(LOG_LEVELS),
          tag: z.string(),
          message: z.string(),
        })
        .meta({ id: 'LogLine' }),
    ),
  })
  .meta({ id: 'Log' });

export const BalanceAnswer = z
  .object({
    account: z.string().meta({ description: 'the one that is mined for' }),
    node: z.string().meta({ description: 'the node that said it; pickaxe cannot prove it' }),
    timeMillis: millis.meta({ description: 'when the node said it, milliseconds since the UNIX epoch' }),
    total: coins.nullable().meta({ description: 'the sum; null unless every chain answered' }),
    chains: z.array(
      z
        .object({
          chain: count,
          balance: coins.nullable().meta({ description: '0.0 where the account does not exist' }),
          exists: z.boolean().nullable().meta({ description: 'whether the account exists there' }),
          fault: z.string().nullable().meta({ description: 'why the chain did not answer' }),
        })
        .meta({ id: 'ChainBalance', description: 'Balance and exists are null when the chain did not answer' }),
    ),
  })
  .meta({ id: 'Balance' });

export const Readiness = z
  .object({ ready: z.boolean(), reasons: z.array(z.enum(RIG_STATES)) })
  .meta({ id: 'Readiness' });
export const Health = z.object({ status: z.literal('ok'), polledChains: PolledChains }).meta({ id: 'Health' });
export const ErrorAnswer = z
  .object({ error: z.object({ code: z.enum(ERROR_CODES), message: z.string() }) })
  .meta({ id: 'Error' });

/** Queries and bodies of requests. */
export const HistoryQuery = z.strictObject({ range: HistoryAnswer.shape.range.default('1h') });
export const LogQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'a line number')
    .default('0')
    .meta({ description: 'lines with a higher number' }),
});
/** A device's name, like `gpu0`. Without it, the request is for all devices. */
export const ControlBody = z.strictObject({ device: z.string().min(1).max(32).optional() }).meta({ id: 'ControlBody' });
