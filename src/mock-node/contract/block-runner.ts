/** Runs the commands of blocks: the mempool's for a new block, and those of another node's block. */

import { LedgerFormatError, parseExactJsonBytes, stringifyExactJson } from '../../ledger/json.ts';
import type { ContractSettings } from '../options.ts';
import { whyRefused } from './checks.ts';
import type { Mempool } from './mempool.ts';
import { outputJson } from './output.ts';
import { type ReadCommand, readCommand } from './read-command.ts';
import { BuyGasError, runPaid } from './run-command.ts';
import type { BlockContext, Ran, Transactions } from './transactions.ts';

export class BlockRunner implements Transactions {
  readonly #mempool: Mempool;
  readonly #settings: ContractSettings;
  #txId = 1_000_000;

  constructor(mempool: Mempool, settings: ContractSettings) {
    this.#mempool = mempool;
    this.#settings = settings;
  }

  /** Commands whose gas can no longer be paid are dropped. */
  run(context: BlockContext): Ran {
    const { chain, parent, state } = context;
    const transactions: Uint8Array[] = [];
    const outputs: Uint8Array[] = [];
    for (const sent of this.#mempool.forBlock(chain, state, parent.header.creationTimeUs)) {
      try {
        outputs.push(this.#runOne(sent, context));
        transactions.push(sent.bytes);
      } catch (error) {
        if (!(error instanceof BuyGasError)) throw error;
        this.#mempool.drop(chain, sent.command.hash);
      }
    }
    return { transactions, outputs };
  }

  replay(context: BlockContext, transactions: readonly Uint8Array[]): Uint8Array[] {
    return transactions.map((bytes, index) => {
      const read = readCommand(parseExactJsonBytes(bytes));
      try {
        const reason = this.#whyNotInBlock(read, context);
        if (reason === undefined) return this.#runOne(read, context);
        throw new LedgerFormatError(`transaction ${index}: ${reason}`);
      } catch (error) {
        if (error instanceof BuyGasError) throw new LedgerFormatError(`transaction ${index}: ${error.message}`);
        throw error;
      }
    });
  }

  /** Changes the state, unless it throws. @throws BuyGasError if the gas cannot be paid */
  #runOne(read: ReadCommand, context: BlockContext): Uint8Array {
    const { hash } = read.command;
    const { chain, parent, miner, state, hasAncestor } = context;
    const { words, chains, outputEvents } = this.#settings;
    const attempt = state.next();
    const finished = runPaid(read, { state: attempt, chain, chains, words, hasAncestor }, miner);
    state.absorb(attempt);
    state.setHeight(hash, parent.header.height + 1n);
    const events = outputEvents ? finished.events : undefined;
    const txId = 'data' in finished.outcome ? this.#txId++ : null;
    return Buffer.from(stringifyExactJson(outputJson({ ...finished, events, requestKey: hash, txId, hasLogs: true })));
  }

  #whyNotInBlock(read: ReadCommand, { chain, parent, state }: BlockContext): string | undefined {
    const known = { isOnChain: state.heightOf(read.command.hash) !== undefined, isBadlisted: false };
    return whyRefused(read, known, { chain, lastTimeUs: parent.header.creationTimeUs }, this.#settings);
  }
}
