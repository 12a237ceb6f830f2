/** Payloads as nodes answer with them, and as a node answers that lies about the reward. */

import type { ExactJsonObject } from '../../ledger/exact-json.ts';
import { type PayloadWithOutputs, payloadToJson, payloadWithOutputsToJson } from '../../ledger/payload.ts';
import type { Fault } from './faults.ts';

/** @param outputs whether outputs and coinbase are told, too */
export function payloadJson(payload: PayloadWithOutputs, outputs: boolean, fault: Fault | undefined): ExactJsonObject {
  if (!outputs) return payloadToJson(payload);
  const told = fault?.kind === 'wrong-reward' ? { ...payload, coinbase: withMore(payload.coinbase) } : payload;
  return payloadWithOutputsToJson(told);
}

/** @returns the coinbase with another amount, as JSON still */
function withMore(coinbase: Uint8Array): Uint8Array {
  const text = Buffer.from(coinbase).toString();
  return Buffer.from(text.replace(/("params":\["","[^"]*",)/, '$11'));
}
