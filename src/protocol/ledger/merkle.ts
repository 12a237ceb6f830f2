/**
 * The ledger's Merkle trees: SHA-512/256 (FIPS 180-4), with different prefixes for leaves and nodes as in RFC 6962
 * §2.1. In a tree of n leaves, the left subtree has k leaves, where k is the largest power of two below n. A leaf that
 * is a hash is not hashed again.
 */

import { hash } from 'node:crypto';

export const HASH_BYTES = 32;

export interface MerkleStep {
  /** The side on which the sibling is. */
  readonly side: 'left' | 'right';
  /** The sibling's hash, 32 bytes. */
  readonly hash: Uint8Array;
}

/** Node.js’s SHA-512/256 is native. That of `@noble/hashes` is half as fast, and V8 may stop optimizing its code. */
const digest = (bytes: Uint8Array) => new Uint8Array(hash('sha512-256', bytes, 'buffer'));

/** @param tag the kind of data, 2 bytes @returns SHA-512/256 of `0x00 || tag || bytes`, with the tag big-endian */
export function leafHash(tag: number, bytes: Uint8Array): Uint8Array {
  const input = new Uint8Array(3 + bytes.length);
  input.set([0, tag >> 8, tag & 0xff]);
  input.set(bytes, 3);
  return digest(input);
}

/** @returns SHA-512/256 of `0x01 || left || right` */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  const input = new Uint8Array(1 + 2 * HASH_BYTES);
  input[0] = 1;
  input.set(left, 1);
  input.set(right, 1 + HASH_BYTES);
  return digest(input);
}

/** @param hashes the leaves, 32 bytes each @returns the root, 32 bytes; for no leaves, SHA-512/256 of no bytes */
export function merkleRoot(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 0) return digest(new Uint8Array());
  if (hashes.length === 1) return hashes[0];
  const split = splitOf(hashes.length);
  return nodeHash(merkleRoot(hashes.slice(0, split)), merkleRoot(hashes.slice(split)));
}

export function merklePath(hashes: readonly Uint8Array[], index: number): MerkleStep[] {
  if (index < 0 || index >= hashes.length) throw new RangeError(`there is no leaf ${index} of ${hashes.length}`);
  if (hashes.length === 1) return [];
  const split = splitOf(hashes.length);
  const [left, right] = [hashes.slice(0, split), hashes.slice(split)];
  return index < split
    ? [...merklePath(left, index), { side: 'right', hash: merkleRoot(right) }]
    : [...merklePath(right, index - split), { side: 'left', hash: merkleRoot(left) }];
}

/** @returns the sides of the siblings on the path from a leaf to the root: an L or an R for each sibling */
export function sidesOf(index: number, leaves: number): string {
  if (leaves === 1) return '';
  const split = splitOf(leaves);
  return index < split ? `${sidesOf(index, split)}R` : `${sidesOf(index - split, leaves - split)}L`;
}

export function rootOfPath(leaf: Uint8Array, steps: readonly MerkleStep[]): Uint8Array {
  return steps.reduce(
    (hash, step) => (step.side === 'left' ? nodeHash(step.hash, hash) : nodeHash(hash, step.hash)),
    leaf,
  );
}

/** @param leaves at least 2 @returns the largest power of two below `leaves` */
function splitOf(leaves: number): number {
  return 2 ** Math.floor(Math.log2(leaves - 1));
}
