/** Branches: the ancestors of some blocks (document 1, "Whole blocks" and "Block hashes"). */

import { encodeBase64url } from '../../ledger/base64url.ts';
import { stringifyExactJson } from '../../ledger/exact-json.ts';
import { chainPath, type HeightRange, heights } from './paths.ts';

/** Bounds of a branch, all hashes of blocks of its chain, 32 bytes each. Real nodes take at most 32 of either. */
export interface BranchBounds {
  /** Only these blocks and their ancestors are in the branch. */
  readonly upper: readonly Uint8Array[];
  /** These blocks and their ancestors are not. */
  readonly lower?: readonly Uint8Array[];
}

/** The part of a branch that is asked for. */
export interface BranchPart {
  readonly chain: number;
  readonly bounds: BranchBounds;
  readonly range: HeightRange;
}

/**
 * @param what what the branch is a list of, as in the path
 * @returns the request, and which bounds must exist: real nodes ignore lower bounds that they do not know
 */
export function branchRequest(what: 'block' | 'hash' | 'header', { chain, bounds, range }: BranchPart) {
  const { upper, lower = [] } = bounds;
  const whole = chainPath(chain, what);
  const [upperTexts, lowerTexts] = [upper, lower].map((hashes) => hashes.map(encodeBase64url));
  return {
    method: 'POST',
    path: `${whole}/branch`,
    ...heights(range),
    body: stringifyExactJson({ lower: lowerTexts, upper: upperTexts }),
    blocks: { whole, bounds: [...upperTexts, ...lowerTexts] },
  } as const;
}
