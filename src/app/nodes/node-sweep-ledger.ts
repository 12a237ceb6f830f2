/**
 * The requests of a sweep to nodes. The answers to the requests of one method depend on each other, so they come from
 * one node, except for comparisons with other nodes. If that node cannot be reached, the method throws, and the next
 * call asks the next node. Only `chains` and `lookElsewhere` ask the next node at once.
 */

import { oneLine } from '../../base/text/plain-text.ts';
import { KnownWork } from '../../node/blocks/known-work.ts';
import { ProofRefusedError, SendRefusedError } from '../../node/client/commands.ts';
import { type LedgerHead, LedgerReader, readLocal } from '../../node/client/ledger-reader.ts';
import type { NodeApi } from '../../node/client/node-api.ts';
import { NodeError } from '../../node/http/node-error.ts';
import { type Branch, findCommand, newestHeader, type Work } from '../../node/sweep/linked-blocks.ts';
import {
  type AccountLook,
  type Evidence,
  type Proof,
  type Searched,
  type SearchQuery,
  type SearchRange,
  type Sent,
  SweepFault,
  type SweepLedger,
  type Trial,
} from '../../node/sweep/sweep-ledger.ts';
import { detailsOf, getDetails } from '../../protocol/ledger/command/coin.ts';
import type { Command } from '../../protocol/ledger/command/command.ts';
import type { Outcome } from '../../protocol/ledger/command/results.ts';
import { decodeBase64url, encodeBase64url, LedgerFormatError } from '../../protocol/ledger/json.ts';
import { hasWork } from '../../protocol/ledger/least-work.ts';
import { COIN } from '../../protocol/ledger/payload.ts';
import { UsageError } from '../process/exit.ts';
import type { NodesInTurn } from './nodes-in-turn.ts';

/**
 * Upper bound of the distance between two chains. A proof leads to a block that is at most this many blocks above the
 * block of the command.
 */
const MOST_DISTANCE = 8;

export class NodeSweepLedger implements SweepLedger {
  readonly network: string;
  readonly #nodes: Pick<NodesInTurn, 'ask' | 'askOne' | 'askOther'>;
  readonly #known: KnownWork;
  /** Chains of which `#seeNewest` has fetched the newest block. */
  readonly #seen = new Set<number>();

  /** @param nodes must send each request only once. Otherwise a command could be refused because it was sent before */
  constructor(network: string, nodes: Pick<NodesInTurn, 'ask' | 'askOne' | 'askOther'>, known = new KnownWork()) {
    this.network = network;
    this.#nodes = nodes;
    this.#known = known;
  }

  /** Any node may answer, because this is the first request of a plan. */
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
    return this.#ask(async (api, reader) => {
      await this.#seeNewest(api, reader, chain, stop);
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

  search(chain: number, query: SearchQuery, range: SearchRange, stop: AbortSignal): Promise<Searched> {
    return this.#ask(async (api, reader) => {
      const branch = await branchOf(reader, chain, stop);
      const { found, block, newest, work } = await findCommand(api, branch, query, range, stop);
      const elsewhere = await this.#compare(chain, block.height, encodeBase64url(block.hash), stop);
      const evidence = this.#weigh(work, elsewhere === undefined ? 1 : 2);
      if (hasWork(this.network)) this.#known.see(this.network, newest);
      if (!found) return { found, evidence };
      const depth = Math.min(found.depth, elsewhere ?? found.depth);
      return { found: { ...found, depth, result: { ...found.result, result: shown(found.result.result) } }, evidence };
    }, stop);
  }

  #weigh({ hashes, blocks }: Work, nodes: 1 | 2): Evidence {
    if (!hasWork(this.network)) return { work: 'none', nodes, why: `blocks of ${this.network} take no work` };
    const least = this.#known.leastWork(this.network);
    if (least === undefined) {
      const network = this.network || 'this network';
      return { work: 'too little', nodes, why: `nobody here knows how much work a block of ${network} takes` };
    }
    const needed = least * blocks;
    if (hashes >= needed) return { work: 'enough', nodes, why: '' };
    const why = `the blocks that show it took ${rounded(hashes)} hashes, and at least ${rounded(needed)} are needed`;
    return { work: 'too little', nodes, why };
  }

  /**
   * Fetches the header of a chain's newest block before the first command is sent there, and gives it to `KnownWork`.
   * @throws if the block has no valid proof of work, or if the node cannot be reached. The command is then not sent
   */
  async #seeNewest(api: NodeApi, reader: LedgerReader, chain: number, stop: AbortSignal): Promise<void> {
    if (!hasWork(this.network) || this.#seen.has(chain)) return;
    try {
      this.#known.see(this.network, await newestHeader(api, await branchOf(reader, chain, stop), stop));
      this.#seen.add(chain);
    } catch (error) {
      // Some gateways serve no headers, but accept commands.
      if (!(error instanceof NodeError) || error.kind === 'unreachable') throw error;
    }
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
    const { blockHeight = 0, blockTime = 0 } = result?.metaData ?? {};
    if (blockHeight > 0 && blockTime > 0) {
      // The metadata has the height of the next block, but the time of the newest one.
      return { details, height: blockHeight - 1, timeS: secondsOf(blockTime) };
    }
    // When a read fails, for example because the account does not exist, the result of a real node lacks the metadata.
    const { height, creationTimeUs } = await newestHeader(api, await branchOf(reader, chain, stop), stop);
    return { details, height: Number(height), timeS: secondsOf(Number(creationTimeUs)) };
  }

  /**
   * Compares a block with the blocks at the same height on all other nodes. Nodes that do not answer are ignored.
   * @returns the smallest number of blocks above the compared block on any of these nodes; undefined if none answers
   * @throws SweepFault if a node has another block, or if no node that answers has reached the height yet
   */
  async #compare(chain: number, height: bigint, hash: string, stop: AbortSignal): Promise<number | undefined> {
    let least: number | undefined;
    let behind: string | undefined;
    await this.#nodes.askOther(async (api, name) => {
      const reader = new LedgerReader(api, name);
      const head = (await reader.heads(stop)).get(chain);
      if (!head || head.height < height) {
        behind ??= name;
        return undefined;
      }
      const other = (await reader.ancestors(chain, head.hash, height, height, stop)).get(height);
      if (other !== hash) {
        throw new SweepFault(
          `${name} has another block at height ${height} of chain ${chain} than the node that was asked: ` +
            'if that stays so, find out which of the two is wrong, and leave it out',
        );
      }
      least = Math.min(least ?? Number.POSITIVE_INFINITY, Number(head.height - height));
      // With the answer undefined, `askOther` goes on with the next node.
      return undefined;
    }, stop);
    if (least !== undefined || behind === undefined) return least;
    throw new SweepFault(
      `${behind} has not reached height ${height} of chain ${chain}, which the node that was asked has: waits for it. ` +
        'If that stays so, find out which of the two is wrong, and leave it out',
    );
  }

  #ask<T>(question: (api: NodeApi, reader: LedgerReader) => Promise<T>, stop: AbortSignal): Promise<T> {
    const named = async (api: NodeApi, name: string) => {
      try {
        return await question(api, new LedgerReader(api, name));
      } catch (error) {
        // The messages of NodeErrors already name the node.
        if (!(error instanceof LedgerFormatError)) throw error;
        throw new SweepFault(`${name}: ${error.message}`, { cause: error });
      }
    };
    return orFault(() => this.#nodes.askOne(named, stop), stop);
  }
}

async function headOf(reader: LedgerReader, chain: number, stop: AbortSignal): Promise<LedgerHead> {
  const head = (await reader.heads(stop)).get(chain);
  if (!head) throw new SweepFault(`The node has no chain ${chain}.`);
  return head;
}

async function branchOf(reader: LedgerReader, chain: number, stop: AbortSignal): Promise<Branch> {
  const { height, hash } = await headOf(reader, chain, stop);
  return { chain, head: { height, hash: decodeBase64url(hash) } };
}

/** @returns a number of hashes as text, with two digits if it is a million or more: `1.8e+13` */
function rounded(hashes: bigint): string {
  return hashes < 1_000_000n ? `${hashes}` : Number(hashes).toExponential(1);
}

function secondsOf(us: number): number {
  return Math.floor(us / 1_000_000);
}

/**
 * Throws a SweepFault in place of an error of `ask` that a node has caused. After `stop` has fired, throws a SweepFault
 * in place of any error of `ask`. Other errors are thrown unchanged.
 */
async function orFault<T>(ask: () => Promise<T>, stop: AbortSignal): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (stop.aborted) throw new SweepFault('was stopped', { cause: error });
    if (!isOfNode(error)) throw error;
    throw new SweepFault(oneLine(error.message), { cause: error });
  }
}

/** Ignores errors that a node has caused, as if the node had not answered. @throws any other error */
function unlessOfNode(error: unknown): undefined {
  if (!isOfNode(error)) throw error;
}

function isOfNode(error: unknown): error is Error {
  return [NodeError, LedgerFormatError, SweepFault, UsageError].some((kind) => error instanceof kind);
}

/** Makes the error's message, which is foreign text, safe to show. */
function shown(outcome: Outcome): Outcome {
  if (outcome.status === 'success') return outcome;
  return { ...outcome, error: { ...outcome.error, message: short(outcome.error.message) } };
}

function short(text: string): string {
  return oneLine(text, 300);
}
