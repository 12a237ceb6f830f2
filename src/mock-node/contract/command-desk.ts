/** Answers about commands: runs them without effect, takes them, finds their results, and makes proofs (document 2). */

import type { Command } from '../../ledger/command/command.ts';
import { type Payload, parsePayload } from '../../ledger/command/payload.ts';
import { parseCommandResult } from '../../ledger/command/results.ts';
import { LedgerFormatError } from '../../ledger/errors.ts';
import {
  type ExactJson,
  type ExactJsonObject,
  jsonInteger,
  parseExactJson,
  stringifyExactJson,
} from '../../ledger/exact-json.ts';
import type { Block } from '../ledger/block.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ContractSettings } from '../options.ts';
import { metadataFaults, whyForged } from './checks.ts';
import { helperCommand } from './helper.ts';
import type { HighwaterMark, Mempool, Sent } from './mempool.ts';
import { outputJson } from './output.ts';
import { type FoundOutput, findOutput, resultJson } from './outputs.ts';
import { type ReadCommand, readCommand } from './read-command.ts';
import { BuyGasError, type Finished, runPaid, runUnpaid } from './run-command.ts';
import { heightNeeded, makeProof } from './spv.ts';
import { Waiting } from './waiting.ts';

/** Why a node refuses a request with 400: the text of the answer. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

export interface LocalQuery {
  readonly preflight: boolean;
  /** How many blocks below the tip the command runs. */
  readonly rewindDepth: number;
  readonly signatureVerification: boolean;
}

/** Nobody is paid for what has no effect. */
const NO_MINER = { account: 'NoMiner', predicate: 'keys-all', publicKeys: [] };

export class CommandDesk {
  readonly settings: ContractSettings;
  readonly #ledger: Ledger;
  readonly #mempool: Mempool;
  readonly #waiting = new Waiting();

  constructor(ledger: Ledger, mempool: Mempool, settings: ContractSettings) {
    this.settings = settings;
    this.#ledger = ledger;
    this.#mempool = mempool;
    ledger.follow(() => this.#waiting.look());
  }

  /** @throws RefusedError for commands that are not run at all. */
  local(chain: number, json: ExactJson, query: LocalQuery): ExactJson {
    const { command, payload } = readOrRefuse(json);
    const forged = query.signatureVerification ? whyForged(command) : undefined;
    if (forged !== undefined) throw new RefusedError(`Validation failed: ${forged}`);
    const store = this.#ledger.chains.blocksOf(chain);
    const parent = store.canonical(store.tip.header.height - BigInt(query.rewindDepth));
    if (!parent) throw new RefusedError(`Validation failed: the chain has not ${query.rewindDepth} blocks to go back`);
    if (query.preflight) this.#checkMetadata(chain, payload);
    const finished = this.#runWithoutEffect(chain, command, payload, parent, query.preflight);
    const metaData = {
      publicMeta: parsePayload(command.cmd).meta,
      blockTime: jsonInteger(parent.header.creationTimeUs),
      prevBlockHash: parent.id,
      blockHeight: jsonInteger(parent.header.height + 1n),
    };
    const result = outputJson({ ...finished, requestKey: command.hash, txId: null }, metaData);
    return query.preflight ? { preflightResult: result, preflightWarnings: [] } : result;
  }

  /**
   * Takes all commands, or none.
   * @returns their request keys
   * @throws RefusedError that names the first that is wrong.
   */
  send(chain: number, commands: readonly ExactJson[]): string[] {
    const read = commands.map(readOrRefuse);
    read.forEach(({ command, payload }, index) => {
      const reason = this.#whyRefused(chain, command, payload);
      if (reason === undefined) return;
      const where = `Transaction ${command.hash} at index ${index}`;
      throw new RefusedError(`One or more transactions were invalid: ${where} failed with: ${reason}`);
    });
    this.#take(chain, read);
    return read.map(({ command }) => command.hash);
  }

  /** @returns the results of those commands that have one, with at least `depth` blocks above them */
  poll(chain: number, requestKeys: readonly string[], depth: bigint): ExactJsonObject {
    const results = requestKeys.flatMap((key): [string, ExactJson][] => {
      const result = this.#resultOf(chain, key, depth);
      return result ? [[key, result]] : [];
    });
    return Object.fromEntries(results);
  }

  /** Waits for a result. @returns undefined when there is none within `listenMs`, or the signal ends the waiting */
  listen(chain: number, requestKey: string, signal: AbortSignal): Promise<ExactJsonObject | undefined> {
    return this.#waiting.for(() => this.#resultOf(chain, requestKey, 0n), this.settings.listenMs, signal);
  }

  /** @returns a proof of the command's output for another chain @throws RefusedError while there is none. */
  spv(chain: number, requestKey: string, target: number): string {
    const { chains } = this.#ledger;
    const found = findOutput(chains, chain, requestKey);
    if (!found) throw new RefusedError('SPV proof creation failed: Transaction hash not found');
    if (target === chain || !chains.graph[target]) {
      throw new RefusedError(`SPV target not reachable: chain ${target} cannot be the target`);
    }
    const proof = makeProof(chains, found, target);
    if (proof !== undefined) return proof;
    const needed = heightNeeded(chains, found.block, target);
    throw new RefusedError(
      `SPV target not reachable: chain ${target} is at height ${chains.heightOf(target)}, and must reach ${needed}`,
    );
  }

  /**
   * @param mark up to where the mempool is known already
   * @returns the request keys of the commands that wait, and the new mark
   */
  pending(chain: number, mark?: HighwaterMark): { readonly requestKeys: string[]; readonly mark: HighwaterMark } {
    const from = mark?.nonce === this.#mempool.mark.nonce ? mark.next : 0;
    const waiting = this.#waitingOn(chain).filter(({ number }) => number >= from);
    return { requestKeys: waiting.map(({ command }) => command.hash), mark: this.#mempool.mark };
  }

  /** @returns a command that waits, as JSON */
  lookUp(chain: number, requestKey: string): string | undefined {
    const sent = this.#waitingOn(chain).find(({ command }) => command.hash === requestKey);
    return sent && Buffer.from(sent.bytes).toString();
  }

  /**
   * Takes the commands that another node has, and leaves out those that are refused.
   * @param texts JSON, one command each
   * @returns what is wrong with the first that is no command; then none is taken
   */
  insert(chain: number, texts: readonly string[]): string | undefined {
    try {
      const read = texts.map((text) => readCommand(parseExactJson(text)));
      const good = read.filter(({ command, payload }) => this.#whyRefused(chain, command, payload) === undefined);
      this.#take(chain, good);
      return undefined;
    } catch (error) {
      if (error instanceof LedgerFormatError) return error.message;
      throw error;
    }
  }

  /** From now on, a command is in no new block, and its result is that it was refused. */
  badlist(requestKey: string): void {
    this.#mempool.badlist(requestKey);
    for (const chain of this.#ledger.chains.graph.keys()) this.#ledger.refreshPayload(chain);
  }

  /**
   * Finishes a transfer to another chain, as somebody else does who wants to help: lets the target chain grow until there
   * is a proof, sends the second step, and lets it run in a block.
   * @param chain where the first step ran
   * @returns the request key of the second step
   * @throws RefusedError when there is no such transfer.
   */
  finishTransfer(chain: number, requestKey: string): string {
    const { chains } = this.#ledger;
    const found = findOutput(chains, chain, requestKey);
    const target = found && targetOf(found);
    if (!found || target === undefined) throw new RefusedError(`${requestKey} is no transfer to another chain`);
    this.#ledger.advanceTo(target, heightNeeded(chains, found.block, target));
    const proof = this.spv(chain, requestKey, target);
    const { network } = this.settings;
    const command = helperCommand({ requestKey, proof, target, network, lastTimeUs: this.#lastTimeUs(target) });
    this.send(target, [parseExactJson(JSON.stringify(command))]);
    this.#ledger.advance(target);
    return command.hash;
  }

  #take(chain: number, commands: readonly ReadCommand[]): void {
    for (const { command, payload } of commands) this.#mempool.add(chain, command, payload);
    this.#ledger.refreshPayload(chain);
  }

  #waitingOn(chain: number): readonly Sent[] {
    return this.#mempool.waiting(chain, this.#ledger.chains.tip(chain).payload.state, this.#lastTimeUs(chain));
  }

  #whyRefused(chain: number, command: Command, payload: Payload): string | undefined {
    const { state } = this.#ledger.chains.tip(chain).payload;
    if (state.heightOf(command.hash) !== undefined) return 'Transaction already exists on chain';
    if (this.#mempool.isBadlisted(command.hash)) {
      return 'Transaction is badlisted because it previously failed to validate.';
    }
    const place = { chain, lastTimeUs: this.#lastTimeUs(chain) };
    const reason = whyForged(command) ?? metadataFaults(payload, place, this.settings)[0];
    if (reason !== undefined) return reason;
    try {
      runPaid(command.hash, payload, this.#ground(chain, this.#ledger.chains.tip(chain)), NO_MINER);
      return undefined;
    } catch (error) {
      if (error instanceof BuyGasError) return `Attempt to buy gas failed with: ${error.message}`;
      throw error;
    }
  }

  #checkMetadata(chain: number, payload: Payload): void {
    const faults = metadataFaults(payload, { chain, lastTimeUs: this.#lastTimeUs(chain) }, this.settings);
    if (faults.length > 0) throw new RefusedError(`Metadata validation failed: ${stringifyExactJson(faults)}`);
  }

  #runWithoutEffect(chain: number, { hash }: Command, payload: Payload, parent: Block, pays: boolean): Finished {
    const ground = this.#ground(chain, parent);
    if (!pays) return runUnpaid(hash, payload, ground);
    try {
      return runPaid(hash, payload, ground, NO_MINER);
    } catch (error) {
      if (!(error instanceof BuyGasError)) throw error;
      throw new RefusedError(`Validation failed: Attempt to buy gas failed with: ${error.message}`);
    }
  }

  #ground(chain: number, parent: Block) {
    const { chains, words } = this.settings;
    const hasAncestor = (id: string) => this.#ledger.chains.isCanonical(chain, id);
    return { state: parent.payload.state.next(), chain, chains, words, hasAncestor };
  }

  #resultOf(chain: number, requestKey: string, depth: bigint): ExactJsonObject | undefined {
    const { chains } = this.#ledger;
    const found = findOutput(chains, chain, requestKey);
    if (found) return chains.heightOf(chain) - found.block.header.height >= depth ? resultJson(found) : undefined;
    if (!this.#mempool.isBadlisted(requestKey)) return undefined;
    const error = 'Transaction is badlisted because it previously failed to validate.';
    return outputJson({ requestKey, outcome: { error }, gas: 0, events: [], continuation: null, txId: null });
  }

  #lastTimeUs(chain: number): bigint {
    return this.#ledger.chains.tip(chain).header.creationTimeUs;
  }
}

/** @throws RefusedError for JSON that is no command with public metadata. */
function readOrRefuse(json: ExactJson): ReadCommand {
  try {
    return readCommand(json);
  } catch (error) {
    if (error instanceof LedgerFormatError) throw new RefusedError(`Validation failed: ${error.message}`);
    throw error;
  }
}

/** @returns the chain for which the coins of a first step have left, if it is one */
function targetOf(found: FoundOutput): number | undefined {
  const target = parseCommandResult(resultJson(found)).continuation?.yield?.provenance?.targetChainId;
  return target === undefined ? undefined : Number(target);
}
