/** Checks blocks beyond what the client proves anyway: proof of work, neighbours, rewards, and that they belong together. */

import { encodeBase64url } from '../../../ledger/base64url.ts';
import { LedgerFormatError } from '../../../ledger/errors.ts';
import { checkAdjacents } from '../../../ledger/graphs.ts';
import { type BlockHeader, blockHash, checkWork } from '../../../ledger/header.ts';
import { rewardOf } from '../../../ledger/reward.ts';
import { weightAbove } from '../../../ledger/weight.ts';
import type { Block } from '../../../node/api/blocks.ts';

export class BlockChecks {
  /** Those of the last heights, by hash. */
  #near: readonly (readonly [string, BlockHeader])[] = [];
  checked = 0;

  /** @throws LedgerFormatError that names the block */
  check({ header, payload }: Block): void {
    const hash = encodeBase64url(blockHash(header));
    try {
      // The first block of a chain has no proof of work, and no miner.
      if (header.height > 0n) {
        checkWork(header);
        checkAdjacents(header);
        rewardOf(header, payload);
      }
      this.#checkWeight(hash, header);
    } catch (error) {
      if (!(error instanceof LedgerFormatError)) throw error;
      throw new LedgerFormatError(`block ${hash} of height ${header.height}: ${error.message}`);
    }
    this.checked += 1;
    this.#near = [...this.#near, [hash, header] as const].filter(([, { height }]) => isNear(height, header.height));
  }

  /** Blocks come in either order, so the parent may come before its child or after it. */
  #checkWeight(hash: string, header: BlockHeader): void {
    for (const [otherHash, other] of this.#near) {
      if (encodeBase64url(header.parent) === otherHash) compare(other, header);
      if (encodeBase64url(other.parent) === hash) compare(header, other);
    }
  }
}

function compare(parent: BlockHeader, child: BlockHeader): void {
  if (child.height !== parent.height + 1n) {
    throw new LedgerFormatError(`its height is ${child.height}, and its parent's is ${parent.height}`);
  }
  const expected = weightAbove(parent, child.target);
  if (child.weight !== expected) throw new LedgerFormatError(`its weight is ${child.weight}, but must be ${expected}`);
  if (child.creationTimeUs <= parent.creationTimeUs) throw new LedgerFormatError('it is not newer than its parent');
}

function isNear(a: bigint, b: bigint): boolean {
  return a - b <= 1n && b - a <= 1n;
}
