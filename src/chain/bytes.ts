/** Helpers for bytes. Hex text is in wire order, two digits per byte; `toHex` writes lower case. */

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';

export { bytesToHex as toHex };

/** @throws Error when `hex` is not an even number of hex digits. */
export function fromHex(hex: string): Uint8Array {
  return hexToBytes(hex);
}

/** @returns a view of the same memory, for reading and writing integers in place */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
