/** What the commands of `pickaxe tx` that ask nodes print with --json. */

import { z } from 'zod';
import type { CommandResult, Outcome } from '../../ledger/command/results.ts';
import { count, millis } from '../../report/shapes.ts';
import { plainJson } from './plain-json.ts';

const ShownEvent = z.object({ name: z.string(), parameters: z.array(z.unknown()) });

/** What has become of one command, as `local`, `send`, `poll` and `listen` print it. */
export const ShownResult = z.object({
  requestKey: z.string().nullable().meta({ description: 'null: the server does not tell it' }),
  status: z.enum(['success', 'failure', 'pending', 'expired']).meta({
    description:
      'pending: no result yet, or not deep enough; expired: no result, and the time to live is over, so there will be none',
  }),
  data: z.unknown().meta({ description: 'what the code has returned; null without success' }),
  error: z.string().nullable(),
  gas: count.nullable(),
  block: z
    .object({ hash: z.string().nullable(), height: count.nullable(), timeMillis: millis.nullable() })
    .nullable()
    .meta({ description: 'the block that the command is in; of a dry run, the block that it would follow' }),
  events: z.array(ShownEvent),
  continuation: z
    .object({ requestKey: z.string(), step: count, stepCount: count, targetChain: z.string().nullable() })
    .nullable()
    .meta({ description: 'where a command of several steps stands; targetChain: where the next step runs' }),
});
export type ShownResult = z.output<typeof ShownResult>;

export const ShownResults = z.object({ chain: count, results: z.array(ShownResult), warnings: z.array(z.string()) });

/** What `pickaxe tx private --json` prints. */
export const SentPrivately = z.object({ requestKey: z.string(), chain: count });
/** What `pickaxe tx spv --json` prints. */
export const FoundProof = z.object({ requestKey: z.string(), chain: count, targetChain: count, proof: z.string() });

/** @param requestKey null for a server that does not name it */
export function showOutcome(requestKey: string | null, outcome: Outcome): ShownResult {
  const isSuccess = outcome.status === 'success';
  return {
    ...without(requestKey, outcome.status),
    data: isSuccess ? plainJson(outcome.data) : null,
    error: isSuccess ? null : outcome.error.message,
  };
}

export function showResult({ reqKey, result, gas, metaData, events, continuation }: CommandResult): ShownResult {
  const { blockHash = null, blockHeight = null, blockTime } = metaData ?? {};
  const timeMillis = blockTime === undefined ? null : Math.floor(blockTime / 1000);
  return {
    ...showOutcome(reqKey, result),
    gas,
    block: metaData && { hash: blockHash, height: blockHeight, timeMillis },
    events: events.map(({ name, module, params }) => ({
      name: [...(module.namespace === null ? [] : [module.namespace]), module.name, name].join('.'),
      parameters: params.map(plainJson),
    })),
    continuation: continuation && {
      requestKey: continuation.pactId,
      step: continuation.step,
      stepCount: continuation.stepCount,
      targetChain: continuation.yield?.provenance?.targetChainId ?? null,
    },
  };
}

/** @returns that there is no result */
export function without(requestKey: string | null, status: ShownResult['status']): ShownResult {
  return { requestKey, status, data: null, error: null, gas: null, block: null, events: [], continuation: null };
}
