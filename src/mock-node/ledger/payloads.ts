/** Makes the payloads of the next blocks: the transactions of the mempool, what they have come to, and the reward. */

import { encodeBase64url } from '../../ledger/base64url.ts';
import type { Miner } from '../../ledger/coinbase.ts';
import { type Decimal, parseDecimal } from '../../ledger/decimal.ts';
import { tableReward } from '../../ledger/reward-table.ts';
import { type CoinState, type Guard, sameGuard } from '../contract/state.ts';
import type { NextBlock, Transactions } from '../contract/transactions.ts';
import { type Random, randomBytes } from '../random.ts';
import type { BlockPayload } from './block.ts';
import { coinbaseOf, firstCoinbase, minerDataOf } from './coinbase.ts';
import { rootsOf } from './hashes.ts';

export interface PayloadSettings {
  /** What each block pays: `table` is what mainnet01 pays at that height; otherwise an amount. */
  readonly reward: string;
  /** Whether outputs have events, as in all but old blocks. */
  readonly outputEvents: boolean;
  readonly chains: number;
}

/** How many miners' data are remembered. */
const MAX_MINERS = 1000;

export class PayloadMaker {
  readonly #settings: PayloadSettings;
  readonly #random: Random;
  readonly #transactions: Transactions;
  readonly #minerData = new Map<string, Uint8Array>();
  #txId = 0;

  constructor(settings: PayloadSettings, transactions: Transactions, random: Random) {
    this.#settings = settings;
    this.#transactions = transactions;
    this.#random = random;
  }

  /** @returns the payload of a block. No two are the same, even with the same transactions */
  make(next: NextBlock): BlockPayload {
    const { parent, miner } = next;
    const state = parent.payload.state.next();
    const height = parent.header.height + 1n;
    const pays = canBePaid(state, miner);
    const amount = pays ? this.#reward(height) : undefined;
    if (amount !== undefined) credit(state, miner, amount);
    const { transactions, outputs } = this.#transactions.run({ ...next, state });
    const coinbase = coinbaseOf({
      account: miner.account,
      amount,
      parent: parent.id,
      logs: encodeBase64url(randomBytes(this.#random, 32)),
      txId: this.#txId++,
      hasEvents: this.#settings.outputEvents,
    });
    const content = { minerData: this.#dataOf(miner), transactions, outputs, coinbase };
    return { ...content, ...rootsOf(content), state };
  }

  #reward(height: bigint): Decimal {
    const { reward, chains } = this.#settings;
    return reward === 'table' ? tableReward(height, chains) : parseDecimal(reward);
  }

  #dataOf(miner: Miner): Uint8Array {
    const key = keyOf(miner);
    let data = this.#minerData.get(key);
    if (!data) {
      if (this.#minerData.size >= MAX_MINERS) this.#minerData.clear();
      data = minerDataOf(miner);
      this.#minerData.set(key, data);
    }
    return data;
  }
}

/** The payload of a chain's first block. */
export function firstPayload(state: CoinState): BlockPayload {
  const miner = { account: 'NoMiner', predicate: 'keys-all', publicKeys: [] };
  const content = { minerData: minerDataOf(miner), transactions: [], outputs: [], coinbase: firstCoinbase() };
  return { ...content, ...rootsOf(content), state };
}

/** Whether the miner's account does not exist yet, or has the miner's own guard. */
export function canBePaid(state: CoinState, miner: Miner): boolean {
  const account = state.account(miner.account);
  return account === undefined || sameGuard(account.guard, guardOf(miner));
}

/** @returns a text that is the same for the same miner */
export function keyOf({ account, predicate, publicKeys }: Miner): string {
  return [account, predicate, ...publicKeys].join('\n');
}

function credit(state: CoinState, miner: Miner, amount: Decimal): void {
  const { balance = 0n } = state.account(miner.account) ?? {};
  state.setAccount(miner.account, { balance: balance + amount, guard: guardOf(miner) });
}

function guardOf({ publicKeys, predicate }: Miner): Guard {
  return { keys: publicKeys, pred: predicate };
}
