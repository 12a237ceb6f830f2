// Other implementations of blake2s in Node.js. Each hashes whole headers, in its fastest way, because none accepts a
// midstate.

import * as crypto from 'node:crypto';
import { createRequire } from 'node:module';
import { blake2s } from '@noble/hashes/blake2.js';
import { createBLAKE2s } from 'hash-wasm';
import { HEADER_BYTES, HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';

/** The peer to which ratios are computed. */
export const REFERENCE = 'node:crypto createHash';

/** @returns each peer's name and its hash, from bytes to bytes, and why the others are missing */
export async function peers() {
  const wasm = await createBLAKE2s(256);
  const hashes = {
    'hash-wasm': (header) => wasm.init().update(header).digest('binary'),
    [REFERENCE]: (header) => crypto.createHash('blake2s256').update(header).digest(),
    '@noble/hashes': (header) => blake2s(header),
  };
  const leftOut = {};
  if (crypto.hash) hashes['node:crypto hash'] = (header) => crypto.hash('blake2s256', header, 'buffer');
  else leftOut['node:crypto hash'] = 'this Node.js does not have it yet';
  try {
    // `blake2` is not a dependency, because it compiles itself when it is installed. `require` finds it through
    // NODE_PATH, too.
    const { createHash } = createRequire(import.meta.url)('blake2');
    hashes.blake2 = (header) => createHash('blake2s').update(header).digest();
  } catch (error) {
    leftOut.blake2 = `${error.message.split('\n')[0]} (bench/README.md says how to add it)`;
  }
  checkAnswers(hashes);
  return { hashes, leftOut };
}

/** @throws Error when a peer computes other hashes */
function checkAnswers(hashes) {
  const header = Buffer.alloc(HEADER_BYTES, 7);
  const expected = Buffer.from(blake2s(header)).toString('hex');
  for (const [name, hash] of Object.entries(hashes)) {
    const actual = Buffer.from(hash(header)).toString('hex');
    if (actual !== expected) throw new Error(`${name} computes ${actual}, not ${expected}`);
  }
}

/** @returns a function that hashes the given number of headers, each with another nonce, and returns that number */
export function peerRunner(hash) {
  const header = Buffer.alloc(HEADER_BYTES);
  return (count) => {
    for (let i = 0; i < count; i++) {
      header.writeUInt32LE(i, HEADER_OFFSET.nonce);
      hash(header);
    }
    return count;
  };
}
