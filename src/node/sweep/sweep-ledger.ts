/** The requests of a sweep to a node. */

import type { AccountDetails } from '../../protocol/ledger/command/coin.ts';
import type { Command } from '../../protocol/ledger/command/command.ts';
import type { CommandResult, Outcome } from '../../protocol/ledger/command/results.ts';

export interface AccountLook {
  /** Undefined if the account does not exist. */
  readonly details: AccountDetails | undefined;
  readonly height: number;
  /** The creation time of the newest block: whole seconds since 1970, rounded down. */
  readonly timeS: number;
}

export interface Trial {
  readonly outcome: Outcome;
  /** In units of gas. */
  readonly gas: number;
}

/** `refused`: no request of this call was accepted. The reason is foreign text. */
export type Sent = { readonly kind: 'taken' } | { readonly kind: 'refused'; readonly reason: string };

/** `wait`: a proof will follow. The reason is foreign text. */
export type Proof =
  | { readonly kind: 'proof'; readonly proof: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly wait: boolean };

export interface SearchQuery {
  /** `step 1`: any command that has finished the transfer, regardless of its sender. */
  readonly what: 'command' | 'step 1';
  /** The command's request key, or that of the transfer's step 0. */
  readonly key: string;
  /** Creation time of that command, in seconds since 1970. Much older blocks cannot contain it. */
  readonly madeS: number;
}

/** The blocks to search: all that could contain the command, or one. */
export interface SearchRange {
  readonly height?: number;
  /**
   * Seconds since 1970. Blocks that build on a block of this time or later cannot contain the command. The chain must
   * have reached this time. Default: no limit.
   */
  readonly untilS?: number;
}

export interface InBlock {
  readonly height: number;
  /** Number of blocks above the command's block. */
  readonly depth: number;
  readonly result: CommandResult;
}

export interface Evidence {
  /**
   * `enough`: the blocks took at least the known work of the network. `too little`: they took less, or the work of the
   * network is not known. `none`: blocks of this network take no work.
   */
  readonly work: 'enough' | 'too little' | 'none';
  /** Number of nodes that have the block. */
  readonly nodes: 1 | 2;
  /** Why the work proves nothing, as a clause; empty if it is enough. */
  readonly why: string;
}

export interface Searched {
  /** Undefined if no block in the range contains the command. */
  readonly found: InBlock | undefined;
  readonly evidence: Evidence;
}

/** Every method throws a SweepFault if the node does not answer properly, which may be temporary. */
export interface SweepLedger {
  readonly network: string;
  /** @returns all chains, in ascending order */
  chains(stop: AbortSignal): Promise<readonly number[]>;
  look(chain: number, account: string, stop: AbortSignal): Promise<AccountLook>;
  /** Asks another node. @returns undefined if no other node is configured, or none answers */
  lookElsewhere(chain: number, account: string, stop: AbortSignal): Promise<AccountLook | undefined>;
  /** Runs a command without effect. @param command without signatures, so that nobody can send it */
  tryOut(chain: number, command: Command, stop: AbortSignal): Promise<Trial>;
  /** Sending a command that a block already contains is a success. */
  send(chain: number, command: Command, stop: AbortSignal): Promise<Sent>;
  /** The node's unproven claim. @returns undefined if no block contains the command yet, or the node has dropped it */
  result(chain: number, requestKey: string, stop: AbortSignal): Promise<CommandResult | undefined>;
  /**
   * Searches the blocks themselves. Each block is proven by the block above it, up to the chain's newest. If another
   * node answers, it must have the same block; a node that has not reached the block's height yet is waited for. The
   * returned depth is the lower one of both nodes. A search for a step 1 does not read all blocks, so finding none
   * proves nothing.
   */
  search(chain: number, query: SearchQuery, range: SearchRange, stop: AbortSignal): Promise<Searched>;
  /** @param chain where the command ran */
  proof(chain: number, requestKey: string, targetChain: number, stop: AbortSignal): Promise<Proof>;
  /**
   * Whether the chain's newest block builds on the block. @param hash 32 bytes @param from at most the block's height
   */
  hasBlock(chain: number, hash: Uint8Array, from: number, stop: AbortSignal): Promise<boolean>;
}

/** The node does not answer properly, and may be asked again later. The message is safe to show. */
export class SweepFault extends Error {
  override readonly name = 'SweepFault';
}
