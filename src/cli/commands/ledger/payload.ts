/** `pickaxe ledger payload`: what a block contains, proven against the hash that was asked for. */

import type { Loaded } from '../../../config/load.ts';
import { encodeBase64url } from '../../../ledger/base64url.ts';
import { parseCoinbase } from '../../../ledger/coinbase.ts';
import { formatDecimal } from '../../../ledger/decimal.ts';
import { payloadToJson, payloadWithOutputsToJson } from '../../../ledger/payload.ts';
import { withNode } from './client.ts';
import { accountIn, printJson, printTable, safe } from './print.ts';

export interface PayloadOptions {
  readonly json: boolean;
  readonly height?: number;
  readonly outputs: boolean;
}

/** @param payloadHash 32 bytes */
export function runPayload(
  loaded: Loaded,
  chain: number,
  payloadHash: Uint8Array,
  { json, outputs, ...query }: PayloadOptions,
): Promise<number> {
  return withNode(loaded, async (api) => {
    if (!outputs) {
      const payload = await api.payload(chain, payloadHash, query);
      return json ? printJson(payloadToJson(payload)) : printTable(rowsOf(payload));
    }
    const payload = await api.payloadWithOutputs(chain, payloadHash, query);
    if (json) return printJson(payloadWithOutputsToJson(payload));
    const { outcome, transfers = [] } = parseCoinbase(payload.coinbase);
    const paid = transfers.map(({ receiver, amount }) => `${formatDecimal(amount)} to ${safe(receiver)}`);
    printTable([...rowsOf(payload), ['coinbase', [outcome, ...paid].join(', ')]]);
  });
}

function rowsOf(payload: Parameters<typeof payloadToJson>[0]): (readonly [string, string])[] {
  return [
    ['payload hash', encodeBase64url(payload.payloadHash)],
    ['transactions hash', encodeBase64url(payload.transactionsHash)],
    ['outputs hash', encodeBase64url(payload.outputsHash)],
    ['miner', accountIn(payload)],
    ['transactions', `${payload.transactions.length}`],
  ];
}
