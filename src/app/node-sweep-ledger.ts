/**
 * What a sweep asks of nodes. What it asks in one turn depends on each other, so one node must answer all of it: when that
 * cannot be reached the turn fails, and the next turn asks the next node.
 */

import { equalBytes } from '../chain/bytes.ts';
import { getDetails } from '../ledger/command/coin.ts';
import { detailsOf } from '../ledger/command/coin-results.ts';
import type { Command } from '../ledger/command/command.ts';
import type { Outcome } from '../ledger/command/results.ts';
import type { Head } from '../ledger/cut.ts';
import { parseDecimal } from '../ledger/decimal.ts';
import { LedgerFormatError } from '../ledger/errors.ts';
import { isExactJsonObject, parseExactJsonBytes } from '../ledger/exact-json.ts';
import { COIN } from '../ledger/transfers.ts';
import { ApiError } from '../node/api/api-error.ts';
import type { Block } from '../node/api/blocks.ts';
import { ProofRefusedError, SendRefusedError } from '../node/api/commands.ts';
import type { NodeApi } from '../node/api/node-api.ts';
import { unsigned } from '../sweep/commands.ts';
import {
  type AccountLook,
  type Proof,
  type Sent,
  SweepFault,
  type SweepLedger,
  type Trial,
} from '../sweep/sweep-ledger.ts';
import { oneLine } from '../text/one-line.ts';
import { UsageError } from './exit-codes.ts';
import type { NodesInTurn } from './nodes-in-turn.ts';

/** For reads, nobody pays. */
const READ_META = { sender: '', gasLimit: 10_000, gasPrice: parseDecimal('0.00000001'), ttl: 600, creationTime: 0 };
/** A proof leads to a block this far above that of the command at most: the greatest distance of two chains. */
const MOST_DISTANCE = 8;
/** More blocks than any reorganisation takes back: a command can be so far below the block that was the newest. */
const REORGANISED = 20;
/** How many blocks are searched at once. */
const BLOCKS_AT_ONCE = 50;

export class NodeSweepLedger implements SweepLedger {
  readonly network: string;
  readonly #nodes: Pick<NodesInTurn, 'ask' | 'askOne'>;

  /**
   * @param network the id of the nodes' network
   * @param nodes get each request once, so that what is refused was taken by no earlier attempt
   */
  constructor(network: string, nodes: Pick<NodesInTurn, 'ask' | 'askOne'>) {
    this.network = network;
    this.#nodes = nodes;
  }

  /** A plan begins with this question, so any node may answer it. */
  chains(stop: AbortSignal): Promise<readonly number[]> {
    return orFault(() => this.#nodes.ask(async (api) => [...(await api.cut({}, stop)).heads.keys()]), stop);
  }

  look(chain: number, account: string, stop: AbortSignal): Promise<AccountLook> {
    return this.#ask(async (api) => {
      const payload = getDetails(COIN, account);
      const meta = { ...READ_META, chainId: `${chain}` };
      const read = unsigned({ networkId: this.network, payload, signers: [], meta, nonce: 'pickaxe' });
      const { outcome, result } = await api.local(chain, read, { signatureVerification: false }, stop);
      const details = detailsOf(outcome, account);
      const { blockHeight, blockTime } = result?.metaData ?? {};
      if (blockHeight === undefined || blockTime === undefined) {
        // Real nodes do not say on which block a failed read was, as that of an account that does not exist.
        const head = await headOf(api, chain, stop);
        const { creationTimeUs } = await api.header(chain, head.hash, stop);
        return { details, height: Number(head.height), timeS: Number(creationTimeUs / 1_000_000n) };
      }
      // The node names the height of the block that would follow, and the time of the one that is there.
      return { details, height: blockHeight - 1, timeS: Math.floor(blockTime / 1_000_000) };
    }, stop);
  }

  tryOut(chain: number, command: Command, stop: AbortSignal): Promise<Trial> {
    return this.#ask(async (api) => {
      const options = { preflight: true, signatureVerification: false };
      const { outcome, result } = await api.local(chain, command, options, stop);
      if (!result) throw new SweepFault('The node does not say how much gas a command would need.');
      return { outcome: shown(outcome), gas: result.gas };
    }, stop);
  }

  tryBelow(chain: number, command: Command, depth: number, stop: AbortSignal): Promise<Outcome> {
    return this.#ask(async (api) => {
      const options = { rewindDepth: depth, signatureVerification: false };
      return shown((await api.local(chain, command, options, stop)).outcome);
    }, stop);
  }

  send(chain: number, command: Command, stop: AbortSignal): Promise<Sent> {
    return this.#ask(async (api) => {
      try {
        await api.send(chain, [command], stop);
        return { kind: 'taken' };
      } catch (error) {
        if (!(error instanceof SendRefusedError)) throw error;
        return { kind: 'refused', reason: short(error.refusal.reason) };
      }
    }, stop);
  }

  result(chain: number, requestKey: string, stop: AbortSignal) {
    return this.#ask(async (api) => {
      const found = (await api.poll(chain, [requestKey], {}, stop)).get(requestKey);
      return found && { ...found, result: shown(found.result) };
    }, stop);
  }

  search(chain: number, requestKey: string, madeAt: number, untilS: number, stop: AbortSignal) {
    return this.#ask(async (api) => {
      const head = await headOf(api, chain, stop);
      const last = Number(head.height);
      for (let low = Math.max(0, madeAt - REORGANISED); low <= last; low += BLOCKS_AT_ONCE) {
        const high = Math.min(low + BLOCKS_AT_ONCE - 1, last);
        const blocks = await blocksBelow(api, chain, head, low, high, stop);
        checkHeights(blocks, Math.max(low, madeAt), high);
        const found = blocks.find(({ payload }) => payload.outputs.some((output) => isOutputOf(output, requestKey)));
        if (found) return Number(found.header.height);
        if (blocks.some(({ header }) => header.creationTimeUs >= BigInt(untilS) * 1_000_000n)) return undefined;
      }
      throw new SweepFault('The node has not the blocks yet in which a command could be.');
    }, stop);
  }

  proof(chain: number, requestKey: string, targetChain: number, stop: AbortSignal): Promise<Proof> {
    return this.#ask(async (api) => {
      try {
        return { kind: 'proof', proof: await api.proof(chain, requestKey, targetChain, stop) };
      } catch (error) {
        if (!(error instanceof ProofRefusedError)) throw error;
        return { kind: 'refused', reason: short(error.refusal.reason), wait: error.refusal.wait };
      }
    }, stop);
  }

  hasBlock(chain: number, hash: Uint8Array, from: number, stop: AbortSignal): Promise<boolean> {
    return this.#ask(async (api) => {
      const head = await headOf(api, chain, stop);
      const heights = { minHeight: from, maxHeight: from + MOST_DISTANCE };
      for await (const each of api.hashBranch(chain, { upper: [head.hash] }, heights, stop)) {
        if (equalBytes(each, hash)) return true;
      }
      return false;
    }, stop);
  }

  #ask<T>(question: (api: NodeApi) => Promise<T>, stop: AbortSignal): Promise<T> {
    return orFault(() => this.#nodes.askOne(question), stop);
  }
}

async function headOf(api: NodeApi, chain: number, stop: AbortSignal): Promise<Head> {
  const head = (await api.cut({}, stop)).heads.get(chain);
  if (!head) throw new SweepFault(`The node has no chain ${chain}.`);
  return head;
}

/** @returns the blocks of these heights that the head builds on */
async function blocksBelow(
  api: NodeApi,
  chain: number,
  head: Head,
  low: number,
  high: number,
  stop: AbortSignal,
): Promise<Block[]> {
  const blocks: Block[] = [];
  const heights = { minHeight: low, maxHeight: high };
  for await (const block of api.blockBranch(chain, { upper: [head.hash] }, heights, stop)) blocks.push(block);
  return blocks;
}

/** What a node does not have could be what is searched for. Below `low`, a young chain has no blocks. */
function checkHeights(blocks: readonly Block[], low: number, high: number): void {
  const heights = new Set(blocks.map(({ header }) => Number(header.height)));
  for (let height = low; height <= high; height++) {
    if (!heights.has(height)) throw new SweepFault(`The node does not have the block of height ${height}: ask another`);
  }
}

function isOutputOf(output: Uint8Array, requestKey: string): boolean {
  const json = parseExactJsonBytes(output);
  return isExactJsonObject(json) && json.reqKey === requestKey;
}

/** @returns what the node has answered @throws SweepFault for whatever may be different the next time */
async function orFault<T>(ask: () => Promise<T>, stop: AbortSignal): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (stop.aborted) throw new SweepFault('was stopped', { cause: error });
    const isOfNode = error instanceof ApiError || error instanceof LedgerFormatError || error instanceof UsageError;
    if (!isOfNode) throw error;
    throw new SweepFault(oneLine(error.message), { cause: error });
  }
}

/** Foreign texts are safe to show from here on. */
function shown(outcome: Outcome): Outcome {
  if (outcome.status === 'success') return outcome;
  return { ...outcome, error: { ...outcome.error, message: short(outcome.error.message) } };
}

function short(text: string): string {
  return oneLine(text, 300);
}
