/** Byte helpers. Hex is lower case, two digits a byte, in wire order. */

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';

export { bytesToHex as toHex };

/** @throws Error when `hex` is not an even number of hex digits. */
export function fromHex(hex: string): Uint8Array {
  return hexToBytes(hex);
}

/** A view for reading and writing little-endian integers in place. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
