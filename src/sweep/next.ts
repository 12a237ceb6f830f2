/** Decides what a transfer needs next, from what the chains say about its two steps. Pure. */

import type { Decimal } from '../ledger/decimal.ts';
import { gasPriceOf, proofIn } from './commands.ts';
import { type Outcome, type Sweep, staysOnChain, type Transfer } from './state.ts';

/** What a chain says about a command. */
export type Found =
  /** `isOver`: no block can have it any more. */
  | { readonly status: 'none'; readonly isOver: boolean }
  | ({ readonly status: 'success' } & InBlock)
  | ({ readonly status: 'failure'; readonly reason: string } & InBlock);

interface InBlock {
  /** Of the block that has it. */
  readonly height: number;
  /** How many blocks are above that one. */
  readonly depth: number;
  /** What was paid for its gas, by whoever pays. */
  readonly gasCost: Decimal;
}

/** What the chains say about a transfer whose step 0 may have been sent. */
export interface Seen {
  readonly step0: Found;
  /** Null when there is no step 1. */
  readonly step1: Found | null;
  /**
   * What was paid for the gas of earlier steps 1, in whose place the newest was made. It counts once the transfer is
   * done.
   */
  readonly earlierGasCost: Decimal;
}

export type Step =
  | { readonly do: 'send step 0' }
  /** No block can take step 0 any more, and the node knows no result of it. */
  | { readonly do: 'search' }
  /** The coins are between the chains: bring them to the target chain. */
  | { readonly do: 'bring' }
  | { readonly do: 'wait'; readonly why: string }
  /** When only the node says so, the blocks are asked first. */
  | { readonly do: 'finish'; readonly outcome: Outcome };

/**
 * @param confirmations how many blocks must be above one that decides
 */
export function next(seen: Seen, sweep: Sweep, confirmations: number): Step {
  const { step0, step1 } = seen;
  if (step1?.status === 'success') {
    if (step1.depth >= confirmations) return doneBy('us', seen, sweep);
    return wait(`has arrived; waits for ${confirmations - step1.depth} more blocks`);
  }
  if (step0.status === 'success') {
    if (!staysOnChain(sweep)) return { do: 'bring' };
    if (step0.depth >= confirmations) return doneBy('us', seen, sweep);
    return wait(
      `the transfer is in the block of height ${step0.height}; waits for ${confirmations - step0.depth} more blocks`,
    );
  }
  if (step0.status === 'failure') {
    if (step0.depth >= confirmations) return failed(step0.reason, step0.gasCost);
    const left = confirmations - step0.depth;
    return wait(`${nameOfStep0(sweep)} has failed; waits for ${left} more blocks: ${step0.reason}`);
  }
  return step0.isOver ? { do: 'search' } : { do: 'send step 0' };
}

/** @returns what step 0 is called in notes: within one chain, there is no other step */
export function nameOfStep0(sweep: Sweep): string {
  return staysOnChain(sweep) ? 'the transfer' : 'step 0';
}

/**
 * Nodes forget results, and must not make us believe that the coins are still there. So the blocks decide.
 * @param height of the block that has step 0; undefined when none has it
 */
export function afterSearch(height: number | undefined, sweep: Sweep): Step {
  if (height === undefined) return failed('no block has it, and its time to live has ended', 0n);
  return wait(
    `${nameOfStep0(sweep)} is in the block of height ${height}, but the node does not know its result: ask another node`,
  );
}

export function doneBy(by: 'us' | 'somebody else', seen: Seen, sweep: Sweep): Step {
  return { do: 'finish', outcome: { state: 'done', by, gasCost: gasCostOf(seen, sweep) } };
}

/** Whether the newest step 1 may still bring the coins, with this proof, and pays no less than another one would. */
export function isStep1Alive({ step1 }: Transfer, seen: Seen, proof: string, { gasPrice }: Sweep): boolean {
  if (step1 === null || seen.step1?.status !== 'none' || seen.step1.isOver) return false;
  return proofIn(step1) === proof && gasPriceOf(step1) >= gasPrice;
}

function gasCostOf({ step0, step1, earlierGasCost }: Seen, { gasStation }: Sweep): Decimal {
  return costOf(step0) + (gasStation === null ? costOf(step1) + earlierGasCost : 0n);
}

function costOf(found: Found | null): Decimal {
  return found === null || found.status === 'none' ? 0n : found.gasCost;
}

function wait(why: string): Step {
  return { do: 'wait', why };
}

function failed(reason: string, gasCost: Decimal): Step {
  return { do: 'finish', outcome: { state: 'failed', reason, gasCost } };
}
