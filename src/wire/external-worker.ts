/**
 * What the reference client and an external worker say to each other: the target is the worker's argument, the header's
 * 286 bytes come on its stdin, and it prints one line with the nonce. Pure.
 */

import { NONCE_BYTES, TARGET_BYTES, toHex } from '../chain/bytes.ts';

/** The lengths of the words, in bytes, whose order programs have confused. With 32, it is the whole number. */
const WORDS = [1, 4, 8, TARGET_BYTES];
/** Far more than a nonce and two numbers. */
const MOST_CHARACTERS = 256;

/** What a worker prints. The hashes and the rate are what it claims. */
export interface ExternalAnswer {
  readonly nonce: bigint;
  /** Number of nonces that it has tried, in all and per second. */
  readonly hashes?: number;
  readonly hashesPerSecond?: number;
}

/** Whether an argument is 64 hex digits. */
export function isTargetArgument(text: string): boolean {
  return text.length === 2 * TARGET_BYTES && /^[\da-f]+$/i.test(text);
}

/**
 * Whether an argument means this target. It may be written little-endian, big-endian, or as the reference client writes
 * it: words of 8 bytes, the least significant word first, and the most significant byte of each word first.
 * @param target 32 bytes, little-endian
 */
export function meansTarget(argument: string, target: Uint8Array): boolean {
  return WORDS.some((length) => toHex(withReversedWords(target, length)) === argument.toLowerCase());
}

/** @returns what a worker gets as its argument: 64 hex digits, little-endian */
export function targetArgument(target: Uint8Array): string {
  return toHex(target);
}

function withReversedWords(bytes: Uint8Array, length: number): Uint8Array {
  return bytes.map((_, i) => bytes[i - (i % length) + (length - 1 - (i % length))]);
}

/**
 * @returns the line that a worker prints: the nonce as 16 hex digits, the most significant first; hashes; hashes per
 *   second
 */
export function formatAnswer({ nonce, hashes, hashesPerSecond }: Required<ExternalAnswer>): string {
  const digits = nonce.toString(16).padStart(2 * NONCE_BYTES, '0');
  return `${digits} ${Math.round(hashes)} ${Math.round(hashesPerSecond)}\n`;
}

/** @returns undefined when the line is not what a worker prints */
export function parseAnswer(line: string): ExternalAnswer | undefined {
  if (line.length > MOST_CHARACTERS) return undefined;
  const match = /^\s*([\da-f]{16})(?:\s+(\d+(?:\.\d*)?)\s+(\d+(?:\.\d*)?))?\s*$/i.exec(line);
  if (!match) return undefined;
  const [, digits, hashes, hashesPerSecond] = match;
  const nonce = BigInt(`0x${digits}`);
  return hashes === undefined ? { nonce } : { nonce, hashes: Number(hashes), hashesPerSecond: Number(hashesPerSecond) };
}
