/** The payloads of the next blocks: the mempool's transactions, their outputs, and the reward. */

import { type Decimal, parseDecimal } from '../../protocol/ledger/decimal.ts';
import {
  encodeBase64url,
  isExactJsonObject,
  LedgerFormatError,
  parseExactJsonBytes,
  stringifyExactJson,
} from '../../protocol/ledger/json.ts';
import { type Miner, type PayloadWithOutputs, parseMiner } from '../../protocol/ledger/payload.ts';
import { tableReward } from '../../protocol/ledger/reward.ts';
import type { ChainState } from '../execution/chain-state.ts';
import { failureJson } from '../execution/output.ts';
import type { NextBlock, Ran, Reward, Transactions } from '../execution/transactions.ts';
import { type Random, randomBytes } from '../random.ts';
import { type BlockPayload, rootsOf } from './block-store.ts';

interface PayloadSettings {
  readonly reward: string;
  readonly outputEvents: boolean;
  readonly chains: number;
}

const NOTHING: Ran = { transactions: [], outputs: [] };

/** Maximum number of miners whose encoded data are kept. */
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

  /** @returns why the miner of the block cannot be paid; undefined if the miner can be paid */
  whyUnpaid(next: NextBlock): string | undefined {
    const reward = this.#rewardOf(next, next.parent.payload.state.next());
    return 'failure' in reward ? reward.failure.message : undefined;
  }

  /**
   * Makes the payload of a block. If the miner cannot be paid, the block has no transactions, because nobody would get
   * their fees.
   * @returns a payload that differs from all earlier ones, even with the same transactions
   */
  make(next: NextBlock): BlockPayload {
    const state = next.parent.payload.state.next();
    const { coinbase, isPaid } = this.#payMiner(next, state);
    const { transactions, outputs } = isPaid ? this.#transactions.run({ ...next, state }) : NOTHING;
    const content = { minerData: this.#dataOf(next.miner), transactions, outputs, coinbase };
    return { ...content, ...rootsOf(content), state };
  }

  /**
   * Runs another node's payload, and compares the outputs.
   * @throws LedgerFormatError if the miner's data or an output is malformed, if an output differs, if the miner cannot
   *   be paid, or if the block cannot contain one of the transactions
   */
  replay(next: Omit<NextBlock, 'miner'>, payload: PayloadWithOutputs): BlockPayload {
    const state = next.parent.payload.state.next();
    const block = { ...next, miner: parseMiner(payload.minerData), state };
    const { coinbase, isPaid } = this.#payMiner(block, state);
    sameOutput('coinbase', payload.coinbase, coinbase);
    if (!isPaid) throw new LedgerFormatError('the miner cannot be paid');
    const outputs = this.#transactions.replay(block, payload.transactions);
    for (const [index, output] of outputs.entries()) sameOutput(`output ${index}`, payload.outputs[index], output);
    return { ...payload, state };
  }

  /** Pays the miner. The payment changes `state`, unless it fails. */
  #payMiner(next: NextBlock, state: ChainState): { readonly coinbase: Uint8Array; readonly isPaid: boolean } {
    const { parent } = next;
    const reward = this.#rewardOf(next, state);
    const coinbase = coinbaseOf({
      reward,
      parent: parent.id,
      logs: encodeBase64url(randomBytes(this.#random, 32)),
      txId: this.#txId++,
      hasEvents: this.#settings.outputEvents,
    });
    return { coinbase, isPaid: !('failure' in reward) };
  }

  #rewardOf(next: NextBlock, state: ChainState): Reward {
    return this.#transactions.reward({ ...next, state }, this.#amountAt(next.parent.header.height + 1n));
  }

  #amountAt(height: bigint): Decimal {
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

export function firstPayload(state: ChainState): BlockPayload {
  const miner = { account: 'NoMiner', predicate: 'keys-all', publicKeys: [] };
  const content = { minerData: minerDataOf(miner), transactions: [], outputs: [], coinbase: firstCoinbase() };
  return { ...content, ...rootsOf(content), state };
}

/** @returns a text that is equal for equal miners */
export function keyOf({ account, predicate, publicKeys }: Miner): string {
  return JSON.stringify([account, predicate, ...publicKeys]);
}

/**
 * Compares the outputs of two nodes without `logs` and `txId`, which differ between nodes.
 * @throws LedgerFormatError if the outputs differ
 */
function sameOutput(name: string, theirs: Uint8Array, own: Uint8Array): void {
  const [a, b] = [theirs, own].map((output) => {
    const json = parseExactJsonBytes(output);
    return isExactJsonObject(json) ? stringifyExactJson({ ...json, logs: null, txId: null }) : '';
  });
  if (a !== b) throw new LedgerFormatError(`${name}: is ${a}, but must be ${b}`);
}

/*
 * The JSON of the miner's data and of the coinbase. The coinbase is put together from strings, because that is faster
 * than `stringifyExactJson`, and miners wait for new payloads after every block.
 */

interface CoinbaseFacts {
  readonly reward: Reward;
  /** The hash of the block's parent on the same chain, 43 characters. */
  readonly parent: string;
  /** The field `logs`: 43 characters, different for each payload. */
  readonly logs: string;
  readonly txId: number;
  /** Whether the output has a list of events; outputs of old blocks have none. */
  readonly hasEvents: boolean;
}

/** @returns JSON in UTF-8 */
function minerDataOf({ account, predicate, publicKeys }: Miner): Uint8Array {
  return Buffer.from(JSON.stringify({ account, predicate, 'public-keys': publicKeys }));
}

/** @returns JSON in UTF-8 */
function coinbaseOf({ reward, parent, logs, txId, hasEvents }: CoinbaseFacts): Uint8Array {
  const [result, events] =
    'failure' in reward
      ? [`{"status":"failure","error":${stringifyExactJson(failureJson(reward.failure))}}`, []]
      : ['{"status":"success","data":"Write succeeded"}', reward.events];
  return Buffer.from(
    `{"gas":0,"result":${result},"reqKey":"${parent}","logs":"${logs}",` +
      `${hasEvents ? `"events":${stringifyExactJson(events)},` : ''}` +
      `"metaData":null,"continuation":null,"txId":${txId}}`,
  );
}

/** @returns the coinbase of a chain's first block. It pays nobody, and its request key is not the hash of a parent */
function firstCoinbase(): Uint8Array {
  const reqKey = encodeBase64url(Buffer.from('no parent'));
  return Buffer.from(
    `{"gas":0,"result":{"status":"success","data":"NO_COINBASE"},"reqKey":"${reqKey}","logs":null,` +
      '"metaData":null,"continuation":null,"txId":null}',
  );
}
