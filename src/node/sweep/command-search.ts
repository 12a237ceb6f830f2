/**
 * Reads on the chains what has become of a transfer's commands: a node's results decide the next step, and the blocks
 * themselves prove how a transfer ended.
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
 * Time after the end of a step 0 at which it counts as never accepted, by the clocks of the chain and of this machine,
 * in seconds: twenty blocks, more than any reorganisation brings back.
 */
export const MARGIN_S = 600;
/**
 * How far the chain's time, as claimed by a node, and this machine's may be apart, in ms. A command from the far future
 * would enter no block, and never expire; and when one of two clocks is wrong, nothing is over.
 */
export const MOST_APART_MS = 3_600_000;
/**
 * Maximum number of searches of all blocks for another sender's step 1. Between two, the chain must grow by the
 * required confirmations, because one address may stand for several nodes, some of which lag behind.
 */
const MOST_SEARCHES = 3;

/** What decides, apart from the command itself, when it has expired. */
interface Life {
  /** Seconds after the end of its time to live for which a block with the command may still appear. */
  readonly marginS: number;
  /** Time of the signing, by this machine's clock; null if unknown. */
  readonly signedMs: number | null;
}

interface Proven {
  readonly proven: Seen;
  readonly evidence: Evidence;
}

export class CommandSearch {
  /** The sweep at the beginning of the run. Its transfers are not read, since they change. */
  readonly #sweep: Sweep;
  readonly #ledger: SweepLedger;
  readonly #confirmations: number;
  readonly #nowMs: () => number;
  /** Heights of blocks with step 0, by the chain of step 0. */
  readonly #foundAt = new Map<number, number>();
  /** Searches for another sender's step 1, by the chain of step 0. `height`: of the target chain at the last search. */
  readonly #searches = new Map<number, { readonly made: number; readonly height: number }>();
  /** Heights of blocks with step 1, by the chain of step 0. */
  readonly #arrivedAt = new Map<number, number>();

  constructor(sweep: Sweep, ledger: SweepLedger, confirmations: number, nowMs: () => number) {
    this.#sweep = sweep;
    this.#ledger = ledger;
    this.#confirmations = confirmations;
    this.#nowMs = nowMs;
  }

  /** Asks the node for the results of both steps. @throws SweepFault */
  async see(transfer: Transfer, step0: Command, stop: AbortSignal): Promise<Seen> {
    const { targetChain } = this.#sweep;
    return {
      step0: await this.#find(transfer.chain, step0, { marginS: MARGIN_S, signedMs: transfer.signedMs }, stop),
      step1: transfer.step1 && (await this.#find(targetChain, transfer.step1, { marginS: 0, signedMs: null }, stop)),
      earlierGasCost: 0n,
    };
  }

  /** The newest block is fetched before the result, so that the depth and the expiry are not overstated. */
  async #find(chain: number, command: Command, life: Life, stop: AbortSignal): Promise<CommandState> {
    const { height: newest, timeS } = await this.#ledger.look(chain, this.#sweep.account, stop);
    const found = await this.#ledger.result(chain, command.hash, stop);
    const height = found && heightOf(found);
    if (!found || height === undefined) return { status: 'none', ...this.#expiry(command, timeS, life) };
    return foundIn({ height, depth: Math.max(0, newest - height), result: found }, command);
  }

  /**
   * A node may give a false time, and this machine's clock may be wrong, so a command is over only if both agree. By
   * this machine's clock its full life must also have passed since the signing, in case the clock is ahead.
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
   * Reads the deciding result in its block, since no node's claim ends a transfer.
   * @throws SweepFault if the block does not have the claimed result
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

  /** @returns the height of the block that contains an expired step 0; undefined if there is none */
  async findStep0(
    { chain }: Transfer,
    step0: Command,
    stop: AbortSignal,
  ): Promise<{ readonly height: number | undefined; readonly evidence?: Evidence }> {
    const height = this.#foundAt.get(chain);
    if (height !== undefined) return { height };
    const { madeS, endS } = lifeOf(step0);
    const query = { what: 'command', key: step0.hash, madeS } as const;
    const { found, evidence } = await this.#ledger.search(chain, query, { untilS: endS + MARGIN_S }, stop);
    if (found) this.#foundAt.set(chain, found.height);
    return { height: found?.height, evidence };
  }

  /**
   * Searches the target chain for the step 1 of any sender.
   * @param newest the height of the target chain
   * @returns undefined if the chain has not grown enough since the last search, or too many were made
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
    // The absolute difference, so that a node that lies about its height cannot prevent the next search.
    const grownBy = last ? Math.abs(newest - last.height) : this.#confirmations;
    if (grownBy < this.#confirmations || (last?.made ?? 0) >= MOST_SEARCHES) return undefined;
    const searched = await search({});
    this.#searches.set(chain, { made: (last?.made ?? 0) + 1, height: newest });
    if (searched.found) this.#arrivedAt.set(chain, searched.found.height);
    return searched;
  }

  /** @param proven a step 1 that was found in its block @returns the gas cost of steps 1 that newer ones replaced */
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

/** @returns undefined if no block contains the command: nodes also report commands dropped from their queue (failed) */
function heightOf({ metaData }: CommandResult): number | undefined {
  const height = metaData?.blockHeight;
  return height === undefined || height < 0 ? undefined : height;
}

export function foundIn({ height, depth, result: { result, gas } }: InBlock, command: Command): CommandState {
  const inBlock = { height, depth, gasCost: BigInt(gas) * gasPriceOf(command) };
  if (result.status === 'success') return { status: 'success', ...inBlock };
  return { status: 'failure', reason: result.error.message, ...inBlock };
}
