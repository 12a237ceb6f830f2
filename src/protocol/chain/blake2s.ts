/**
 * The blake2s compression function F (RFC 7693 §3.2). It compresses a header in message blocks of 64 bytes. A miner
 * compresses the first four message blocks once per job, and the last message block once per nonce.
 */

/** The initialization vector: 8 words (RFC 7693 §2.6). */
export const IV = Uint32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);

/** The order of the message words in each of the 10 rounds (RFC 7693 §2.7). */
export const SIGMA: readonly (readonly number[])[] = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/**
 * Indices of the state words that each of the 8 G functions of a round mixes: 4 columns, 4 diagonals (RFC 7693 §3.2).
 */
export const QUADS: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];

/** Word 0 of the parameter block of blake2s-256 without a key: digest length 32, fanout 1, depth 1 (RFC 7693 §2.5). */
const PARAMETERS = 0x01010020;

/** The size of a message block, in 32-bit words and in bytes. */
export const BLOCK_WORDS = 16;
export const BLOCK_BYTES = 64;

/** @returns the chaining value before the first message block: 8 words */
export function initialState(): Uint32Array {
  const h = IV.slice();
  h[0] ^= PARAMETERS;
  return h;
}

const rotr = (x: number, n: number): number => (x >>> n) | (x << (32 - n));

/**
 * Compresses one message block into `h` in place.
 * @param h 8 words, the chaining value
 * @param m 16 words, the message block
 * @param bytesSoFar number of message bytes up to the end of this message block; less than 2^32
 * @param last whether this is the last message block
 */
export function compress(h: Uint32Array, m: Uint32Array, bytesSoFar: number, last: boolean): void {
  const v = new Uint32Array(16);
  v.set(h);
  v.set(IV, 8);
  v[12] ^= bytesSoFar;
  if (last) v[14] = ~v[14];
  for (const order of SIGMA) {
    for (let g = 0; g < 8; g++) {
      const [a, b, c, d] = QUADS[g];
      v[a] += v[b] + m[order[2 * g]];
      v[d] = rotr(v[d] ^ v[a], 16);
      v[c] += v[d];
      v[b] = rotr(v[b] ^ v[c], 12);
      v[a] += v[b] + m[order[2 * g + 1]];
      v[d] = rotr(v[d] ^ v[a], 8);
      v[c] += v[d];
      v[b] = rotr(v[b] ^ v[c], 7);
    }
  }
  for (let i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
}

/** @returns `count` little-endian 32-bit words from `offset` on. Bytes after the end of `bytes` count as zero */
export function readWords(bytes: Uint8Array, offset: number, count: number): Uint32Array {
  const padded = new Uint8Array(count * 4);
  padded.set(bytes.subarray(offset, offset + count * 4));
  const view = new DataView(padded.buffer);
  return Uint32Array.from({ length: count }, (_, i) => view.getUint32(4 * i, true));
}
