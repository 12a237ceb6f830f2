/** The interface through which a sweep asks nodes, and the shapes of the answers. */

import type { AccountDetails } from '../../protocol/ledger/command/coin.ts';
import type { Command } from '../../protocol/ledger/command/command.ts';
import type { CommandResult, Outcome } from '../../protocol/ledger/command/results.ts';

/** What a node reports about an account on one chain. */
export interface AccountLook {
  /** The account's balance and guard; undefined if the account does not exist. */
  readonly details: AccountDetails | undefined;
  /** The height of the chain's newest block. */
  readonly height: number;
  /** The creation time of the newest block, in seconds since 1970, rounded down. */
  readonly timeS: number;
}

/** The result of a command that a node has run without changing the ledger. */
export interface Trial {
  readonly outcome: Outcome;
  /** The gas that the command has used, in units of gas. */
  readonly gas: number;
}

/**
 * `taken`: the node has the command, or a block contains it already. `refused`: the node has not accepted the command
 * in this call. The reason is the node's text.
 */
export type Sent = { readonly kind: 'taken' } | { readonly kind: 'refused'; readonly reason: string };

/** `wait`: whether the node will probably have the proof later. `reason`: the node's text. */
export type Proof =
  | { readonly kind: 'proof'; readonly proof: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly wait: boolean };

export interface SearchQuery {
  /**
   * `command`: the command with the request key `key`. `step 1`: any command, regardless of its sender, that has
   * carried out step 1 of the transfer.
   */
  readonly what: 'command' | 'step 1';
  /** The request key of the command; for `step 1`, the request key of the transfer's step 0. */
  readonly key: string;
  /**
   * Creation time of the command with that request key, in seconds since 1970. Blocks that are much older are not
   * searched.
   */
  readonly madeS: number;
}

/** The blocks to search: only the block at `height` or, without `height`, all blocks that could contain the command. */
export interface SearchRange {
  readonly height?: number;
  /**
   * End of the time to search, in seconds since 1970: a block whose parent was created at this time or later cannot
   * contain the command. The search fails if the chain has no block of this time or later yet. Default: no end.
   */
  readonly untilS?: number;
  /**
   * End of the command's time to live, in seconds since 1970. If no block contains the command, only the work of blocks
   * whose parents were created at this time or later is evidence. Default: `untilS`.
   */
  readonly expiresS?: number;
}

/** A command's result in a block of its chain. */
export interface InBlock {
  readonly height: number;
  /** Number of blocks above the command's block. */
  readonly depth: number;
  readonly result: CommandResult;
}

/** How well the answer of a search is proven. */
export interface Evidence {
  /**
   * `enough`: the blocks contain at least as much work as the network's blocks are known to need. `too little`: the
   * blocks contain less, or it is not known how much they need. `none`: blocks of this network need no proof of work.
   */
  readonly work: 'enough' | 'too little' | 'none';
  /** Number of nodes that have the block that proves the answer (see `search`). 2 stands for two or more. */
  readonly nodes: 1 | 2;
  /** Why the work proves nothing, as a clause; empty if `work` is `enough`. */
  readonly why: string;
}

/** The answer of a search. */
export interface Searched {
  /** The command's result; undefined if no block that was searched contains the command. */
  readonly found: InBlock | undefined;
  readonly evidence: Evidence;
}

/** Each method throws a SweepFault if the node gives no usable answer. The next call may succeed. */
export interface SweepLedger {
  readonly network: string;
  /** @returns all chains, in ascending order */
  chains(stop: AbortSignal): Promise<readonly number[]>;
  /** Reads an account. */
  look(chain: number, account: string, stop: AbortSignal): Promise<AccountLook>;
  /** Like `look`, but asks another node. @returns undefined if there is no other node, or if no other node answers */
  lookElsewhere(chain: number, account: string, stop: AbortSignal): Promise<AccountLook | undefined>;
  /**
   * Makes the node run a command without changing the ledger.
   * @param command a command without signatures, so that nobody can send it
   */
  tryOut(chain: number, command: Command, stop: AbortSignal): Promise<Trial>;
  /** Sends a command. If a block contains the command already, the answer is `taken`. */
  send(chain: number, command: Command, stop: AbortSignal): Promise<Sent>;
  /**
   * Reads the command's result as the node claims it, without a proof.
   * @returns undefined if the node has no result: no block contains the command yet, or the node has deleted the result
   */
  result(chain: number, requestKey: string, stop: AbortSignal): Promise<CommandResult | undefined>;
  /**
   * Searches the blocks themselves. Each block is proven by the hash that the next block contains, up to the chain's
   * newest block. Other nodes are asked for the block that contains the command or, if no block does, for the highest
   * block that was searched. The search fails if another node has a different block at the same height. It also fails
   * if other nodes answer, but none of them has reached this height. The returned depth is the lowest depth on any
   * node. A search for a step 1 can leave blocks out. So if it finds no step 1, there may still be one.
   */
  search(chain: number, query: SearchQuery, range: SearchRange, stop: AbortSignal): Promise<Searched>;
  /** Requests a proof of a command's result, to be used on the target chain. @param chain where the command ran */
  proof(chain: number, requestKey: string, targetChain: number, stop: AbortSignal): Promise<Proof>;
  /**
   * Whether the chain contains a block at one of the heights from `from` to `from` + 8. The cross-chain proof of a
   * command leads to a block at most 8 heights above the command's block.
   * @param hash the block's hash, 32 bytes
   * @param from the lowest height that the block can have
   */
  hasBlock(chain: number, hash: Uint8Array, from: number, stop: AbortSignal): Promise<boolean>;
}

/** A node has given no usable answer, but a later request may succeed. The message is safe to print. */
export class SweepFault extends Error {
  override readonly name = 'SweepFault';
}
