/** Runs the commands of a block: those of the mempool for a new block, or those in another node's block. */

import type { Dialect } from '../../contract/dialect.ts';
import type { Decimal } from '../../protocol/ledger/decimal.ts';
import { LedgerFormatError, parseExactJsonBytes, stringifyExactJson } from '../../protocol/ledger/json.ts';
import { type ReadCommand, readCommand, whyRefused } from '../commands/command-checks.ts';
import type { Mempool } from '../commands/mempool.ts';
import type { ContractSettings } from '../options.ts';
import type { ExecutionContext } from './block-environment.ts';
import { payReward } from './coin-contract.ts';
import { BuyGasError } from './gas-payment.ts';
import { contractFault } from './internal-faults.ts';
import { eventJson, failureOf, outputJson } from './output.ts';
import { runPaid } from './run-command.ts';
import type { BlockContext, Ran, Reward, Transactions } from './transactions.ts';

interface RunCommand {
  /** The output of the command: JSON in UTF-8. */
  readonly output: Uint8Array;
  readonly gas: number;
}

export class BlockRunner implements Transactions {
  readonly #mempool: Mempool;
  readonly #settings: ContractSettings;
  readonly #dialect: Dialect;
  readonly #report: (fault: unknown) => void;
  #txId = 1_000_000;

  /** @param report called with a fault of the evaluator itself */
  constructor(mempool: Mempool, settings: ContractSettings, report: (fault: unknown) => void) {
    this.#mempool = mempool;
    this.#settings = settings;
    this.#report = report;
    this.#dialect = settings.contractDialect;
  }

  reward(block: BlockContext, amount: Decimal): Reward {
    const { miner, state } = block;
    const paid = state.next();
    try {
      const events = payReward({ ...this.#contextOf(block), state: paid }, miner, amount);
      state.absorb(paid);
      return { events: events.map(eventJson) };
    } catch (thrown) {
      return { failure: failureOf(contractFault(thrown, this.#report), this.#dialect) };
    }
  }

  /**
   * Drops commands from the mempool if their gas cannot be paid any more. A command whose gas limit exceeds the
   * remaining gas of the block waits for a later block.
   */
  run(block: BlockContext): Ran {
    const { chain, parent, state } = block;
    const transactions: Uint8Array[] = [];
    const outputs: Uint8Array[] = [];
    let gasLeft = this.#settings.blockGasLimit;
    for (const sent of this.#mempool.forBlock(chain, state, parent.header.creationTimeUs)) {
      if (sent.payload.meta.gasLimit > gasLeft) continue;
      try {
        const { output, gas } = this.#runOne(sent, block);
        gasLeft -= gas;
        outputs.push(output);
        transactions.push(sent.bytes);
      } catch (error) {
        if (!(error instanceof BuyGasError)) throw error;
        this.#mempool.drop(chain, sent.command.hash);
      }
    }
    return { transactions, outputs };
  }

  /**
   * Only the gas that the commands use counts for the gas limit of the block. The gas limit of a command may exceed the
   * remaining gas of the block.
   */
  replay(block: BlockContext, transactions: readonly Uint8Array[]): Uint8Array[] {
    let gasLeft = this.#settings.blockGasLimit;
    return transactions.map((bytes, index) => {
      const { output, gas } = this.#replayOne(bytes, index, block);
      gasLeft -= gas;
      if (gasLeft >= 0) return output;
      throw new LedgerFormatError(
        `transaction ${index}: the block takes more gas than ${this.#settings.blockGasLimit}`,
      );
    });
  }

  /** @throws LedgerFormatError if the block cannot contain the transaction */
  #replayOne(bytes: Uint8Array, index: number, block: BlockContext): RunCommand {
    const read = readCommand(parseExactJsonBytes(bytes));
    try {
      const reason = this.#whyNotInBlock(read, block);
      if (reason === undefined) return this.#runOne(read, block);
      throw new LedgerFormatError(`transaction ${index}: ${reason}`);
    } catch (error) {
      if (error instanceof BuyGasError) throw new LedgerFormatError(`transaction ${index}: ${error.message}`);
      throw error;
    }
  }

  /**
   * Runs a command, which changes the state.
   * @throws BuyGasError if the gas cannot be paid; the state is then unchanged
   */
  #runOne(read: ReadCommand, block: BlockContext): RunCommand {
    const { hash } = read.command;
    const { parent, miner, state } = block;
    const finished = runPaid(read, this.#contextOf(block), miner);
    state.setHeight(hash, parent.header.height + 1n);
    const events = this.#settings.outputEvents ? finished.events : undefined;
    const txId = 'data' in finished.outcome ? this.#txId++ : null;
    const json = outputJson({ ...finished, events, requestKey: hash, txId, hasLogs: true });
    return { output: Buffer.from(stringifyExactJson(json)), gas: finished.gas };
  }

  #contextOf(block: BlockContext): ExecutionContext {
    return { ...block, dialect: this.#dialect, report: this.#report };
  }

  #whyNotInBlock(read: ReadCommand, { chain, parent, state }: BlockContext): string | undefined {
    const known = { isOnChain: state.heightOf(read.command.hash) !== undefined, isBadlisted: false };
    return whyRefused(read, known, { chain, lastTimeUs: parent.header.creationTimeUs }, this.#settings);
  }
}
