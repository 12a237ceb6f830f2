/**
 * The binary forms of payloads, in which real nodes also answer. Texts have their length in front, and lists their number of
 * items: 8 bytes each, big-endian.
 */

import type { Payload, PayloadRoots, PayloadWithOutputs } from '../../ledger/payload.ts';

export function payloadBytes(payload: Payload): Uint8Array {
  const { transactions, minerData } = payload;
  return Buffer.concat([count(transactions.length), ...transactions.map(text), text(minerData), roots(payload)]);
}

export function payloadWithOutputsBytes(payload: PayloadWithOutputs): Uint8Array {
  const { transactions, outputs, minerData, coinbase } = payload;
  const pairs = transactions.flatMap((each, i) => [text(each), text(outputs[i])]);
  return Buffer.concat([count(transactions.length), ...pairs, text(minerData), text(coinbase), roots(payload)]);
}

/** @param items one binary form each */
export function listBytes(items: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([count(items.length), ...items]);
}

function text(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([count(bytes.length), bytes]);
}

function count(items: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(items));
  return bytes;
}

/** The order is another than that in JSON. */
function roots({ payloadHash, transactionsHash, outputsHash }: PayloadRoots): Uint8Array {
  return Buffer.concat([payloadHash, transactionsHash, outputsHash]);
}
