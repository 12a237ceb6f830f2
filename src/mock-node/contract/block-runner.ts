/** Runs the commands of the mempool for a block that is being made. */

import { stringifyExactJson } from '../../ledger/exact-json.ts';
import type { ContractSettings } from '../options.ts';
import type { Mempool } from './mempool.ts';
import { outputJson } from './output.ts';
import { BuyGasError, type Finished, runPaid } from './run-command.ts';
import type { BlockContext, Ran, Transactions } from './transactions.ts';

export class BlockRunner implements Transactions {
  readonly #mempool: Mempool;
  readonly #settings: ContractSettings;
  #txId = 1_000_000;

  constructor(mempool: Mempool, settings: ContractSettings) {
    this.#mempool = mempool;
    this.#settings = settings;
  }

  /** Commands whose gas cannot be paid any more are dropped. */
  run({ chain, parent, miner, state, hasAncestor }: BlockContext): Ran {
    const { words, chains, outputEvents } = this.#settings;
    const transactions: Uint8Array[] = [];
    const outputs: Uint8Array[] = [];
    for (const { command, payload, bytes } of this.#mempool.forBlock(chain, state, parent.header.creationTimeUs)) {
      const attempt = state.next();
      let finished: Finished;
      try {
        finished = runPaid(command.hash, payload, { state: attempt, chain, chains, words, hasAncestor }, miner);
      } catch (error) {
        if (!(error instanceof BuyGasError)) throw error;
        this.#mempool.drop(chain, command.hash);
        continue;
      }
      state.absorb(attempt);
      state.setHeight(command.hash, parent.header.height + 1n);
      const events = outputEvents ? finished.events : undefined;
      const output = outputJson({ ...finished, events, requestKey: command.hash, txId: this.#txId++ });
      transactions.push(bytes);
      outputs.push(Buffer.from(stringifyExactJson(output)));
    }
    return { transactions, outputs };
  }
}
