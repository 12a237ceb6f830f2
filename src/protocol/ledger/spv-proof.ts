/**
 * Cross-chain proofs (document 2, `/spv`). A proof shows that a block of the target chain depends on the output of a
 * transaction on another chain. It is base64url of JSON, `{chain, object, subject: {input}, algorithm}`. `input` is a
 * tag, followed by the output. `object` is the Merkle path from the output to the block's hash, as number of steps u32
 * · position of the output u64 · steps. Each step is side u8 (0 left, 1 right) · hash 32. Integers in the path are
 * big-endian.
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
  /** The transaction's output: JSON in UTF-8. */
  readonly output: Uint8Array;
  /** The index of the output's leaf in the tree over the outputs, in which the coinbase has index 0. */
  readonly position: bigint;
  /** The path from the output to the hash of the block on the target chain. */
  readonly steps: readonly MerkleStep[];
}

const ALGORITHM = 'SHA512t_256';
/** The bytes before the output in `input`. */
const TAG = Uint8Array.of(0, PAYLOAD_TAG.output);
const OBJECT_HEAD_BYTES = 12;
const STEP_BYTES = 1 + HASH_BYTES;
const SIDES = ['left', 'right'] as const;
/**
 * Maximum number of steps. Far fewer steps suffice for a block with millions of outputs, and for the two chains that
 * are farthest apart.
 */
const MAX_STEPS = 200;

/** Maximum number of a chain's neighbours. On known networks, a chain has at most 3. */
const MAX_NEIGHBOURS = 16;

/**
 * The valid sides of the siblings above the root of the outputs, for chains with 0, 1, 2 … neighbours. First comes an L
 * for the root of the transactions, then the steps from the payload hash to the block hash. After that, the steps from
 * the hash of a parent to the hash of its child can follow any number of times.
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

/** Does not verify the proof: see `checkSpvProof`. @throws LedgerFormatError unless the text is a proof of an output */
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

/** @returns the hash at the end of the path, 32 bytes. A valid proof ends at the hash of a block on the target chain */
export function spvRoot({ output, steps }: SpvProof): Uint8Array {
  return rootOfPath(leafHash(PAYLOAD_TAG.output, output), steps);
}

/** @throws LedgerFormatError unless the proof is for the block's chain, and its path ends at the block's hash */
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
 * The hash at the end of the path does not depend on the position, so only this function checks the position. It does
 * not find every wrong position.
 * @param sides an L or an R for each step
 * @returns whether the steps can lead from an output at this position to its block, or to a later block
 */
function leadsToBlock(position: bigint, sides: string): boolean {
  return Array.from(sides).some((_, levels) => {
    return leadsToRoot(position, sides.slice(0, levels)) && ROUTES.some((route) => route.test(sides.slice(levels)));
  });
}

/**
 * In a complete subtree, the bits of the position, lowest first, are the sides of the nodes on the path: the sibling is
 * on the left if the bit is 1. From a node at the right edge of the tree, all siblings are on the left, one for each
 * remaining 1 bit.
 * @returns whether some Merkle tree has these steps above a leaf at this position
 */
function leadsToRoot(position: bigint, sides: string): boolean {
  if (!sides.includes('R') && bitsOf(position) === sides.length) return true;
  if (sides[0] !== (position % 2n === 1n ? 'L' : 'R')) return false;
  return leadsToRoot(position / 2n, sides.slice(1));
}

function bitsOf(value: bigint): number {
  return value.toString(2).replaceAll('0', '').length;
}
