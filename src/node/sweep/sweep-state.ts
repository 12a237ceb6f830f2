/**
 * The state of a sweep, also as the JSON of its file. A payment is a sweep with one transfer, to another account or
 * within one chain.
 */

import { z } from 'zod';
import type { Keyset } from '../../protocol/ledger/command/coin.ts';
import { type Command, verifyCommand } from '../../protocol/ledger/command/command.ts';
import { parsePayload, publicMetaOf } from '../../protocol/ledger/command/command-payload.ts';
import { type Decimal, formatDecimal, parseDecimal } from '../../protocol/ledger/decimal.ts';
import { LedgerFormatError, quoted } from '../../protocol/ledger/json.ts';

export interface Sweep {
  readonly network: string;
  readonly account: string;
  /** The same on all chains where the account signs. */
  readonly guard: Keyset;
  /** The account that gets the coins; null: the same account. */
  readonly receiver: Receiver | null;
  readonly targetChain: number;
  /** In coins per unit of gas, for commands that are still to be made. */
  readonly gasPrice: Decimal;
  /** The account on the target chain that pays for step 1; null: the account itself. */
  readonly gasStation: string | null;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  /** One for each chain with coins to move. */
  readonly transfers: readonly Transfer[];
}

export interface Receiver {
  readonly account: string;
  /** The transfer fails if the account has another guard. Null, only within one chain: the account must exist. */
  readonly guard: Keyset | null;
}

/**
 * The transfer of one chain's coins. Within one chain there is only step 0. Otherwise step 0 takes the coins from their
 * chain, and step 1 brings them to the target chain; in between, they are on no chain.
 */
export interface Transfer {
  readonly chain: number;
  readonly amount: Decimal;
  /** The gas limit of step 0. */
  readonly gasLimit: number;
  /** Written to disk before it is first sent, so a node may have it. Null: it was never sent. */
  readonly step0: Command | null;
  /** The height of the block with step 0, as last seen; null: never seen. */
  readonly leftAt: number | null;
  /** The proof for step 1 that step 0 was in a block. A reorganisation can invalidate it. */
  readonly proof: string | null;
  /** The newest step 1, written to disk before it is first sent. The ledger accepts only one of several. */
  readonly step1: Command | null;
  /** The replaced steps 1, oldest first: a block may still contain one of them. */
  readonly earlierStep1: readonly EarlierStep1[];
  /** When step 0 was signed, by this machine's clock: milliseconds since 1970. Null in files of earlier versions. */
  readonly signedMs: number | null;
  /** Null while the transfer is unfinished. */
  readonly outcome: Outcome | null;
}

interface EarlierStep1 {
  readonly requestKey: string;
  /** In coins per unit of gas. */
  readonly gasPrice: Decimal;
}

/**
 * `work`: blocks that took as much work as the network's blocks. `nodes`, `node`: the claim of several nodes, or of
 * one.
 */
type ProvenBy = 'work' | 'nodes' | 'node';

export type Outcome =
  /** The coins are on the target chain, in a block with enough blocks above it. */
  (
    | {
        readonly state: 'done';
        /** The sender of the step 1 that succeeded: there are services that finish other people's transfers. */
        readonly by: 'us' | 'somebody else';
        /** What the account is known to have paid for gas, in coins. */
        readonly gasCost: Decimal;
      }
    /** No coins have left their chain, apart from gas. */
    | { readonly state: 'failed'; readonly reason: string; readonly gasCost: Decimal }
  ) & {
    /** Null in files of earlier versions, which lack it. */
    readonly provenBy: ProvenBy | null;
  };

type TransferState = 'pending' | Outcome['state'];

export function plannedTransfer(chain: number, amount: Decimal, gasLimit: number): Transfer {
  const nothing = { step0: null, leftAt: null, proof: null, step1: null, earlierStep1: [] } as const;
  return { chain, amount, gasLimit, ...nothing, signedMs: null, outcome: null };
}

export function stateOf({ outcome }: Transfer): TransferState {
  return outcome?.state ?? 'pending';
}

/** Whether the coins stay on their chain, so that there is no step 1. */
export function staysOnChain({ transfers, targetChain }: Pick<Sweep, 'transfers' | 'targetChain'>): boolean {
  return transfers.every(({ chain }) => chain === targetChain);
}

export function isUnfinished({ transfers }: Sweep): boolean {
  return transfers.some(({ outcome }) => outcome === null);
}

/** Whether a command was signed, so that a node may have it. Otherwise no coins can have moved. */
export function isSigned({ transfers }: Sweep): boolean {
  return transfers.some(({ step0 }) => step0 !== null);
}

/* The JSON of the state file. It contains signed commands, but no secret key. */

/** The version of the file's shape. */
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

// Absent in files of earlier versions.
const provenBy = z.enum(['work', 'nodes', 'node']).nullable().default(null);

const OutcomeJson = z.discriminatedUnion('state', [
  z.object({ state: z.literal('done'), by: z.enum(['us', 'somebody else']), gasCost: decimal, provenBy }),
  // Absent in files of earlier versions.
  z.object({ state: z.literal('failed'), reason: z.string(), gasCost: decimal.default(0n), provenBy }),
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
    // Absent in files of earlier versions.
    earlierStep1: z.array(z.object({ requestKey: z.string(), gasPrice: decimal })).default([]),
    // Absent in files of earlier versions.
    signedMs: count.nullable().default(null),
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
    // Absent in files of earlier versions.
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

/** @throws LedgerFormatError that names the wrong field */
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
