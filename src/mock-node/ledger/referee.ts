/** Decides on submissions like a node, by comparing them with the issued work. */

import { createHash } from 'node:crypto';
import { equalBytes, HEADER_BYTES, TARGET_BYTES, toHex, WORK_OFFSET } from '../../protocol/chain/bytes.ts';
import { targetToInteger } from '../../protocol/chain/target.ts';
import { creationTimeOf, withCreationTime, withNonce } from '../../protocol/chain/work.ts';
import { nextEpoch, weightAbove } from '../../protocol/ledger/difficulty.ts';
import type { BlockHeader } from '../../protocol/ledger/header.ts';
import { encodeBase64url, LedgerFormatError } from '../../protocol/ledger/json.ts';
import { HASH_BYTES } from '../../protocol/ledger/merkle.ts';
import type { BlockPayload } from './block-store.ts';

/** What the node keeps about issued work, in addition to its record. */
interface WorkFacts {
  readonly chain: number;
  /** The latest parent's creation time: µs since the UNIX epoch. */
  readonly parentTimeUs: bigint;
  readonly payload: BlockPayload;
}

export interface IssuedWork extends WorkFacts {
  /** The header as it was issued: 286 bytes. */
  readonly header: Uint8Array;
  /** The record's target: 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** The time of issue, on the monotonic clock. */
  readonly issuedAtMs: number;
  /** Whether the chain has advanced since the work was issued. */
  late: boolean;
}

/**
 * The result of a submission, with the messages of real nodes. `stale`: the node has never issued the work, or has
 * dropped it.
 */
export type Judgement =
  | { readonly outcome: 'accepted'; readonly work: IssuedWork }
  | {
      readonly outcome: 'rejected';
      readonly reason: string;
      /** Absent if the header's length is wrong. */
      readonly work?: IssuedWork;
      readonly timeViolation?: true;
    }
  | { readonly outcome: 'stale'; readonly reason: string; readonly work?: undefined };

/** Offset of the payload hash in a header. */
const PAYLOAD_OFFSET = 190;

export class Referee {
  readonly #lifetimeMs: number;
  readonly #checksProofOfWork: boolean;
  /**
   * The issued works by payload hash in hex, oldest first. A payload has several works, with different headers, if the
   * target has changed between them.
   */
  readonly #issued = new Map<string, IssuedWork[]>();

  constructor(lifetimeMs: number, checksProofOfWork = true) {
    this.#lifetimeMs = lifetimeMs;
    this.#checksProofOfWork = checksProofOfWork;
  }

  /** Keeps issued work. @param record 322 bytes */
  issue(record: Uint8Array, facts: WorkFacts, nowMs: number): void {
    const header = record.subarray(WORK_OFFSET.header);
    const target = record.subarray(WORK_OFFSET.target, WORK_OFFSET.target + TARGET_BYTES);
    const key = toHex(payloadHashOf(header));
    const others = this.#worksFor(key, nowMs).filter((work) => !isFor(work, header));
    this.#issued.delete(key);
    this.#issued.set(key, [...others, { ...facts, header, target, issuedAtMs: nowMs, late: false }]);
  }

  /** @returns the number of kept works */
  remembered(nowMs: number): number {
    this.#dropOld(nowMs);
    return [...this.#issued.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Marks a chain's work as late, because the chain has advanced. @param drop whether the work is dropped instead */
  advance(chain: number, drop: boolean): void {
    for (const [key, works] of this.#issued) {
      if (works[0].chain !== chain) continue;
      if (drop) this.#issued.delete(key);
      else for (const work of works) work.late = true;
    }
  }

  /**
   * Decides on a submitted header. Like a real node, it drops all work with the header's payload at the first
   * submission, even if this submission is wrong.
   */
  judge(header: Uint8Array, nowUs: bigint, nowMs: number): Judgement {
    if (header.length !== HEADER_BYTES) {
      return { outcome: 'rejected', reason: `Decoding error: expected ${HEADER_BYTES} bytes, got ${header.length}` };
    }
    this.#dropOld(nowMs);
    const key = toHex(payloadHashOf(header));
    const works = this.#worksFor(key, nowMs);
    const work = works.find((each) => isFor(each, header)) ?? works.at(-1);
    if (!work) return { outcome: 'stale', reason: 'No associated Payload' };
    this.#issued.delete(key);
    if (this.#checksProofOfWork && !solves(header, work.target)) {
      return { outcome: 'rejected', reason: 'Invalid solved work: Invalid POW hash', work };
    }
    if (!isFor(work, header)) {
      return { outcome: 'rejected', reason: 'Invalid solved work: Invalid payload hash or header', work };
    }
    const timeUs = creationTimeOf(header);
    if (timeUs <= work.parentTimeUs || timeUs > nowUs) {
      return { outcome: 'rejected', reason: 'Invalid solved work: Invalid creation time', work, timeViolation: true };
    }
    return { outcome: 'accepted', work };
  }

  /** @returns the works for a payload, without those that are too old @param key payload hash in hex */
  #worksFor(key: string, nowMs: number): IssuedWork[] {
    return (this.#issued.get(key) ?? []).filter((work) => this.#isYoung(work, nowMs));
  }

  #dropOld(nowMs: number): void {
    for (const [oldest, works] of this.#issued) {
      if (works.some((work) => this.#isYoung(work, nowMs))) break;
      this.#issued.delete(oldest);
    }
  }

  #isYoung({ issuedAtMs }: IssuedWork, nowMs: number): boolean {
    return nowMs - issuedAtMs < this.#lifetimeMs;
  }
}

/** Whether a header is equal to the header of the work, apart from creation time and nonce. */
function isFor(work: IssuedWork, header: Uint8Array): boolean {
  return equalBytes(withoutTimeAndNonce(header), withoutTimeAndNonce(work.header));
}

/** @returns the header with zeros in the fields that a miner may change. The other fields identify the work */
function withoutTimeAndNonce(header: Uint8Array): Uint8Array {
  return withNonce(withCreationTime(header, 0n), 0n);
}

/** Checks the proof of work (document 1, "Mining work bytes"). This code is independent of the miner's own check. */
function solves(header: Uint8Array, target: Uint8Array): boolean {
  return littleEndian(createHash('blake2s256').update(header).digest()) <= littleEndian(target);
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

/** @returns a key that is equal for two headers with the same work and nonce, even if their creation times differ */
export function nonceKey(header: Uint8Array): string {
  return toHex(withCreationTime(header, 0n));
}

/** @returns the payload hash (bytes 190 to 221 of the header), by which a node finds its issued work */
export function payloadHashOf(header: Uint8Array): Uint8Array {
  return header.subarray(PAYLOAD_OFFSET, PAYLOAD_OFFSET + HASH_BYTES);
}

/* Checks of headers of other nodes' blocks, before the blocks are added. */

interface Received {
  readonly header: BlockHeader;
  /** The parent on the same chain. */
  readonly parent: BlockHeader;
  /** The parents on the neighbouring chains. */
  readonly adjacents: readonly BlockHeader[];
  /** The neighbouring chains, in ascending order. */
  readonly neighbours: readonly number[];
  readonly retargets: boolean;
  /** The node's clock: µs since the UNIX epoch. */
  readonly nowUs: bigint;
}

/**
 * Checks a header, except for its proof of work: the blocks of other miners have none on mock nodes. If `retargets` is
 * false, the only check of the target is that it is not 0.
 * @throws LedgerFormatError for a wrong header
 */
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

function same<T>(name: string, actual: T, expected: T): void {
  if (actual !== expected) throw new LedgerFormatError(`header.${name}: is ${actual}, but must be ${expected}`);
}

function wrong(name: string): never {
  throw new LedgerFormatError(`header.${name}: must be later than the parents', and not in the future`);
}
