/**
 * The order in which the contract tool writes the keys of an object: that of a hash table, whose hash is FNV-1 with 64
 * bits over UTF-16LE, and which looks at 4 bits of the hash at a time, the lowest first.
 */

const START = -2578643520546668380n;
const PRIME = 16777619n;
/** How many hex digits, of 4 bits each, a hash has. */
const DIGITS = 16;

/** @returns the keys in the tool's order; all keys must differ */
export function inToolOrder(keys: Iterable<string>): string[] {
  const places = new Map([...keys].map((key) => [key, placeOf(key)]));
  // The digits are ASCII characters, so comparing the texts compares the digits.
  return [...places.keys()].sort((a, b) => (places.get(a)! < places.get(b)! ? -1 : 1));
}

/** @returns the hash's hex digits, the lowest first */
function placeOf(key: string): string {
  let hash = BigInt.asUintN(64, START);
  for (const byte of Buffer.from(key, 'utf16le')) hash = BigInt.asUintN(64, hash * PRIME) ^ BigInt(byte);
  return [...hash.toString(16).padStart(DIGITS, '0')].reverse().join('');
}
