/** What the miner of a block earned: new coins, and the fees of its transactions. */

import { z } from 'zod';
import { equalBytes } from '../chain/bytes.ts';
import { encodeBase64url } from './base64url.ts';
import { type Coinbase, type Miner, parseCoinbase, parseMiner } from './coinbase.ts';
import { type Decimal, formatDecimal, metaDecimalOf } from './decimal.ts';
import { LedgerFormatError } from './errors.ts';
import { type ExactJson, parseExactJson, parseExactJsonBytes } from './exact-json.ts';
import { checked, MAX_U64, natural, reading } from './fields.ts';
import { chainsAt } from './graphs.ts';
import type { BlockHeader } from './header.ts';
import { checkPayload, type PayloadWithOutputs } from './payload.ts';
import { tableReward } from './reward-table.ts';
import { COIN, transfersOf } from './transfers.ts';
import { networkOf } from './version-codes.ts';

/** `account` and its keys are those that the block pays. */
export interface BlockReward extends Miner {
  /** The new coins. Undefined for an old block of a network whose rewards are not known. */
  readonly reward: Decimal | undefined;
  /** What the senders of the block's transactions paid, all together. */
  readonly fees: Decimal;
}

const SignedCommand = z.object({ cmd: z.string() });
const Command = z.object({
  meta: z.object({ sender: z.string(), gasPrice: reading(z.custom<ExactJson>(), metaDecimalOf) }),
});
const Output = z.object({ gas: natural(MAX_U64) });

/**
 * Proves the payload against the header, and reads what the block's miner earned.
 * @param token the module that keeps the coins
 * @throws LedgerFormatError when the payload is not the header's, when the coinbase belongs to another block, when it
 * pays another account than the miner's, and for outputs that are not what they must be.
 */
export function rewardOf(header: BlockHeader, payload: PayloadWithOutputs, token: string = COIN): BlockReward {
  checkPayload(payload, header.payloadHash);
  const miner = parseMiner(payload.minerData);
  const { account } = miner;
  const coinbase = parseCoinbase(payload.coinbase, token);
  if (coinbase.outcome !== 'none' && !equalBytes(coinbase.parent, header.parent)) {
    const [said, parent] = [coinbase.parent, header.parent].map(encodeBase64url);
    throw new LedgerFormatError(`coinbase.reqKey holds ${said}, but the block's parent is ${parent}`);
  }
  return { ...miner, reward: newCoins(header, coinbase, account), fees: feesOf(payload, account, token) };
}

/**
 * The fees: for each transaction, its gas times its gas price. They are paid by the transaction's own output, which
 * says so in blocks that have events.
 * @param account the miner's
 * @throws LedgerFormatError for transactions and outputs that are not what they must be, and for an output with events
 * but without the payment to the miner.
 */
export function feesOf(payload: PayloadWithOutputs, account: string, token: string = COIN): Decimal {
  return payload.transactions.reduce((sum, transaction, i) => {
    const { cmd } = checked(SignedCommand, parseExactJsonBytes(transaction), `transactions.${i}`);
    const { meta } = checked(Command, parseExactJson(cmd), `transactions.${i}.cmd`);
    const output = parseExactJsonBytes(payload.outputs[i]);
    const fee = checked(Output, output, `outputs.${i}`).gas * meta.gasPrice;
    const paid = transfersOf(output, token)?.some(
      (it) => it.sender === meta.sender && it.receiver === account && it.amount === fee,
    );
    if (paid === false && fee !== 0n) {
      throw new LedgerFormatError(`outputs.${i} does not pay the fee of ${formatDecimal(fee)} to ${account}`);
    }
    return sum + fee;
  }, 0n);
}

function newCoins(header: BlockHeader, { outcome, transfers }: Coinbase, account: string): Decimal | undefined {
  if (outcome !== 'paid') return 0n;
  if (!transfers) return rewardByTable(header);
  const reward = transfers.find(({ sender }) => sender === '');
  if (!reward) throw new LedgerFormatError('coinbase: no event says what the miner was paid');
  if (reward.receiver !== account) {
    throw new LedgerFormatError(`coinbase: the reward went to ${reward.receiver}, but the miner is ${account}`);
  }
  return reward.amount;
}

/** @returns the new coins of a block on mainnet01 or testnet04; undefined on other networks, whose rewards are not known */
export function rewardByTable({ version, height }: Pick<BlockHeader, 'version' | 'height'>): Decimal | undefined {
  const chains = chainsAt(networkOf(version), height);
  return chains === undefined ? undefined : tableReward(height, chains);
}
