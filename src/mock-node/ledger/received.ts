/** Checks the header of a block that another node has, as a node does before it takes the block. */

import { targetToInteger } from '../../chain/target.ts';
import { encodeBase64url } from '../../ledger/base64url.ts';
import { nextEpoch } from '../../ledger/difficulty.ts';
import { LedgerFormatError } from '../../ledger/errors.ts';
import type { BlockHeader } from '../../ledger/header.ts';
import { weightAbove } from '../../ledger/weight.ts';

export interface Received {
  readonly header: BlockHeader;
  /** The block below it. */
  readonly parent: BlockHeader;
  /** The blocks below it on the neighbouring chains. */
  readonly adjacents: readonly BlockHeader[];
  /** The chain's neighbours. */
  readonly neighbours: readonly number[];
  /** Whether the ledger itself sets the targets. */
  readonly retargets: boolean;
  /** The node's clock: µs since the UNIX epoch. */
  readonly nowUs: bigint;
}

/** The proof of work is not checked: blocks of other miners have none here. @throws LedgerFormatError that says what is wrong. */
export function checkReceived({ header, parent, adjacents, neighbours, retargets, nowUs }: Received): void {
  const epoch = nextEpoch(parent, adjacents);
  const parents = [parent, ...adjacents];
  const target = (bytes: Uint8Array) => encodeBase64url(bytes);
  same('height', header.height, parent.height + 1n);
  same('version', header.version, parent.version);
  same('adjacents', header.adjacents.map(({ chain }) => chain).join(), neighbours.join());
  for (const { chain, height } of adjacents) same(`height of the adjacent on chain ${chain}`, height, parent.height);
  if (targetToInteger(header.target) === 0n) throw new LedgerFormatError('header.target: must not be 0');
  same('weight', header.weight, weightAbove(parent, header.target));
  same('epochStart', header.epochStartUs, epoch.epochStartUs);
  if (retargets) same('target', target(header.target), target(epoch.target));
  if (parents.some(({ creationTimeUs }) => creationTimeUs >= header.creationTimeUs)) wrong('creationTime');
  if (header.creationTimeUs > nowUs) wrong('creationTime');
}

function same<T>(name: string, said: T, expected: T): void {
  if (said !== expected) throw new LedgerFormatError(`header.${name}: is ${said}, but must be ${expected}`);
}

function wrong(name: string): never {
  throw new LedgerFormatError(`header.${name}: must be later than the parents', and not in the future`);
}
