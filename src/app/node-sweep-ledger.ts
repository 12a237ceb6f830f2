/**
 * A sweep's questions to nodes. The answers of one turn depend on each other, so they all come from one node. If that
 * node cannot be reached, the turn fails and the next turn asks the next node.
 */

import { detailsOf, getDetails } from '../ledger/command/coin.ts';
import type { Command } from '../ledger/command/command.ts';
import type { Outcome } from '../ledger/command/results.ts';
import { decodeBase64url, encodeBase64url, LedgerFormatError } from '../ledger/json.ts';
import { COIN } from '../ledger/payload.ts';
import { ProofRefusedError, SendRefusedError } from '../node/commands.ts';
import { NodeError } from '../node/errors.ts';
import { type Head, LedgerReader, readLocal } from '../node/ledger-reader.ts';
import type { NodeApi } from '../node/node-api.ts';
import {
  type AccountLook,
  type InBlock,
  type Place,
  type Proof,
  type Sent,
  type Sought,
  SweepFault,
  type SweepLedger,
  type Trial,
} from '../sweep/sweep-ledger.ts';
import { oneLine } from '../text/plain-text.ts';
import { UsageError } from './exit.ts';
import { type Branch, findCommand, newestHeader } from './linked-blocks.ts';
import type { NodesInTurn } from './nodes-in-turn.ts';

/** Greatest distance of two chains. A proof leads to a block at most this far above the command's. */
const MOST_DISTANCE = 8;

export class NodeSweepLedger implements SweepLedger {
  readonly network: string;
  readonly #nodes: Pick<NodesInTurn, 'ask' | 'askOne' | 'askOther'>;

  /** @param nodes send each request once, so that a refused one was not accepted by an earlier attempt */
  constructor(network: string, nodes: Pick<NodesInTurn, 'ask' | 'askOne' | 'askOther'>) {
    this.network = network;
    this.#nodes = nodes;
  }

  /** The first question of a plan, so any node may answer it. */
  chains(stop: AbortSignal): Promise<readonly number[]> {
    const read = async (api: NodeApi) => [...(await new LedgerReader(api, '').heads(stop)).keys()];
    return orFault(() => this.#nodes.ask(read), stop);
  }

  look(chain: number, account: string, stop: AbortSignal): Promise<AccountLook> {
    return this.#ask((api, reader) => this.#lookWith(api, reader, chain, account, stop), stop);
  }

  lookElsewhere(chain: number, account: string, stop: AbortSignal): Promise<AccountLook | undefined> {
    const look = (api: NodeApi, name: string) =>
      this.#lookWith(api, new LedgerReader(api, name), chain, account, stop).catch(unlessOfNode);
    return orFault(() => this.#nodes.askOther(look, stop), stop);
  }

  tryOut(chain: number, command: Command, stop: AbortSignal): Promise<Trial> {
    return this.#ask(async (api) => {
      const options = { preflight: true, signatureVerification: false };
      const { outcome, result } = await api.local(chain, command, options, stop);
      if (!result) throw new SweepFault('The node does not say how much gas a command would need.');
      return { outcome: shown(outcome), gas: result.gas };
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

  search(chain: number, sought: Sought, place: Place, stop: AbortSignal): Promise<InBlock | undefined> {
    return this.#ask(async (api, reader) => {
      const branch = await branchOf(reader, chain, stop);
      const { found, block } = await findCommand(api, branch, sought, place, stop);
      await this.#compare(chain, block.height, encodeBase64url(block.hash), stop);
      return found && { ...found, result: { ...found.result, result: shown(found.result.result) } };
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
    return this.#ask(async (_, reader) => {
      const head = await headOf(reader, chain, stop);
      const [first, last] = [BigInt(from), BigInt(from + MOST_DISTANCE)];
      if (head.height < first) return false;
      const to = last < head.height ? last : head.height;
      const ancestors = await reader.ancestors(chain, head.hash, first, to, stop);
      return [...ancestors.values()].includes(encodeBase64url(hash));
    }, stop);
  }

  async #lookWith(
    api: NodeApi,
    reader: LedgerReader,
    chain: number,
    account: string,
    stop: AbortSignal,
  ): Promise<AccountLook> {
    const { outcome, result } = await readLocal(api, this.network, chain, getDetails(COIN, account), stop);
    const details = detailsOf(outcome, account);
    const { blockHeight, blockTime } = result?.metaData ?? {};
    if (blockHeight !== undefined && blockTime !== undefined && blockHeight > 0 && blockTime > 0) {
      // The node gives the height of the next block, and the time of the present one.
      return { details, height: blockHeight - 1, timeS: secondsOf(blockTime) };
    }
    // When a read fails, as for an account that does not exist, a real node names no block.
    const { height, creationTimeUs } = await newestHeader(api, await branchOf(reader, chain, stop), stop);
    return { details, height: Number(height), timeS: secondsOf(Number(creationTimeUs)) };
  }

  /** Another node, if one answers and has a block of this height, must have the same block. */
  async #compare(chain: number, height: bigint, hash: string, stop: AbortSignal): Promise<void> {
    const other = await this.#nodes.askOther(async (api, name) => {
      const reader = new LedgerReader(api, name);
      const head = (await reader.heads(stop)).get(chain);
      if (!head || head.height < height) return undefined;
      const ancestors = await reader.ancestors(chain, head.hash, height, height, stop);
      return { name, hash: ancestors.get(height) };
    }, stop);
    if (!other || other.hash === hash) return;
    throw new SweepFault(
      `${other.name} has another block at height ${height} of chain ${chain} than the node that was asked: ` +
        'if that stays so, find out which of the two is wrong, and leave it out',
    );
  }

  #ask<T>(question: (api: NodeApi, reader: LedgerReader) => Promise<T>, stop: AbortSignal): Promise<T> {
    const named = async (api: NodeApi, name: string) => {
      try {
        return await question(api, new LedgerReader(api, name));
      } catch (error) {
        // NodeErrors already name the node.
        if (!(error instanceof LedgerFormatError)) throw error;
        throw new SweepFault(`${name}: ${error.message}`, { cause: error });
      }
    };
    return orFault(() => this.#nodes.askOne(named, stop), stop);
  }
}

async function headOf(reader: LedgerReader, chain: number, stop: AbortSignal): Promise<Head> {
  const head = (await reader.heads(stop)).get(chain);
  if (!head) throw new SweepFault(`The node has no chain ${chain}.`);
  return head;
}

async function branchOf(reader: LedgerReader, chain: number, stop: AbortSignal): Promise<Branch> {
  const { height, hash } = await headOf(reader, chain, stop);
  return { chain, head: { height, hash: decodeBase64url(hash) } };
}

function secondsOf(us: number): number {
  return Math.floor(us / 1_000_000);
}

/** @throws SweepFault for every error that may not happen again */
async function orFault<T>(ask: () => Promise<T>, stop: AbortSignal): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (stop.aborted) throw new SweepFault('was stopped', { cause: error });
    if (!isOfNode(error)) throw error;
    throw new SweepFault(oneLine(error.message), { cause: error });
  }
}

/** A node without a usable answer counts as unreachable. */
function unlessOfNode(error: unknown): undefined {
  if (!isOfNode(error)) throw error;
}

function isOfNode(error: unknown): error is Error {
  return [NodeError, LedgerFormatError, SweepFault, UsageError].some((kind) => error instanceof kind);
}

/** Makes foreign texts safe to show. */
function shown(outcome: Outcome): Outcome {
  if (outcome.status === 'success') return outcome;
  return { ...outcome, error: { ...outcome.error, message: short(outcome.error.message) } };
}

function short(text: string): string {
  return oneLine(text, 300);
}
