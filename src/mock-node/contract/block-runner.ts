/** Runs the commands of blocks: the mempool's for a new block, and those of another node's block. */

import { ContractError } from '../../contract/errors.ts';
import type { Decimal } from '../../ledger/decimal.ts';
import { LedgerFormatError, parseExactJsonBytes, stringifyExactJson } from '../../ledger/json.ts';
import type { ContractSettings } from '../options.ts';
import { whyRefused } from './checks.ts';
import type { Ground } from './environment.ts';
import { BuyGasError } from './gas-payment.ts';
import type { Mempool } from './mempool.ts';
import { failureOf } from './outcome.ts';
import { eventJson, outputJson } from './output.ts';
import { type ReadCommand, readCommand } from './read-command.ts';
import { payReward } from './reward.ts';
import { runPaid } from './run-command.ts';
import { type BlockContext, placeOf, type Ran, type Reward, type Transactions } from './transactions.ts';

interface RunCommand {
  /** JSON in UTF-8. */
  readonly output: Uint8Array;
  readonly gas: number;
}

export class BlockRunner implements Transactions {
  readonly #mempool: Mempool;
  readonly #settings: ContractSettings;
  #txId = 1_000_000;

  constructor(mempool: Mempool, settings: ContractSettings) {
    this.#mempool = mempool;
    this.#settings = settings;
  }

  reward(context: BlockContext, amount: Decimal): Reward {
    const { miner, state } = context;
    const ground = { ...this.#groundOf(context), state: state.next() };
    try {
      const events = payReward(ground, miner, amount);
      state.absorb(ground.state);
      return { events: events.map(eventJson) };
    } catch (error) {
      if (error instanceof ContractError) return { failure: failureOf(error, ground.words) };
      throw error;
    }
  }

  /** Commands whose gas can no longer be paid are dropped. Those that may use more gas than the block has left wait. */
  run(context: BlockContext): Ran {
    const { chain, parent, state } = context;
    const transactions: Uint8Array[] = [];
    const outputs: Uint8Array[] = [];
    let gasLeft = this.#settings.blockGasLimit;
    for (const sent of this.#mempool.forBlock(chain, state, parent.header.creationTimeUs)) {
      if (sent.payload.meta.gasLimit > gasLeft) continue;
      try {
        const { output, gas } = this.#runOne(sent, context);
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

  /** A command may name more gas than the block has left, as long as it takes no more. */
  replay(context: BlockContext, transactions: readonly Uint8Array[]): Uint8Array[] {
    let gasLeft = this.#settings.blockGasLimit;
    return transactions.map((bytes, index) => {
      const { output, gas } = this.#replayOne(bytes, index, context);
      gasLeft -= gas;
      if (gasLeft >= 0) return output;
      throw new LedgerFormatError(
        `transaction ${index}: the block takes more gas than ${this.#settings.blockGasLimit}`,
      );
    });
  }

  /** @throws LedgerFormatError if no block can contain the transaction here */
  #replayOne(bytes: Uint8Array, index: number, context: BlockContext): RunCommand {
    const read = readCommand(parseExactJsonBytes(bytes));
    try {
      const reason = this.#whyNotInBlock(read, context);
      if (reason === undefined) return this.#runOne(read, context);
      throw new LedgerFormatError(`transaction ${index}: ${reason}`);
    } catch (error) {
      if (error instanceof BuyGasError) throw new LedgerFormatError(`transaction ${index}: ${error.message}`);
      throw error;
    }
  }

  /** Changes the state, unless it throws. @throws BuyGasError if the gas cannot be paid */
  #runOne(read: ReadCommand, context: BlockContext): RunCommand {
    const { hash } = read.command;
    const { parent, miner, state } = context;
    const finished = runPaid(read, this.#groundOf(context), miner);
    state.setHeight(hash, parent.header.height + 1n);
    const events = this.#settings.outputEvents ? finished.events : undefined;
    const txId = 'data' in finished.outcome ? this.#txId++ : null;
    const json = outputJson({ ...finished, events, requestKey: hash, txId, hasLogs: true });
    return { output: Buffer.from(stringifyExactJson(json)), gas: finished.gas };
  }

  #groundOf({ chain, parent, state, hasAncestor }: BlockContext): Ground {
    return { state, chain, words: this.#settings.words, parent: placeOf(parent), hasAncestor };
  }

  #whyNotInBlock(read: ReadCommand, { chain, parent, state }: BlockContext): string | undefined {
    const known = { isOnChain: state.heightOf(read.command.hash) !== undefined, isBadlisted: false };
    return whyRefused(read, known, { chain, lastTimeUs: parent.header.creationTimeUs }, this.#settings);
  }
}
