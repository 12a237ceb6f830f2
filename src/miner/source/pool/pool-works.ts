/** The works of one connection. Several messages can come at once, so a work is made only when `take` is called. */

import {
  equalBytes,
  HEADER_OFFSET,
  NONCE_BYTES,
  toHex,
  viewOf,
  WORK_BYTES,
  WORK_OFFSET,
} from '../../../protocol/chain/bytes.ts';
import { MOST_NONCE1_BYTES, type Nonce1 } from '../../../protocol/chain/nonce.ts';
import { meetsTarget } from '../../../protocol/chain/target.ts';
import { headerTargetOf, parentOf, parseWork, type Work } from '../../../protocol/chain/work.ts';
import { MOST_WORKS } from './pool-limits.ts';

interface PoolJob {
  readonly name: string | number;
  /** The header, 286 bytes. */
  readonly header: Uint8Array;
  readonly clean: boolean | undefined;
}

export class PoolWorks {
  /** The valid works, oldest first, with the names of their jobs. */
  readonly #valid = new Map<Work, string | number>();
  #stale: Work[] = [];
  #nonce1: Nonce1 | undefined;
  #target: Uint8Array | undefined;
  /** The pool's last target, if it is easier than the current one. It counts from the next job on. */
  #easierTarget: Uint8Array | undefined;
  #job: { readonly name: string | number; readonly header: Uint8Array; nonce1: Nonce1 | undefined } | undefined;
  /** The job, target and nonce1 of the last work as one text, to detect whether anything has changed. */
  #made = '';

  get hasTarget(): boolean {
    return this.#target !== undefined;
  }

  /** Sets the nonce1 of later jobs, and of the current job if that job came before any nonce1. */
  setNonce1(nonce1: Nonce1): void {
    this.#nonce1 = nonce1;
    if (this.#job) this.#job.nonce1 ??= nonce1;
  }

  get hasNonce1(): boolean {
    return this.#nonce1 !== undefined;
  }

  /**
   * Sets the target of shares: 32 bytes, little-endian. A target that is easier than the current one counts only from
   * the next job on, because many pools check a share against the target that was set when they sent its job. Any other
   * target counts at once.
   */
  setTarget(target: Uint8Array): void {
    const isEasier = this.#target !== undefined && !meetsTarget(target, this.#target);
    if (isEasier) {
      this.#easierTarget = target;
    } else {
      this.#target = target;
      this.#easierTarget = undefined;
    }
  }

  /** Applies the pool's next job. Even if it repeats the current job, an easier target counts from now on. */
  notify({ name, header, clean }: PoolJob): void {
    this.#target = this.#easierTarget ?? this.#target;
    this.#easierTarget = undefined;
    const last = this.#job;
    const isRepeated = last?.name === name && equalBytes(last.header, header) && last.nonce1 === this.#nonce1;
    if (isRepeated) return;
    // If the message has no `clean` flag, a job on another parent makes the earlier works of its chain stale.
    const isWorthless = (work: Work) => clean ?? isOvertaken(work, header);
    // A share refers to its job only by the job's name, so works of an older job with the same name become stale.
    this.#markStale(([work, job]) => isWorthless(work) || (job === name && !equalBytes(work.header, header)));
    this.#job = { name, header, nonce1: this.#nonce1 };
  }

  /**
   * A pool may replace jobs merely because time has passed. So the reason is a New Cut only if a stale work is on the
   * chain of the current job and has another parent.
   * @returns `stale`: the works that have become stale since the last call. `reason`: why these works are stale.
   *   `work`: the work to mine, if it has changed since the last call
   */
  take(): {
    readonly stale: readonly Work[];
    readonly reason: 'new-cut' | 'cancelled';
    readonly work: Work | undefined;
  } {
    const work = this.#makeWork();
    const stale = this.#stale;
    this.#stale = [];
    const header = this.#job?.header;
    const isCut = header !== undefined && stale.some((each) => isOvertaken(each, header));
    return { stale, reason: isCut ? 'new-cut' : 'cancelled', work };
  }

  /** Called when the connection has ended. Makes all works stale. @returns these works */
  end(): readonly Work[] {
    this.#markStale(() => true);
    this.#job = undefined;
    return this.take().stale;
  }

  /** @returns the name of the work's job; undefined if the work is stale */
  jobOf(work: Work): string | number | undefined {
    return this.#valid.get(work);
  }

  /** Whether the work belongs to the pool's latest job. */
  isCurrent(work: Work): boolean {
    return (
      this.#job !== undefined && this.#valid.get(work) === this.#job.name && equalBytes(work.header, this.#job.header)
    );
  }

  #markStale(which: (entry: [Work, string | number]) => boolean): void {
    for (const entry of [...this.#valid].filter(which)) {
      this.#valid.delete(entry[0]);
      this.#stale.push(entry[0]);
    }
  }

  #makeWork(): Work | undefined {
    if (this.#job?.nonce1 === undefined) return undefined;
    const { name, header, nonce1 } = this.#job;
    const blockTarget = headerTargetOf(header);
    const target = this.#target && !meetsTarget(this.#target, blockTarget) ? this.#target : blockTarget;
    const made = [name, toHex(header), toHex(target), nonce1.value, nonce1.bytes].join();
    if (made === this.#made) return undefined;
    this.#made = made;
    const work = parseWork(recordOf(header, target), { blockTarget, nonce1, rollTime: false, until: 'replaced' });
    this.#valid.set(work, name);
    const [oldest] = this.#valid;
    if (this.#valid.size > MOST_WORKS) this.#markStale(([each]) => each === oldest[0]);
    return work;
  }
}

/** Whether the header has the work's chain but another parent. */
function isOvertaken(work: Work, header: Uint8Array): boolean {
  return work.chain === chainOf(header) && !equalBytes(parentOf(work.header), parentOf(header));
}

function chainOf(header: Uint8Array): number {
  return viewOf(header).getUint32(HEADER_OFFSET.chain, true);
}

/** @returns a work record of 322 bytes */
function recordOf(header: Uint8Array, target: Uint8Array): Uint8Array {
  const record = new Uint8Array(WORK_BYTES);
  viewOf(record).setUint32(WORK_OFFSET.chain, chainOf(header), true);
  record.set(target, WORK_OFFSET.target);
  record.set(header, WORK_OFFSET.header);
  return record;
}

/* Reads nonce1, the part of the nonce that a pool fixes. */

/**
 * @param result `[…, nonce1, size of nonce2]`, perhaps without the size
 * @returns nonce1, or a sentence without its full stop that says why nonce1 cannot be used
 */
export function parseSubscription(result: unknown): Nonce1 | string {
  if (!Array.isArray(result) || result.length < 2)
    return 'it does not say which part of the nonce it has fixed (nonce1)';
  return parseNonce1(result[1], result[2]);
}

/**
 * @param hex big-endian hex digits; some servers omit leading zeros
 * @param size number of bytes of the nonce that the miner chooses; undefined or null if the pool does not send it
 * @returns nonce1, or a sentence without its full stop that says why nonce1 cannot be used
 */
export function parseNonce1(hex: unknown, size: unknown): Nonce1 | string {
  if (typeof hex !== 'string' || !/^(0x)?[\da-f]*$/i.test(hex)) return 'its nonce1 is no number in hex digits';
  const digits = hex.replace(/^0x/i, '');
  const least = Math.ceil(digits.length / 2);
  if (size !== undefined && size !== null && !isSize(size)) return 'its size of nonce2 is no number of bytes';
  const bytes = isSize(size) ? NONCE_BYTES - size : least;
  if (least > bytes || (digits === '' && bytes > 0)) {
    return `it gives a nonce1 of ${least} bytes and leaves ${size} to the miner: together they must be ${NONCE_BYTES}`;
  }
  if (bytes > MOST_NONCE1_BYTES) {
    const most = `at most ${MOST_NONCE1_BYTES} of its ${NONCE_BYTES} may be fixed`;
    return `it fixes ${bytes} bytes of the nonce (nonce1), but ${most}: the miner needs the others`;
  }
  return { value: bytes === 0 ? 0 : Number.parseInt(digits || '0', 16), bytes: bytes as Nonce1['bytes'] };
}

function isSize(size: unknown): size is number {
  return typeof size === 'number' && Number.isInteger(size) && size >= 0 && size <= NONCE_BYTES;
}
