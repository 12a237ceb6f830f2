/**
 * What the mock's payloads say about their miners: the miner's data, and the coinbase. Both are written as text, because
 * a payload is made for every miner after every block, and a miner waits for it.
 */

import { encodeBase64url } from '../../ledger/base64url.ts';
import type { Miner } from '../../ledger/coinbase.ts';
import type { Decimal } from '../../ledger/decimal.ts';
import { stringifyExactJson } from '../../ledger/exact-json.ts';
import { decimalJson, MODULE_HASH } from '../contract/output.ts';

export interface CoinbaseFacts {
  /** The account that is paid. */
  readonly account: string;
  /** Undefined when the account's guard is another than the miner's, so that nobody is paid. */
  readonly amount: Decimal | undefined;
  /** The hash of the block's parent on the same chain, 43 characters. */
  readonly parent: string;
  /** 43 characters, different for each payload. */
  readonly logs: string;
  readonly txId: number;
  /** Whether there is an event with the amount; old blocks have none. */
  readonly hasEvents: boolean;
}

/** @returns JSON in UTF-8 */
export function minerDataOf({ account, predicate, publicKeys }: Miner): Uint8Array {
  return Buffer.from(JSON.stringify({ account, predicate, 'public-keys': publicKeys }));
}

/** @returns JSON in UTF-8 */
export function coinbaseOf({ account, amount, parent, logs, txId, hasEvents }: CoinbaseFacts): Uint8Array {
  const result =
    amount === undefined
      ? '{"status":"failure","error":{"callStack":[],"type":"TxFailure","message":"account guards do not match","info":""}}'
      : '{"status":"success","data":"Write succeeded"}';
  const events = hasEvents ? `"events":[${amount === undefined ? '' : eventOf(account, amount)}],` : '';
  return Buffer.from(
    `{"gas":0,"result":${result},"reqKey":"${parent}","logs":"${logs}",${events}` +
      `"metaData":null,"continuation":null,"txId":${txId}}`,
  );
}

/** The coinbase of a chain's first block pays nobody, and its request key is no block's hash. */
export function firstCoinbase(): Uint8Array {
  const reqKey = encodeBase64url(Buffer.from('no parent'));
  return Buffer.from(
    `{"gas":0,"result":{"status":"success","data":"NO_COINBASE"},"reqKey":"${reqKey}","logs":null,` +
      '"metaData":null,"continuation":null,"txId":null}',
  );
}

function eventOf(account: string, amount: Decimal): string {
  const params = `["",${JSON.stringify(account)},${stringifyExactJson(decimalJson(amount))}]`;
  const module = '"module":{"namespace":null,"name":"coin"}';
  return `{"params":${params},"name":"TRANSFER",${module},"moduleHash":"${MODULE_HASH}"}`;
}
