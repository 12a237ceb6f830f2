/** The node's judgement of a submission, and the work it remembers having handed out. */

import { createHash } from 'node:crypto';
import { equalBytes, toHex } from '../chain/bytes.ts';
import { HEADER_BYTES, TARGET_BYTES, WORK_OFFSET } from '../chain/layout.ts';
import { creationTimeOf, withCreationTime, withNonce } from '../chain/work.ts';
import { payloadOf } from './chains.ts';

export interface IssuedWork {
  readonly chain: number;
  /** The header as handed out. */
  readonly header: Uint8Array;
  /** 32 bytes, from the record. */
  readonly target: Uint8Array;
  /** The latest parent's creation time, µs. */
  readonly parentTimeUs: bigint;
  readonly issuedAtMs: number;
  /** The chain has advanced since. */
  late: boolean;
}

export type Judgement =
  | { readonly status: 'taken'; readonly work: IssuedWork }
  | { readonly status: 400 | 404; readonly text: string; readonly work?: IssuedWork; readonly timeViolation?: true };

export class Referee {
  readonly #lifetimeMs: number;
  /** By payload hash; oldest first. */
  readonly #issued = new Map<string, IssuedWork>();

  constructor(lifetimeMs: number) {
    this.#lifetimeMs = lifetimeMs;
  }

  /** Remembers a work record that is being handed out. */
  issue(record: Uint8Array, chain: number, parentTimeUs: bigint, nowMs: number): void {
    const header = record.subarray(WORK_OFFSET.header);
    const target = record.subarray(WORK_OFFSET.target, WORK_OFFSET.target + TARGET_BYTES);
    const key = toHex(payloadOf(header));
    this.#issued.delete(key);
    this.#issued.set(key, { chain, header, target, parentTimeUs, issuedAtMs: nowMs, late: false });
  }

  /** How many works a solution can be for. */
  remembered(nowMs: number): number {
    this.#forgetOld(nowMs);
    return this.#issued.size;
  }

  /** The chain has advanced: its work is late, or forgotten at once. */
  advance(chain: number, forget: boolean): void {
    for (const [key, work] of this.#issued) {
      if (work.chain !== chain) continue;
      if (forget) this.#issued.delete(key);
      else work.late = true;
    }
  }

  /** Judges 286 bytes. Any judgement but 404 ends the work: one wrong submission drops it. */
  judge(header: Uint8Array, nowUs: bigint, nowMs: number): Judgement {
    if (header.length !== HEADER_BYTES) {
      return { status: 400, text: `Decoding error: expected ${HEADER_BYTES} bytes, got ${header.length}` };
    }
    this.#forgetOld(nowMs);
    const key = toHex(payloadOf(header));
    const work = this.#issued.get(key);
    if (!work) return { status: 404, text: 'No associated Payload' };
    this.#issued.delete(key);
    if (!solves(header, work.target)) return { status: 400, text: 'Invalid solved work: Invalid POW hash', work };
    if (!equalBytes(withoutTimeAndNonce(header), withoutTimeAndNonce(work.header))) {
      return { status: 400, text: 'Invalid solved work: Invalid payload hash or header', work };
    }
    const timeUs = creationTimeOf(header);
    if (timeUs <= work.parentTimeUs || timeUs > nowUs) {
      return { status: 400, text: 'Invalid solved work: Invalid creation time', work, timeViolation: true };
    }
    return { status: 'taken', work };
  }

  #forgetOld(nowMs: number): void {
    for (const [oldest, { issuedAtMs }] of this.#issued) {
      if (nowMs - issuedAtMs < this.#lifetimeMs) break;
      this.#issued.delete(oldest);
    }
  }
}

/** The header with zeros where a miner may write: what identifies the work. */
export function withoutTimeAndNonce(header: Uint8Array): Uint8Array {
  return withNonce(withCreationTime(header, 0n), 0n);
}

/** On OpenSSL and bigint, sharing nothing with the miner's own code (document 1, "Mining work bytes"). */
function solves(header: Uint8Array, target: Uint8Array): boolean {
  return littleEndian(createHash('blake2s256').update(header).digest()) <= littleEndian(target);
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

/** Names the nonce and the work, whatever the creation time. */
export function nonceKey(header: Uint8Array): string {
  return toHex(withCreationTime(header, 0n));
}
