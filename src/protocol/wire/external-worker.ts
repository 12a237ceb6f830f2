/**
 * The protocol between the reference client and an external worker. The worker gets the target as an argument and the
 * header's 286 bytes on stdin, and prints one line with the nonce. Pure.
 */

import { NONCE_BYTES, TARGET_BYTES, toHex } from '../chain/bytes.ts';

/**
 * Lengths of words, in bytes. A program that starts a worker may reverse the bytes within each word of a target, for
 * one of these lengths. A length of 1 reverses nothing.
 */
const WORDS = [1, 4, 8, TARGET_BYTES];
/** Maximum length of a worker's line, in characters. A line with a nonce and two numbers has about 60. */
const MOST_CHARACTERS = 256;

/** A worker's answer. Its `hashes` and `hashesPerSecond` cannot be checked. */
export interface ExternalAnswer {
  readonly nonce: bigint;
  /** Number of nonces that the worker has tried. Absent, as is `hashesPerSecond`, if the line has only a nonce. */
  readonly hashes?: number;
  readonly hashesPerSecond?: number;
}

export function isTargetArgument(text: string): boolean {
  return text.length === 2 * TARGET_BYTES && /^[\da-f]+$/i.test(text);
}

/**
 * @param argument the target in hex digits: little-endian, big-endian, or as big-endian words of 4 or 8 bytes, of which
 *   the least significant word is the first. The reference client writes words of 8 bytes
 * @param target 32 bytes, little-endian
 * @returns whether the argument means this target
 */
export function meansTarget(argument: string, target: Uint8Array): boolean {
  return WORDS.some((length) => toHex(withReversedWords(target, length)) === argument.toLowerCase());
}

/** @returns the worker's argument: 64 hex digits, little-endian */
export function targetArgument(target: Uint8Array): string {
  return toHex(target);
}

function withReversedWords(bytes: Uint8Array, length: number): Uint8Array {
  return bytes.map((_, i) => bytes[i - (i % length) + (length - 1 - (i % length))]);
}

/** @returns the worker's line: the nonce in 16 hex digits, most significant first, then hashes and hashes per second */
export function formatAnswer({ nonce, hashes, hashesPerSecond }: Required<ExternalAnswer>): string {
  const digits = nonce.toString(16).padStart(2 * NONCE_BYTES, '0');
  return `${digits} ${Math.round(hashes)} ${Math.round(hashesPerSecond)}\n`;
}

/** @returns the answer in a worker's line; undefined if the line is malformed */
export function parseAnswer(line: string): ExternalAnswer | undefined {
  if (line.length > MOST_CHARACTERS) return undefined;
  const match = /^\s*([\da-f]{16})(?:\s+(\d+(?:\.\d*)?)\s+(\d+(?:\.\d*)?))?\s*$/i.exec(line);
  if (!match) return undefined;
  const [, digits, hashes, hashesPerSecond] = match;
  const nonce = BigInt(`0x${digits}`);
  return hashes === undefined ? { nonce } : { nonce, hashes: Number(hashes), hashesPerSecond: Number(hashesPerSecond) };
}
