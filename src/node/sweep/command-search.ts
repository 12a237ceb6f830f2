/**
 * Finds out what has become of a transfer's commands. The results that a node claims decide what is done next. Only the
 * blocks themselves prove how a transfer has ended.
 */

import type { Command } from '../../protocol/ledger/command/command.ts';
import type { CommandResult } from '../../protocol/ledger/command/results.ts';
import type { Decimal } from '../../protocol/ledger/decimal.ts';
import { type CommandState, nameOfStep0, type Seen } from './next-step.ts';
import {
  type Evidence,
  type InBlock,
  type Searched,
  type SearchRange,
  SweepFault,
  type SweepLedger,
} from './sweep-ledger.ts';
import type { Sweep, Transfer } from './sweep-state.ts';
import { gasPriceOf, lifeOf } from './transfer-commands.ts';

/**
 * A step 0 counts as expired only this number of seconds after the end of its time to live, by the chain's clock and by
 * this machine's clock. In this time the chain makes twenty blocks, which is more than any reorganisation replaces.
 */
export const MARGIN_S = 600;
/**
 * Maximum difference between the chain's time, as a node claims it, and this machine's time, in ms. If the difference
 * is greater, one of the two clocks is wrong, so no command counts as expired. If the chain's time is the later one, no
 * command is made either: a command from the far future would enter no block, and would not expire for a long time.
 */
export const MOST_APART_MS = 3_600_000;
/**
 * Maximum number of searches for a step 1 of any sender, for each transfer. Several searches are needed, because one
 * address may stand for several nodes, and a search may reach a node that lags behind. Before each further search, the
 * height of the target chain must have changed by at least the number of required confirmations.
 */
const MOST_SEARCHES = 3;

/** What decides when a command has expired, apart from the command's own time to live. */
interface Life {
  /** Time that must have passed since the end of the time to live, in seconds. */
  readonly marginS: number;
  /** Time of the signing by this machine's clock, in milliseconds since 1970; null if unknown. */
  readonly signedMs: number | null;
}

interface Proven {
  readonly proven: Seen;
  readonly evidence: Evidence;
}

export class CommandSearch {
  /**
   * The sweep at the beginning of the run. Of its transfers, only the chains are read, because their other fields
   * change during the run.
   */
  readonly #sweep: Sweep;
  readonly #ledger: SweepLedger;
  readonly #confirmations: number;
  readonly #nowMs: () => number;
  /** Heights of the blocks that contain a step 0, by the chain of step 0. */
  readonly #foundAt = new Map<number, number>();
  /**
   * For each chain of a step 0: the number of searches for a step 1 of any sender, and the height of the target chain
   * at the last search.
   */
  readonly #searches = new Map<number, { readonly made: number; readonly height: number }>();
  /** Heights of the blocks that contain a step 1, by the chain of the transfer's step 0. */
  readonly #arrivedAt = new Map<number, number>();

  constructor(sweep: Sweep, ledger: SweepLedger, confirmations: number, nowMs: () => number) {
    this.#sweep = sweep;
    this.#ledger = ledger;
    this.#confirmations = confirmations;
    this.#nowMs = nowMs;
  }

  /** Reads the results of both steps, as a node claims them. @throws SweepFault */
  async see(transfer: Transfer, step0: Command, stop: AbortSignal): Promise<Seen> {
    const { targetChain } = this.#sweep;
    return {
      step0: await this.#find(transfer.chain, step0, { marginS: MARGIN_S, signedMs: transfer.signedMs }, stop),
      step1: transfer.step1 && (await this.#find(targetChain, transfer.step1, { marginS: 0, signedMs: null }, stop)),
      earlierGasCost: 0n,
    };
  }

  /**
   * First reads the newest block of the chain, and then the result. So the depth cannot be too great, and a command
   * that enters a block in the meantime does not count as expired.
   */
  async #find(chain: number, command: Command, life: Life, stop: AbortSignal): Promise<CommandState> {
    const { height: newest, timeS } = await this.#ledger.look(chain, this.#sweep.account, stop);
    const found = await this.#ledger.result(chain, command.hash, stop);
    const height = found && heightOf(found);
    if (!found || height === undefined) return { status: 'none', ...this.#expiry(command, timeS, life) };
    return foundIn({ height, depth: Math.max(0, newest - height), result: found }, command);
  }

  /**
   * Decides whether a command that is in no block has expired. A node may claim a false time, and this machine's clock
   * may be wrong. So the time to live and the margin must have ended by both clocks, and the clocks must agree within
   * `MOST_APART_MS`. If the time of the signing is known, the time from the signing until now must also be at least the
   * time to live and the margin together. This machine's clock measures this duration correctly even if it is ahead.
   */
  #expiry(command: Command, timeS: number, { marginS, signedMs }: Life): { isOver: boolean; doubt?: string } {
    const { madeS, endS } = lifeOf(command);
    if (timeS < endS + marginS) return { isOver: false };
    const nowS = this.#nowMs() / 1000;
    const ownEndS = Math.max(endS, signedMs === null ? 0 : signedMs / 1000 + (endS - madeS)) + marginS;
    if (nowS < ownEndS) {
      const until = `${new Date(ownEndS * 1000).toISOString().slice(0, 19)}Z`;
      const doubt = `by the node's clock its time to live has ended, and by this machine's it has not: waits until ${until}`;
      return { isOver: false, doubt };
    }
    const apartMs = Math.abs(nowS - timeS) * 1000;
    if (apartMs <= MOST_APART_MS) return { isOver: true };
    const doubt = `the newest block of the node and this machine's clock are ${Math.round(apartMs / 60_000)} minutes apart: set the clock right, or wait until the node has the newest blocks`;
    return { isOver: false, doubt };
  }

  /**
   * Reads the result that ends a transfer. The result is read from the block that has it, because the claim of a node
   * is not enough.
   * @param seen the results as a node claims them
   * @throws SweepFault if the block does not contain the claimed result
   */
  async proven(transfer: Transfer, step0: Command, seen: Seen, stop: AbortSignal): Promise<Proven> {
    const isStep1 = seen.step1?.status === 'success';
    const [chain, command, claimed] = isStep1
      ? [this.#sweep.targetChain, transfer.step1!, seen.step1!]
      : [transfer.chain, step0, seen.step0];
    if (claimed.status === 'none') throw new Error('what is in no block ends nothing');
    const { height } = claimed;
    const query = { what: 'command', key: command.hash, madeS: lifeOf(command).madeS } as const;
    const { found: inBlock, evidence } = await this.#ledger.search(chain, query, { height }, stop);
    const found = inBlock && foundIn(inBlock, command);
    if (found?.status === claimed.status) {
      if (!isStep1) return { proven: { ...seen, step0: found }, evidence };
      const earlierGasCost = await this.earlierGasCost(transfer, undefined, stop);
      return { proven: { ...seen, step1: found, earlierGasCost }, evidence };
    }
    const step = isStep1 ? 'step 1' : nameOfStep0(this.#sweep);
    throw new SweepFault(
      `the node says of ${step}: ${claimed.status}. But the block of height ${height} does not say so: ask another node`,
    );
  }

  /**
   * Searches the blocks for a step 0 that has expired.
   * @returns `height`: the height of the block that contains step 0; undefined if there is none. `evidence`: absent if
   *   an earlier call has found the block
   */
  async findStep0(
    { chain }: Transfer,
    step0: Command,
    stop: AbortSignal,
  ): Promise<{ readonly height: number | undefined; readonly evidence?: Evidence }> {
    const height = this.#foundAt.get(chain);
    if (height !== undefined) return { height };
    const { madeS, endS } = lifeOf(step0);
    const query = { what: 'command', key: step0.hash, madeS } as const;
    const range = { untilS: endS + MARGIN_S, expiresS: endS };
    const { found, evidence } = await this.#ledger.search(chain, query, range, stop);
    if (found) this.#foundAt.set(chain, found.height);
    return { height: found?.height, evidence };
  }

  /**
   * Searches the target chain for the step 1 of any sender. If an earlier search has found its block, only this block
   * is read.
   * @param chain the chain of step 0
   * @param newest the height of the target chain
   * @returns undefined if there was no search, because the height of the target chain has not changed enough since the
   *   last search, or because `MOST_SEARCHES` were made
   */
  async findStep1(chain: number, step0: Command, newest: number, stop: AbortSignal): Promise<Searched | undefined> {
    const query = { what: 'step 1', key: step0.hash, madeS: lifeOf(step0).madeS } as const;
    const search = (range: SearchRange) => this.#ledger.search(this.#sweep.targetChain, query, range, stop);
    const height = this.#arrivedAt.get(chain);
    if (height !== undefined) {
      const searched = await search({ height });
      if (!searched.found) this.#arrivedAt.delete(chain);
      return searched;
    }
    const last = this.#searches.get(chain);
    // A height that is smaller than at the last search also permits a search. Otherwise, a node that once claimed a
    // great height could prevent all further searches.
    const grownBy = last ? Math.abs(newest - last.height) : this.#confirmations;
    if (grownBy < this.#confirmations || (last?.made ?? 0) >= MOST_SEARCHES) return undefined;
    const searched = await search({});
    this.#searches.set(chain, { made: (last?.made ?? 0) + 1, height: newest });
    if (searched.found) this.#arrivedAt.set(chain, searched.found.height);
    return searched;
  }

  /**
   * @param proven a step 1 that was read from its block. Its result is used instead of a node's claim
   * @returns the gas cost, in coins, of all steps 1 that were replaced and are in a block; 0 if a gas station pays
   */
  async earlierGasCost(transfer: Transfer, proven: InBlock | undefined, stop: AbortSignal): Promise<Decimal> {
    const { targetChain, gasStation } = this.#sweep;
    if (gasStation !== null) return 0n;
    let sum = 0n;
    for (const { requestKey, gasPrice } of transfer.earlierStep1) {
      const isProven = proven?.result.reqKey === requestKey;
      const result = isProven ? proven.result : await this.#ledger.result(targetChain, requestKey, stop);
      if (result && (isProven || heightOf(result) !== undefined)) sum += BigInt(result.gas) * gasPrice;
    }
    return sum;
  }
}

/**
 * @returns the height of the block that contains the command; undefined if no block does. For a command that a node has
 *   dropped from its queue, the node reports a failure without a block
 */
function heightOf({ metaData }: CommandResult): number | undefined {
  const height = metaData?.blockHeight;
  return height === undefined || height < 0 ? undefined : height;
}

/** @returns the state of a command whose result is in a block */
export function foundIn({ height, depth, result: { result, gas } }: InBlock, command: Command): CommandState {
  const inBlock = { height, depth, gasCost: BigInt(gas) * gasPriceOf(command) };
  if (result.status === 'success') return { status: 'success', ...inBlock };
  return { status: 'failure', reason: result.error.message, ...inBlock };
}
