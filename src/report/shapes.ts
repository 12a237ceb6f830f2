/**
 * The building blocks of public JSON. Names say what a figure is and end with its unit; closed sets have kebab-case
 * values. test/report/public-json.test.ts checks every document.
 */

import { z } from 'zod';
import { CORE_KINDS, DEVICE_KINDS } from '../engine/device.ts';
import { BLOCK_STATES } from '../events/vocabulary.ts';
import { OUTCOMES, type Outcome } from '../source/vocabulary.ts';

export const count = z.int().nonnegative();
export const amount = z.number().nonnegative();
/** In H/s. */
export const rate = amount;
export const millis = count.describe('milliseconds since the UNIX epoch');

export const deviceKind = z.enum(DEVICE_KINDS);
/** The threads and the kernel on one kind of a hybrid CPU's cores. */
export const CoreShape = z.object({ kind: z.enum(CORE_KINDS), threads: count, kernel: z.string() });
/** Nonces have 64 bits, more than a JSON number can hold. */
export const nonce = z
  .string()
  .regex(/^\d{1,20}$/)
  .describe('a decimal number');

export const outcomeCounts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, count])) as Record<
  Outcome,
  typeof count
>;

export const acceptedBlock = {
  chain: count,
  height: count,
  blockHash: z.string().describe('by which the ledger names it: 43 characters of base64url'),
  device: z.string().describe('what found it: a device, or a relay that brought it'),
  isRelay: z.boolean(),
};
export const blockState = z.enum(BLOCK_STATES);
/** Coins have more digits than a JSON number can hold. */
export const coins = z
  .string()
  .regex(/^-?\d+\.\d{1,12}$/)
  .describe('an exact decimal number of coins');

export const paidTo = z.string().describe('the account that the block pays in place of the miner’s: it earns nothing');
