/** The JSON of a sweep's state, as the file holds it. It has signed commands, but no secret key. */

import { z } from 'zod';
import { type Command, verifyCommand } from '../ledger/command/command.ts';
import { parsePayload, publicMetaOf } from '../ledger/command/payload.ts';
import { type Decimal, formatDecimal, parseDecimal } from '../ledger/decimal.ts';
import { LedgerFormatError, quoted } from '../ledger/errors.ts';
import { type Outcome, type Sweep, staysOnChain, type Transfer } from './state.ts';

/** Another number means another shape. */
const FORMAT = 1;

const chain = z.number().int().min(0);
const count = z.number().int().min(0);
const decimal = z.string().transform((text, { issues }): Decimal => {
  try {
    return parseDecimal(text);
  } catch {
    issues.push({ code: 'custom', input: text, message: 'must be a decimal such as 91.0' });
    return z.NEVER;
  }
});

const Signed = z
  .object({ cmd: z.string(), hash: z.string(), sigs: z.array(z.object({ sig: z.string() })) })
  .refine(
    (command: Command) => verifyCommand(command).kind === 'valid',
    'was changed: its hash or signatures are wrong',
  );

const OutcomeJson = z.discriminatedUnion('state', [
  z.object({ state: z.literal('done'), by: z.enum(['us', 'somebody else']), gasCost: decimal }),
  // Earlier versions did not write what it has cost.
  z.object({ state: z.literal('failed'), reason: z.string(), gasCost: decimal.default(0n) }),
]);

const TransferJson = z
  .object({
    chain,
    amount: decimal,
    gasLimit: count,
    step0: Signed.nullable(),
    leftAt: count.nullable(),
    proof: z.string().nullable(),
    step1: Signed.nullable(),
    // Earlier versions did not write them.
    earlierStep1: z.array(z.object({ requestKey: z.string(), gasPrice: decimal })).default([]),
    outcome: OutcomeJson.nullable(),
  })
  .refine(({ chain, step0 }) => step0 === null || chainOf(step0) === chain, {
    path: ['step0'],
    message: 'is for another chain',
  });

const KeysetJson = z.object({ keys: z.array(z.string()), pred: z.string() });

const SweepJson = z
  .object({
    format: z.literal(FORMAT),
    network: z.string(),
    account: z.string(),
    guard: KeysetJson,
    // Earlier versions did not write it.
    receiver: z.object({ account: z.string(), guard: KeysetJson.nullable() }).nullable().default(null),
    targetChain: chain,
    gasPrice: decimal,
    gasStation: z.string().nullable(),
    startedMs: count,
    transfers: z.array(TransferJson).refine(isEachChainOnce, 'has a chain twice'),
  })
  .refine((sweep) => sweep.receiver?.guard !== null || staysOnChain(sweep), {
    path: ['receiver', 'guard'],
    message: 'is needed for another chain',
  });

/** @throws LedgerFormatError that names the field that is wrong. */
export function parseSweep(text: string): Sweep {
  const { success, data, error } = SweepJson.safeParse(jsonOf(text));
  if (success) {
    const { format, ...sweep } = data;
    return sweep;
  }
  const [{ path, message }] = error.issues;
  throw new LedgerFormatError(`${path.join('.') || 'the file'}: ${message}`);
}

/** @returns JSON with a newline at its end */
export function sweepToJson({ transfers, gasPrice, ...sweep }: Sweep): string {
  const json = {
    format: FORMAT,
    ...sweep,
    gasPrice: formatDecimal(gasPrice),
    transfers: transfers.map(transferToJson),
  };
  return `${JSON.stringify(json, undefined, 1)}\n`;
}

function chainOf({ cmd }: Command): number {
  return Number(publicMetaOf(parsePayload(cmd).meta).chainId);
}

function isEachChainOnce(transfers: readonly { readonly chain: number }[]): boolean {
  return new Set(transfers.map(({ chain }) => chain)).size === transfers.length;
}

function transferToJson(transfer: Transfer) {
  const { amount, outcome } = transfer;
  const earlierStep1 = transfer.earlierStep1.map((it) => ({ ...it, gasPrice: formatDecimal(it.gasPrice) }));
  return { ...transfer, amount: formatDecimal(amount), earlierStep1, outcome: outcome && outcomeToJson(outcome) };
}

function outcomeToJson(outcome: Outcome) {
  return { ...outcome, gasCost: formatDecimal(outcome.gasCost) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new LedgerFormatError(`it is not JSON: it begins with ${quoted(text.slice(0, 20))}`);
  }
}
