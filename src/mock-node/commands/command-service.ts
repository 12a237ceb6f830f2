/**
 * The service for commands (document 2): runs commands without changing the ledger (/local), accepts commands for
 * blocks, finds their results, and makes proofs of their outputs.
 */

import type { Dialect } from '../../contract/dialect.ts';
import { parseDecimal } from '../../protocol/ledger/decimal.ts';
import { type ExactJson, type ExactJsonObject, LedgerFormatError, parseExactJson } from '../../protocol/ledger/json.ts';
import type { ExecutionContext } from '../execution/block-environment.ts';
import { findOutput, heightNeeded, makeProof, resultJson } from '../execution/block-outputs.ts';
import { unreadable } from '../execution/code.ts';
import { BuyGasError } from '../execution/gas-payment.ts';
import { type Failure, outputJson } from '../execution/output.ts';
import { checkPayment } from '../execution/run-command.ts';
import type { Block } from '../ledger/block-store.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ContractSettings } from '../options.ts';
import {
  BADLISTED,
  preflightFaults,
  type ReadCommand,
  RefusedError,
  readCommand,
  readOrRefuse,
  whyRefused,
} from './command-checks.ts';
import {
  checkHash,
  checkSignatures,
  type LocalQuery,
  localResult,
  metadataRefused,
  preflightResult,
  unreadResult,
} from './local.ts';
import type { HighwaterMark, Mempool, Sent } from './mempool.ts';
import { MineOnSend } from './mine-on-send.ts';
import { finishingCommand, targetOf } from './transfer-finisher.ts';
import { Waiting } from './waiting.ts';

/** How real nodes begin the refusal of a command at /send whose text is no payload. */
const UNREAD_BY_SEND = 'reading JSON for transaction failed';

export class CommandService {
  readonly settings: ContractSettings;
  readonly #dialect: Dialect;
  readonly #ledger: Ledger;
  readonly #mempool: Mempool;
  readonly #onSend: MineOnSend;
  readonly #report: (fault: unknown) => void;
  readonly #waiting = new Waiting();

  /** @param report called with a fault of the evaluator itself */
  constructor(ledger: Ledger, mempool: Mempool, settings: ContractSettings, report: (fault: unknown) => void) {
    this.settings = settings;
    this.#report = report;
    this.#dialect = settings.contractDialect;
    this.#ledger = ledger;
    this.#mempool = mempool;
    this.#onSend = new MineOnSend(settings.mineOnSend, ledger);
    ledger.follow(() => this.#waiting.look());
  }

  /**
   * Runs a command without changing the ledger.
   * @returns the command's result
   * @throws RefusedError if the command is refused and has no result
   */
  local(chain: number, json: ExactJson, query: LocalQuery): ExactJson {
    const read = readOrRefuse(json);
    if (!query.signatureVerification) checkHash(read);
    this.#onSend.confirmDue();
    this.#onSend.refresh(chain);
    const store = this.#ledger.chains.blocksOf(chain);
    const height = store.tip.header.height - BigInt(query.rewindDepth);
    // As on real nodes, a command that goes back too far runs on the oldest block.
    const parent = store.canonical(height > store.lowest ? height : store.lowest)!;
    const context = this.#contextAbove(parent);
    const fault = unreadable(read.payload, this.#dialect);
    if (fault) return unreadResult(read, fault, this.#dialect, query);
    if (query.signatureVerification) checkSignatures(read);
    if (!query.preflight) return localResult(read, context);
    const faults = preflightFaults(read, { chain, lastTimeUs: this.#lastTimeUs(chain) }, this.settings);
    if (faults.length > 0) throw metadataRefused(faults);
    return { preflightResult: preflightResult(read, context), preflightWarnings: [] };
  }

  /**
   * Accepts all commands for blocks, or none.
   * @returns their request keys
   * @throws RefusedError with the reason for each refused command, or for the first malformed one
   */
  send(chain: number, commands: readonly ExactJson[]): string[] {
    const read = commands.map((json) => readOrRefuse(json, UNREAD_BY_SEND));
    this.#onSend.refresh(chain);
    const faults = read.flatMap((each, index) => {
      const reason = this.#whyRefused(chain, each);
      return reason === undefined ? [] : [`Transaction ${each.command.hash} at index ${index} failed with: ${reason}`];
    });
    if (faults.length > 0) throw new RefusedError(`One or more transactions were invalid: ${faults.join(', ')}`);
    this.#take(chain, read);
    return read.map(({ command }) => command.hash);
  }

  /**
   * @returns the results by request key. A command has a result if its block has at least `depth` blocks above it, or
   *   if it is badlisted and in no block
   */
  poll(chain: number, requestKeys: readonly string[], depth: bigint): ExactJsonObject {
    this.catchUp();
    const results = requestKeys.flatMap((key): [string, ExactJson][] => {
      const result = this.#resultOf(chain, key, depth);
      return result ? [[key, result]] : [];
    });
    return Object.fromEntries(results);
  }

  /**
   * Waits for a result.
   * @returns undefined after `listenMs`, when the signal aborts, and if too many requests wait already
   */
  listen(chain: number, requestKey: string, signal: AbortSignal): Promise<ExactJsonObject | undefined> {
    return this.#waiting.for(() => this.#resultOf(chain, requestKey, 0n), this.settings.listenMs, signal);
  }

  /**
   * @returns a proof of the command's output for the chain `target`
   * @throws RefusedError if such a proof does not exist, or does not exist yet
   */
  spv(chain: number, requestKey: string, target: number): string {
    const { chains } = this.#ledger;
    const found = findOutput(chains, chain, requestKey);
    if (!found) throw new RefusedError(`Transaction hash not found: ${JSON.stringify(requestKey)}`);
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
   * @param mark from an earlier answer; a mark of another mempool is ignored
   * @returns the request keys of the waiting commands that were added after the mark (without a mark, of all waiting
   *   commands), and the new mark
   */
  pending(chain: number, mark?: HighwaterMark): { readonly requestKeys: string[]; readonly mark: HighwaterMark } {
    const from = mark?.nonce === this.#mempool.mark.nonce ? mark.next : 0;
    const waiting = this.#waitingOn(chain).filter(({ number }) => number >= from);
    return { requestKeys: waiting.map(({ command }) => command.hash), mark: this.#mempool.mark };
  }

  /** @returns the waiting command with this request key as JSON; undefined if there is none */
  lookUp(chain: number, requestKey: string): string | undefined {
    const sent = this.#waitingOn(chain).find(({ command }) => command.hash === requestKey);
    return sent && Buffer.from(sent.bytes).toString();
  }

  /**
   * Accepts commands from another node's mempool, but leaves out those that /send would refuse.
   * @param texts each is one command in JSON
   * @returns the fault of the first text that is not a command; undefined if there is no such text. If there is one, no
   *   command is accepted
   */
  insert(chain: number, texts: readonly string[]): string | undefined {
    try {
      const read = texts.map((text) => readCommand(parseExactJson(text)));
      const good = read.filter((each) => this.#whyRefused(chain, each) === undefined);
      this.#take(chain, good);
      return undefined;
    } catch (error) {
      if (error instanceof LedgerFormatError) return error.message;
      throw error;
    }
  }

  /** Adds blocks that have become due without a miner (the option `mineOnSend`), before the ledger is read. */
  catchUp(): void {
    this.#onSend.confirmDue();
  }

  /** @returns the commands that wait for a block of the chain, as JSON */
  waitingTexts(chain: number): string[] {
    return this.#waitingOn(chain).map(({ bytes }) => Buffer.from(bytes).toString());
  }

  /** Takes over commands of a saved state, without checks. @throws LedgerFormatError if a text is not a command */
  restore(chain: number, texts: readonly string[]): void {
    for (const { command, payload } of texts.map((text) => readCommand(parseExactJson(text)))) {
      this.#mempool.add(chain, command, payload);
    }
  }

  /** Keeps a command out of all new blocks. While no block contains the command, its result is a failure. */
  badlist(requestKey: string): void {
    this.#mempool.badlist(requestKey);
    for (const chain of this.#ledger.chains.graph.keys()) this.#ledger.refreshPayload(chain);
  }

  /**
   * Finishes a transfer to another chain, as anyone may: lets the target chain grow until there is a proof, sends the
   * second step, and adds a block that runs this step.
   * @param chain the chain of the first step
   * @returns the request key of the second step
   * @throws RefusedError if there is no such transfer, or if the second step is refused
   */
  finishTransfer(chain: number, requestKey: string): string {
    const { chains } = this.#ledger;
    const found = findOutput(chains, chain, requestKey);
    const target = found && targetOf(resultJson(found));
    if (!found || target === undefined) throw new RefusedError(`${requestKey} is no transfer to another chain`);
    this.#ledger.advanceTo(target, heightNeeded(chains, found.block, target));
    const proof = this.spv(chain, requestKey, target);
    const { network } = this.settings;
    const minGasPrice = parseDecimal(this.settings.minGasPrice);
    const lastTimeUs = this.#lastTimeUs(target);
    const command = finishingCommand({ requestKey, proof, target, network, minGasPrice, lastTimeUs });
    this.send(target, [parseExactJson(JSON.stringify(command))]);
    this.#ledger.advance(target);
    return command.hash;
  }

  #take(chain: number, commands: readonly ReadCommand[]): void {
    for (const { command, payload } of commands) this.#mempool.add(chain, command, payload);
    this.#ledger.refreshPayload(chain);
    this.#onSend.mine(chain, () => this.#waitingOn(chain).length);
  }

  #waitingOn(chain: number): readonly Sent[] {
    return this.#mempool.waiting(chain, this.#ledger.chains.tip(chain).payload.state, this.#lastTimeUs(chain));
  }

  #whyRefused(chain: number, read: ReadCommand): string | undefined {
    const { hash } = read.command;
    const isOnChain = this.#ledger.chains.tip(chain).payload.state.heightOf(hash) !== undefined;
    const known = { isOnChain, isBadlisted: this.#mempool.isBadlisted(hash) };
    const reason = whyRefused(read, known, { chain, lastTimeUs: this.#lastTimeUs(chain) }, this.settings);
    if (reason !== undefined) return reason;
    try {
      // As on real nodes, /send tries the payment for gas, but does not run the code.
      checkPayment(read, this.#contextAbove(this.#ledger.chains.tip(chain)));
      return undefined;
    } catch (error) {
      if (error instanceof BuyGasError) return `Attempt to buy gas failed with: ${error.message}`;
      throw error;
    }
  }

  #contextAbove(parent: Block): ExecutionContext {
    const { chain, height } = parent.header;
    const store = this.#ledger.chains.blocksOf(chain);
    const hasAncestor = (id: string) => {
      const block = store.get(id);
      return block !== undefined && block.header.height <= height && store.isCanonical(block);
    };
    const state = parent.payload.state.next();
    return { state, chain, dialect: this.#dialect, parent, hasAncestor, report: this.#report };
  }

  #resultOf(chain: number, requestKey: string, depth: bigint): ExactJsonObject | undefined {
    const { chains } = this.#ledger;
    const found = findOutput(chains, chain, requestKey);
    if (found) {
      this.#onSend.confirm(chain, found.block.header.height, depth);
      return chains.heightOf(chain) - found.block.header.height >= depth ? resultJson(found) : undefined;
    }
    if (!this.#mempool.isBadlisted(requestKey)) return undefined;
    const error: Failure = { kind: 'TxFailure', message: BADLISTED };
    const nothing = { gas: 0, events: [], continuation: null, txId: null, hasLogs: false };
    return outputJson({ requestKey, outcome: { error }, ...nothing });
  }

  #lastTimeUs(chain: number): bigint {
    return this.#ledger.chains.tip(chain).header.creationTimeUs;
  }
}
