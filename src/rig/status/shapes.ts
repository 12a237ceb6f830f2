/**
 * The building blocks of public JSON. If a figure has a unit, its name ends with the unit. Values of enumerations are
 * kebab-case. Descriptions are parts of sentences in Markdown. They appear in the OpenAPI document and in the tables of
 * docs/wrappers.md. test/rig/http/public-json.test.ts checks every kind of document.
 */

import { z } from 'zod';
import { CORE_KINDS, DEVICE_FAULTS, DEVICE_KINDS } from '../../miner/engine/device.ts';
import { DEVICE_STATES, OUTCOMES, type Outcome } from '../../miner/events/vocabulary.ts';
import { BLOCK_STATES } from '../../node/blocks/fate.ts';

export const count = z.int().nonnegative();
export const amount = z.number().nonnegative();
/** A hashrate in H/s. */
export const rate = amount;
export const millis = count.describe('milliseconds since the UNIX epoch');

export const deviceKind = z.enum(DEVICE_KINDS);
const FAILED = '`reopening` after a failure; `parked`: it failed too often, or is missing';
export const deviceState = z.enum(DEVICE_STATES).describe(`\`starting\`; \`ready\`; \`paused\`; ${FAILED}`);
export const newDeviceState = z.enum(DEVICE_STATES).exclude(['starting']).describe(`\`ready\`; \`paused\`; ${FAILED}`);
export const deviceFault = z
  .enum(DEVICE_FAULTS)
  .describe('`missing` or unusable; `lost`: it does not answer; `wrong-hashes`');
export const CoreShape = z
  .object({ kind: z.enum(CORE_KINDS), threads: count.describe('those that hash on them'), kernel: z.string() })
  .describe('one kind of a hybrid CPU’s cores');
/** Nonces are texts, because they have 64 bits, and many readers of JSON keep only 53 bits of a number. */
export const nonce = z
  .string()
  .regex(/^\d{1,20}$/)
  .describe('decimal');

export const outcome = z
  .enum(OUTCOMES)
  .describe(
    '`accepted`: a block may still be orphaned; `rejected`; `stale`: too late; `unknown`: the answer was lost; `delivered` to a parent, which never reports the result',
  );
/** @param meaning the description of each count @returns the shape of one count per outcome */
export function outcomeCounts(meaning: string): Record<Outcome, typeof count> {
  const each = count.describe(meaning);
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, each])) as Record<Outcome, typeof count>;
}

export const acceptedBlock = {
  chain: count,
  height: count,
  blockHash: z.string().describe('43 characters of base64url'),
  device: z.string().describe('or the relay'),
  isRelay: z.boolean(),
};
export const blockState = z.enum(BLOCK_STATES);
/** Amounts of coins are texts, because they can have more digits than many readers of JSON keep of a number. */
export const coins = z
  .string()
  .regex(/^-?\d+\.\d{1,12}$/)
  .describe('an exact decimal number of coins');
/** The reward or the fees of a block, in coins. */
export const provenCoins = coins.describe('exact decimals, once proven');

export const paidTo = z
  .string()
  .describe('the account that it pays in place of yours; `reward` and `fees` are then unknown');
