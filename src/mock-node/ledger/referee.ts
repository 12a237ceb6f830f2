/** The node's judgement of a submission, and the work that it remembers having issued. */

import { createHash } from 'node:crypto';
import { equalBytes, toHex } from '../../chain/bytes.ts';
import { HEADER_BYTES, TARGET_BYTES, WORK_OFFSET } from '../../chain/layout.ts';
import { creationTimeOf, withCreationTime, withNonce } from '../../chain/work.ts';
import { payloadOf } from './chains.ts';

export interface IssuedWork {
  readonly chain: number;
  /** The header as it was issued: 286 bytes. */
  readonly header: Uint8Array;
  /** The record's target: 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** The latest parent's creation time: µs since the UNIX epoch. */
  readonly parentTimeUs: bigint;
  /** On the monotonic clock. */
  readonly issuedAtMs: number;
  /** Whether the chain has advanced since. */
  late: boolean;
}

/** The reasons are what real nodes say. `stale` means that the work is not known, or no longer. */
export type Judgement =
  | { readonly outcome: 'accepted'; readonly work: IssuedWork }
  | {
      readonly outcome: 'rejected';
      readonly reason: string;
      /** Absent when the header's length is wrong. */
      readonly work?: IssuedWork;
      readonly timeViolation?: true;
    }
  | { readonly outcome: 'stale'; readonly reason: string; readonly work?: undefined };

export class Referee {
  readonly #lifetimeMs: number;
  /** The remembered works by their payload hashes in hex, oldest first. */
  readonly #issued = new Map<string, IssuedWork>();

  constructor(lifetimeMs: number) {
    this.#lifetimeMs = lifetimeMs;
  }

  /** Remembers a work record of 322 bytes that is being issued. */
  issue(record: Uint8Array, chain: number, parentTimeUs: bigint, nowMs: number): void {
    const header = record.subarray(WORK_OFFSET.header);
    const target = record.subarray(WORK_OFFSET.target, WORK_OFFSET.target + TARGET_BYTES);
    const key = toHex(payloadOf(header));
    this.#issued.delete(key);
    this.#issued.set(key, { chain, header, target, parentTimeUs, issuedAtMs: nowMs, late: false });
  }

  /** How many works are remembered. */
  remembered(nowMs: number): number {
    this.#forgetOld(nowMs);
    return this.#issued.size;
  }

  /** The chain has advanced, so its work is late. @param forget whether it is forgotten at once */
  advance(chain: number, forget: boolean): void {
    for (const [key, work] of this.#issued) {
      if (work.chain !== chain) continue;
      if (forget) this.#issued.delete(key);
      else work.late = true;
    }
  }

  /**
   * Judges a header of 286 bytes. A header of known work ends that work, whatever the outcome: real nodes drop it after one
   * wrong submission.
   */
  judge(header: Uint8Array, nowUs: bigint, nowMs: number): Judgement {
    if (header.length !== HEADER_BYTES) {
      return { outcome: 'rejected', reason: `Decoding error: expected ${HEADER_BYTES} bytes, got ${header.length}` };
    }
    this.#forgetOld(nowMs);
    const key = toHex(payloadOf(header));
    const work = this.#issued.get(key);
    if (!work) return { outcome: 'stale', reason: 'No associated Payload' };
    this.#issued.delete(key);
    if (!solves(header, work.target)) {
      return { outcome: 'rejected', reason: 'Invalid solved work: Invalid POW hash', work };
    }
    if (!equalBytes(withoutTimeAndNonce(header), withoutTimeAndNonce(work.header))) {
      return { outcome: 'rejected', reason: 'Invalid solved work: Invalid payload hash or header', work };
    }
    const timeUs = creationTimeOf(header);
    if (timeUs <= work.parentTimeUs || timeUs > nowUs) {
      return { outcome: 'rejected', reason: 'Invalid solved work: Invalid creation time', work, timeViolation: true };
    }
    return { outcome: 'accepted', work };
  }

  #forgetOld(nowMs: number): void {
    for (const [oldest, { issuedAtMs }] of this.#issued) {
      if (nowMs - issuedAtMs < this.#lifetimeMs) break;
      this.#issued.delete(oldest);
    }
  }
}

/** The header with zeros where a miner may write; the rest identifies the work. */
function withoutTimeAndNonce(header: Uint8Array): Uint8Array {
  return withNonce(withCreationTime(header, 0n), 0n);
}

/** Document 1, "Mining work bytes". Uses OpenSSL and bigint, so that it shares nothing with the miner's own code. */
function solves(header: Uint8Array, target: Uint8Array): boolean {
  return littleEndian(createHash('blake2s256').update(header).digest()) <= littleEndian(target);
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

/** A key of the nonce and the work, the same for every creation time. */
export function nonceKey(header: Uint8Array): string {
  return toHex(withCreationTime(header, 0n));
}
