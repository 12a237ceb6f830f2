/**
 * The state of a sweep, in memory and as the JSON of its state file. A payment is kept as a sweep with one transfer,
 * which may go to another account or stay within one chain.
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
  /** The account's guard. It is the same on all chains where the account signs. */
  readonly guard: Keyset;
  /** The account that gets the coins; null: `account` itself. */
  readonly receiver: Receiver | null;
  readonly targetChain: number;
  /** The gas price of commands that are still to be made, in coins per unit of gas. */
  readonly gasPrice: Decimal;
  /** The account on the target chain that pays for step 1; null: `account` itself. */
  readonly gasStation: string | null;
  /** The start of the sweep, in milliseconds since 1970. */
  readonly startedMs: number;
  /** One transfer for each chain whose coins are moved. */
  readonly transfers: readonly Transfer[];
}

export interface Receiver {
  readonly account: string;
  /**
   * The guard that the account must have, or else the transfer fails. Null: the account may have any guard, but must
   * exist. Between two chains, the guard must not be null.
   */
  readonly guard: Keyset | null;
}

/**
 * The transfer of one chain's coins. Within one chain, a transfer has only step 0. Between two chains, step 0 takes the
 * coins from their chain, and step 1 brings them to the target chain. In between, the coins are on no chain.
 */
export interface Transfer {
  readonly chain: number;
  /** The amount that is moved, in coins. */
  readonly amount: Decimal;
  /** The gas limit of step 0, in units of gas. */
  readonly gasLimit: number;
  /** Step 0, which is written to disk before it is sent for the first time. Null: no node can have it yet. */
  readonly step0: Command | null;
  /** The height of the block that contains step 0, as a node has last reported it; null if none has reported it. */
  readonly leftAt: number | null;
  /** The cross-chain proof that step 1 needs; null if no proof is known. A reorganisation can invalidate the proof. */
  readonly proof: string | null;
  /** The newest step 1, which is written to disk before it is sent for the first time; null if none was made. */
  readonly step1: Command | null;
  /**
   * The commands for step 1 that were made before `step1`, the oldest first. The ledger may accept one of these
   * commands instead of `step1`.
   */
  readonly earlierStep1: readonly EarlierStep1[];
  /**
   * The time at which step 0 was signed, by this machine's clock, in milliseconds since 1970. Null while step 0 is
   * unsigned, and if an earlier version of pickaxe has signed step 0.
   */
  readonly signedMs: number | null;
  /** The outcome of the transfer; null while the transfer is unfinished. */
  readonly outcome: Outcome | null;
}

interface EarlierStep1 {
  readonly requestKey: string;
  /** The gas price of the command, in coins per unit of gas. */
  readonly gasPrice: Decimal;
}

/**
 * How an outcome is proven. `work`: by blocks that contain as much work as the network's blocks are known to need.
 * `nodes`: by the word of several nodes. `node`: by the word of one node.
 */
type ProvenBy = 'work' | 'nodes' | 'node';

export type Outcome =
  /** The coins are on the target chain, in a block with enough blocks above it. */
  (
    | {
        readonly state: 'done';
        /** The sender of the last step. `somebody else` is possible, as services send step 1 for other people. */
        readonly by: 'us' | 'somebody else';
        /** The amount that the account is known to have paid for gas, in coins. */
        readonly gasCost: Decimal;
      }
    /** The coins are still on their chain, except for the cost of gas. */
    | { readonly state: 'failed'; readonly reason: string; readonly gasCost: Decimal }
  ) & {
    /** Null if an earlier version of pickaxe has recorded the outcome. */
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

/** Whether all coins stay on their chain, so that no step 1 is needed. */
export function staysOnChain({ transfers, targetChain }: Pick<Sweep, 'transfers' | 'targetChain'>): boolean {
  return transfers.every(({ chain }) => chain === targetChain);
}

export function isUnfinished({ transfers }: Sweep): boolean {
  return transfers.some(({ outcome }) => outcome === null);
}

/** Whether step 0 of at least one transfer was signed. As long as none was signed, no coins can have moved. */
export function isSigned({ transfers }: Sweep): boolean {
  return transfers.some(({ step0 }) => step0 !== null);
}

/* The JSON of the state file. It contains signed commands, but no secret key. */

/** The version of the state file's format. */
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

// State files of earlier versions lack `provenBy`.
const provenBy = z.enum(['work', 'nodes', 'node']).nullable().default(null);

const OutcomeJson = z.discriminatedUnion('state', [
  z.object({ state: z.literal('done'), by: z.enum(['us', 'somebody else']), gasCost: decimal, provenBy }),
  // State files of earlier versions lack the gas cost of failed transfers.
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
    // State files of earlier versions lack `earlierStep1`.
    earlierStep1: z.array(z.object({ requestKey: z.string(), gasPrice: decimal })).default([]),
    // State files of earlier versions lack `signedMs`.
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
    // State files of earlier versions lack `receiver`.
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

/** @throws LedgerFormatError that names the first wrong field, or states that the text is not JSON */
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
