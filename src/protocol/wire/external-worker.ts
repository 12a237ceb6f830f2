/**
 * The protocol of the reference client and an external worker: the target is an argument, the header's 286 bytes come
 * on stdin, and the worker prints one line with the nonce. Pure.
 */

import { NONCE_BYTES, TARGET_BYTES, toHex } from '../chain/bytes.ts';

/** Programs reverse the bytes within each word of a target. These are the words' lengths in bytes; 1 reverses none. */
const WORDS = [1, 4, 8, TARGET_BYTES];
/** Maximum length of a worker's line, in characters. A nonce and two numbers have about 60. */
const MOST_CHARACTERS = 256;

/** A worker's answer. Its hashes and its rate are unproven. */
export interface ExternalAnswer {
  readonly nonce: bigint;
  /** Number of nonces that were tried, in total and per second. */
  readonly hashes?: number;
  readonly hashesPerSecond?: number;
}

export function isTargetArgument(text: string): boolean {
  return text.length === 2 * TARGET_BYTES && /^[\da-f]+$/i.test(text);
}

/**
 * Whether an argument means this target. It may be written little-endian, big-endian, or like the reference client: in
 * words of 8 bytes, least significant word first, each with its most significant byte first.
 * @param target 32 bytes, little-endian
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

/** @returns the worker's line: the nonce in 16 hex digits, most significant first; hashes; hashes per second */
export function formatAnswer({ nonce, hashes, hashesPerSecond }: Required<ExternalAnswer>): string {
  const digits = nonce.toString(16).padStart(2 * NONCE_BYTES, '0');
  return `${digits} ${Math.round(hashes)} ${Math.round(hashesPerSecond)}\n`;
}

/** @returns undefined if the line is malformed */
export function parseAnswer(line: string): ExternalAnswer | undefined {
  if (line.length > MOST_CHARACTERS) return undefined;
  const match = /^\s*([\da-f]{16})(?:\s+(\d+(?:\.\d*)?)\s+(\d+(?:\.\d*)?))?\s*$/i.exec(line);
  if (!match) return undefined;
  const [, digits, hashes, hashesPerSecond] = match;
  const nonce = BigInt(`0x${digits}`);
  return hashes === undefined ? { nonce } : { nonce, hashes: Number(hashes), hashesPerSecond: Number(hashesPerSecond) };
}
