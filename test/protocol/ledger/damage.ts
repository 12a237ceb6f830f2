/** Damages bytes and texts, in one place at a time. */

import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';

/**
 * @param stride changes one byte of `stride`, and the last one @yields the bytes with one byte changed, in three ways
 */
export function* damaged(bytes: Uint8Array, stride = 1): Generator<Uint8Array> {
  for (let i = 0; i < bytes.length; i++) {
    if (i % stride !== 0 && i !== bytes.length - 1) continue;
    for (const mask of [0x01, 0x80, 0xff]) {
      const copy = Uint8Array.from(bytes);
      copy[i] ^= mask;
      yield copy;
    }
  }
}

/** @param stride changes one character of `stride`, and the last one @yields the text with one character changed */
export function* damagedText(text: string, stride = 1): Generator<string> {
  for (let i = 0; i < text.length; i++) {
    if (i % stride !== 0 && i !== text.length - 1) continue;
    yield text.slice(0, i) + String.fromCharCode(text.charCodeAt(i) ^ 1) + text.slice(i + 1);
  }
}

/**
 * Runs a reader on damaged input.
 * @returns the thrown LedgerFormatError; undefined if nothing is thrown
 * @throws every other error
 */
export function refusalOf(read: () => unknown): LedgerFormatError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof LedgerFormatError) return error;
    throw error;
  }
}
