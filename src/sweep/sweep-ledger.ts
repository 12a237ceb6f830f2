/** What a sweep asks of a node. */

import type { AccountDetails } from '../ledger/command/coin.ts';
import type { Command } from '../ledger/command/command.ts';
import type { CommandResult, Outcome } from '../ledger/command/results.ts';

/** An account, and the chain's newest block. */
export interface AccountLook {
  /** Undefined when the account does not exist. */
  readonly details: AccountDetails | undefined;
  readonly height: number;
  /** The creation time of the newest block: whole seconds since 1970, rounded down. */
  readonly timeS: number;
}

/** What a command would do. */
export interface Trial {
  readonly outcome: Outcome;
  /** In units of gas. */
  readonly gas: number;
}

/** `refused`: no request of this call was taken. The reason is foreign text. */
export type Sent = { readonly kind: 'taken' } | { readonly kind: 'refused'; readonly reason: string };

/** `refused` with `wait`: there will be a proof. The reason is foreign text. */
export type Proof =
  | { readonly kind: 'proof'; readonly proof: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly wait: boolean };

/** A command to be looked for in blocks. */
export interface Sought {
  /** `step 1`: any command that has finished the transfer, whether pickaxe or somebody else has sent it. */
  readonly what: 'command' | 'step 1';
  /** The command's request key, or that of the transfer's step 0. */
  readonly key: string;
  /** When the command, or that step 0, was made: seconds since 1970. No block that is much older has it. */
  readonly madeS: number;
}

/** The blocks in which a command is looked for: that of one height, or all that could have it. */
export interface Place {
  readonly height?: number;
  /**
   * Seconds since 1970: no block above one that is as new has it, and there must be one. By default, any block can have
   * it.
   */
  readonly untilS?: number;
}

/** A command in a block on which the chain's newest builds. */
export interface InBlock {
  readonly height: number;
  /** Number of blocks above that one. */
  readonly depth: number;
  readonly result: CommandResult;
}

/** Every method throws a SweepFault when the node does not answer, or not as it must, and that may pass. */
export interface SweepLedger {
  /** The network's id. */
  readonly network: string;
  /** @returns all chains, in ascending order */
  chains(stop: AbortSignal): Promise<readonly number[]>;
  look(chain: number, account: string, stop: AbortSignal): Promise<AccountLook>;
  /** What another node says. @returns undefined when no other one is configured, or answers */
  lookElsewhere(chain: number, account: string, stop: AbortSignal): Promise<AccountLook | undefined>;
  /** Runs a command with its gas and without effect. @param command without signatures, so nobody can send it */
  tryOut(chain: number, command: Command, stop: AbortSignal): Promise<Trial>;
  /** Sends a command. That it is in a block already is success. */
  send(chain: number, command: Command, stop: AbortSignal): Promise<Sent>;
  /**
   * What the node says: nothing is proven.
   * @returns undefined while no block has the command, and when the node has forgotten it
   */
  result(chain: number, requestKey: string, stop: AbortSignal): Promise<CommandResult | undefined>;
  /**
   * Looks for a command in the blocks themselves, each of which is proven by the one above it, up to the chain's
   * newest. When several nodes are configured, a second one must have the same block.
   * @returns undefined when no block of the place has the command, or of a step 1 in any place: none of those that were
   *   read
   */
  search(chain: number, sought: Sought, place: Place, stop: AbortSignal): Promise<InBlock | undefined>;
  /** @param chain where the command ran */
  proof(chain: number, requestKey: string, targetChain: number, stop: AbortSignal): Promise<Proof>;
  /**
   * Whether a block, 32 bytes of its hash, is one that the chain's newest builds on.
   * @param from it is not below this height
   */
  hasBlock(chain: number, hash: Uint8Array, from: number, stop: AbortSignal): Promise<boolean>;
}

/** The node does not answer, or not as it must: it may be asked again later. The message is safe to show. */
export class SweepFault extends Error {
  override readonly name = 'SweepFault';
}
