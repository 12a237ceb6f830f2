/**
 * The hashes of blocks and payloads, made with OpenSSL from the bytes themselves: a miner waits for them, and what
 * checks them (`ledger/header.ts` and `ledger/payload.ts`) shares nothing with what made them.
 */

import { hash } from 'node:crypto';
import type { PayloadContent, PayloadRoots } from '../../ledger/payload.ts';

/**
 * A header's fields up to its adjacents, and after them: the tag of the leaf, or none for a hash, and its length in
 * bytes.
 */
type Field = readonly [tag: number | undefined, length: number];
const BEFORE: readonly Field[] = [
  [0x06, 8],
  [0x07, 8],
  [undefined, 32],
];
const AFTER: readonly Field[] = [
  [0x11, 32],
  [undefined, 32],
  [0x02, 4],
  [0x04, 32],
  [0x03, 8],
  [0x08, 4],
  [0x19, 8],
  [0x20, 8],
];
/** What comes before the two hashes of an inner node. */
const NODE = Uint8Array.of(1);
const ADJACENTS_OFFSET = 50;
const ADJACENT_BYTES = 36;
const AFTER_BYTES = AFTER.reduce((sum, [, length]) => sum + length, 0);

/** @param header without its hash @returns the block hash, 32 bytes */
export function blockHashOf(header: Uint8Array): Uint8Array {
  const end = header.length - AFTER_BYTES;
  const adjacents: Uint8Array[] = [];
  for (let at = ADJACENTS_OFFSET; at < end; at += ADJACENT_BYTES) {
    adjacents.push(header.subarray(at + 4, at + ADJACENT_BYTES));
  }
  return rootOf([...leavesIn(header, 0, BEFORE), ...leavesIn(header, end, AFTER), ...adjacents]);
}

/** @returns the three roots of a payload */
export function rootsOf({ minerData, transactions, coinbase, outputs }: PayloadContent): PayloadRoots {
  const transactionsHash = rootOf([leaf(0x17, minerData), ...transactions.map((each) => leaf(0x13, each))]);
  const outputsHash = rootOf([leaf(0x18, coinbase), ...outputs.map((each) => leaf(0x14, each))]);
  return { transactionsHash, outputsHash, payloadHash: rootOf([transactionsHash, outputsHash]) };
}

function leavesIn(header: Uint8Array, start: number, fields: readonly Field[]): Uint8Array[] {
  let at = start;
  return fields.map(([tag, length]) => {
    const bytes = header.subarray(at, at + length);
    at += length;
    return tag === undefined ? bytes : leaf(tag, bytes);
  });
}

function rootOf(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 1) return hashes[0];
  const split = 2 ** Math.floor(Math.log2(hashes.length - 1));
  return truncatedSha512(Buffer.concat([NODE, rootOf(hashes.slice(0, split)), rootOf(hashes.slice(split))]));
}

function leaf(tag: number, bytes: Uint8Array): Uint8Array {
  return truncatedSha512(Buffer.concat([Uint8Array.of(0, 0, tag), bytes]));
}

/** SHA-512/256. @returns a plain Uint8Array of its own, so that comparisons do not see a Buffer */
function truncatedSha512(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(hash('sha512-256', bytes, 'buffer'));
}
