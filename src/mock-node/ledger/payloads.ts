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

/** Maximum number of miners whose data are kept. */
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

  /** @returns why a miner cannot be paid on a chain; undefined if that is possible */
  whyUnpaid(next: NextBlock): string | undefined {
    const reward = this.#rewardOf(next, next.parent.payload.state.next());
    return 'failure' in reward ? reward.failure.message : undefined;
  }

  /**
   * A miner who cannot be paid gets no fees either, so the block has no transactions.
   * @returns the payload of a block. No two are equal, even with the same transactions
   */
  make(next: NextBlock): BlockPayload {
    const state = next.parent.payload.state.next();
    const { coinbase, isPaid } = this.#payMiner(next, state);
    const { transactions, outputs } = isPaid ? this.#transactions.run({ ...next, state }) : NOTHING;
    const content = { minerData: this.#dataOf(next.miner), transactions, outputs, coinbase };
    return { ...content, ...rootsOf(content), state };
  }

  /** Runs another node's payload, and compares the outputs. @throws LedgerFormatError if they differ */
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

  /** Pays the miner, which changes the state unless the payment fails. */
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

/** @returns a key that is equal for equal miners */
export function keyOf({ account, predicate, publicKeys }: Miner): string {
  return [account, predicate, ...publicKeys].join('\n');
}

/** Nodes have equal outputs apart from logs and transaction number, which differ between nodes. */
function sameOutput(name: string, theirs: Uint8Array, own: Uint8Array): void {
  const [a, b] = [theirs, own].map((output) => {
    const json = parseExactJsonBytes(output);
    return isExactJsonObject(json) ? stringifyExactJson({ ...json, logs: null, txId: null }) : '';
  });
  if (a !== b) throw new LedgerFormatError(`${name}: is ${a}, but must be ${b}`);
}

/* The miner's data and the coinbase, written as text for speed: miners wait for new payloads after every block. */

interface CoinbaseFacts {
  readonly reward: Reward;
  /** The hash of the block's parent on the same chain, 43 characters. */
  readonly parent: string;
  /** 43 characters, different for each payload. */
  readonly logs: string;
  readonly txId: number;
  /** Whether there is an event with the amount; old blocks have none. */
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

/** The coinbase of a chain's first block pays nobody, and its request key is not a block's hash. */
function firstCoinbase(): Uint8Array {
  const reqKey = encodeBase64url(Buffer.from('no parent'));
  return Buffer.from(
    `{"gas":0,"result":{"status":"success","data":"NO_COINBASE"},"reqKey":"${reqKey}","logs":null,` +
      '"metaData":null,"continuation":null,"txId":null}',
  );
}
