/**
 * Cross-chain proofs (document 2, `/spv`): the output of a transaction on one chain is below a block of another. A
 * proof is base64url of JSON, `{chain, object, subject: {input}, algorithm}`: `input` is the output with its tag, and
 * `object` the path from it to the block hash, as number of steps u32 · position of the output u64 · steps, (side u8, 0
 * left or 1 right · hash 32) each. Its integers are big-endian.
 */

import { z } from 'zod';
import { equalBytes, viewOf } from '../chain/bytes.ts';
import { bytes, checked, u32 } from './fields.ts';
import { HEADER_LEAF } from './header.ts';
import {
  decodeBase64url,
  encodeBase64url,
  jsonInteger,
  LedgerFormatError,
  parseExactJsonBytes,
  stringifyExactJson,
} from './json.ts';
import { HASH_BYTES, leafHash, type MerkleStep, rootOfPath, sidesOf } from './merkle.ts';
import { PAYLOAD_TAG } from './payload.ts';

export interface SpvProof {
  readonly targetChain: number;
  /** JSON in UTF-8. */
  readonly output: Uint8Array;
  /** The index of the output's leaf in the outputs' tree; the coinbase is at 0. */
  readonly position: bigint;
  /** From the output to the hash of the block on the target chain. */
  readonly steps: readonly MerkleStep[];
}

const ALGORITHM = 'SHA512t_256';
/** Precedes the output in `input`. */
const TAG = Uint8Array.of(0, PAYLOAD_TAG.output);
const OBJECT_HEAD_BYTES = 12;
const STEP_BYTES = 1 + HASH_BYTES;
const SIDES = ['left', 'right'] as const;
/** Far more than for an output among millions and for the longest path between two chains. */
const MAX_STEPS = 200;

/** Far more neighbours than a chain of any known network has. */
const MAX_NEIGHBOURS = 16;

/**
 * The valid sides of siblings from the root of the outputs on, for chains with 0, 1, 2 … neighbours: L for the root of
 * the transactions, then the steps from the payload hash to the block hash, then, any number of times, the steps from a
 * parent's hash to the hash of a block that builds on it.
 */
const ROUTES = Array.from({ length: MAX_NEIGHBOURS + 1 }, (_, neighbours) => {
  const leaves = HEADER_LEAF.adjacents + neighbours;
  const adjacents = Array.from({ length: neighbours }, (_, i) => HEADER_LEAF.adjacents + i);
  const parents = [HEADER_LEAF.parent, ...adjacents].map((leaf) => sidesOf(leaf, leaves));
  return new RegExp(`^L${sidesOf(HEADER_LEAF.payloadHash, leaves)}(?:${parents.join('|')})*$`);
});

const ProofObject = z.object({
  chain: u32,
  object: bytes,
  subject: z.object({ input: bytes }),
  algorithm: z.literal(ALGORITHM, { error: `must be ${ALGORITHM}` }),
});

/** @throws LedgerFormatError unless the text is a proof of an output. `checkSpvProof` verifies it */
export function parseSpvProof(text: string): SpvProof {
  const { chain, object, subject } = checked(ProofObject, parseExactJsonBytes(decodeBase64url(text)), 'proof');
  if (!equalBytes(subject.input.subarray(0, TAG.length), TAG)) {
    throw new LedgerFormatError('proof.subject.input: is not the output of a transaction');
  }
  return { targetChain: chain, output: subject.input.slice(TAG.length), ...parseObject(object) };
}

export function encodeSpvProof({ targetChain, output, position, steps }: SpvProof): string {
  const object = new Uint8Array(OBJECT_HEAD_BYTES + steps.length * STEP_BYTES);
  const view = viewOf(object);
  view.setUint32(0, steps.length);
  view.setBigUint64(4, position);
  steps.forEach(({ side, hash }, i) => {
    object[OBJECT_HEAD_BYTES + i * STEP_BYTES] = SIDES.indexOf(side);
    object.set(hash, OBJECT_HEAD_BYTES + i * STEP_BYTES + 1);
  });
  const json = stringifyExactJson({
    chain: jsonInteger(targetChain),
    object: encodeBase64url(object),
    subject: { input: encodeBase64url(Buffer.concat([TAG, output])) },
    algorithm: ALGORITHM,
  });
  return encodeBase64url(Buffer.from(json));
}

/** @returns the hash at the end of the path, 32 bytes: that of a block on the target chain */
export function spvRoot({ output, steps }: SpvProof): Uint8Array {
  return rootOfPath(leafHash(PAYLOAD_TAG.output, output), steps);
}

/** @throws LedgerFormatError unless the proof is for this chain, and its path ends at this block */
export function checkSpvProof(proof: SpvProof, block: { readonly chain: number; readonly hash: Uint8Array }): void {
  if (proof.targetChain !== block.chain) {
    throw new LedgerFormatError(
      `proof.chain: the proof is for chain ${proof.targetChain}, not for chain ${block.chain}`,
    );
  }
  const root = spvRoot(proof);
  if (equalBytes(root, block.hash)) return;
  throw new LedgerFormatError(
    `proof: leads to ${encodeBase64url(root)}, not to the block ${encodeBase64url(block.hash)}`,
  );
}

function parseObject(object: Uint8Array): Pick<SpvProof, 'position' | 'steps'> {
  const view = viewOf(object);
  const count = object.length < OBJECT_HEAD_BYTES ? 0 : view.getUint32(0);
  if (object.length !== OBJECT_HEAD_BYTES + count * STEP_BYTES || count > MAX_STEPS) {
    throw new LedgerFormatError(`proof.object: ${object.length} bytes do not hold a path of ${count} steps`);
  }
  const steps = Array.from({ length: count }, (_, i) => {
    const offset = OBJECT_HEAD_BYTES + i * STEP_BYTES;
    const side = SIDES[object[offset]];
    if (!side) throw new LedgerFormatError(`proof.object: step ${i} is on side ${object[offset]}, not on side 0 or 1`);
    return { side, hash: object.subarray(offset + 1, offset + STEP_BYTES) };
  });
  const position = view.getBigUint64(4);
  if (!leadsToBlock(position, steps.map(({ side }) => (side === 'left' ? 'L' : 'R')).join(''))) {
    throw new LedgerFormatError(`proof.object: its steps do not lead from output ${position} to a block`);
  }
  return { position, steps };
}

/**
 * Whether the steps can lead from an output at this position to its block, and on to another. The root does not depend
 * on the position. Only this check finds a wrong one, though not always.
 * @param sides an L or an R for each step
 */
function leadsToBlock(position: bigint, sides: string): boolean {
  return Array.from(sides).some((_, levels) => {
    return leadsToRoot(position, sides.slice(0, levels)) && ROUTES.some((route) => route.test(sides.slice(levels)));
  });
}

/**
 * Whether some Merkle tree has these steps above a leaf at this position. In a complete part of the tree, the bits of
 * the position, lowest first, are the sides of the nodes. A node at the right edge has only siblings on its left, one
 * for each remaining 1 bit.
 */
function leadsToRoot(position: bigint, sides: string): boolean {
  if (!sides.includes('R') && bitsOf(position) === sides.length) return true;
  if (sides[0] !== (position % 2n === 1n ? 'L' : 'R')) return false;
  return leadsToRoot(position / 2n, sides.slice(1));
}

function bitsOf(value: bigint): number {
  return value.toString(2).replaceAll('0', '').length;
}
