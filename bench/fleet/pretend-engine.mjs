// An engine that takes ranges at a set rate and computes nothing, and the record of the ranges that it took.

import { createHash } from 'node:crypto';
import { systemClock } from '#pickaxe/base/system/clock.js';

const NONCE_BYTES = 8;

export class PretendEngine {
  name = 'pretend';
  kind = 'gpu';
  #options;

  /**
   * @param options `rate()`: the present nonces per second; `tickMs`: time between two ranges; `took(key, range)` is
   *   called with each range, where jobs with equal headers have one key
   */
  constructor(options) {
    this.#options = options;
  }

  async open() {
    return { model: 'none', kernel: 'none', why: 'computes nothing' };
  }

  async close() {}

  async *search(job, ranges, stop) {
    const { rate, tickMs, took } = this.#options;
    const key = keyOf(job.header);
    let [taken, due, beganMs] = [0, 0, systemClock.monotonicMs()];
    while (!stop.aborted) {
      await untilStopped(tickMs, stop);
      const nowMs = systemClock.monotonicMs();
      due += (rate() * (nowMs - beganMs)) / 1_000;
      while (taken < due) {
        const searched = ranges.take(likeGpu(due - taken));
        if (!searched) return;
        const hashes = searched.counters * searched.pages;
        taken += hashes;
        took(key, searched);
        yield { searched, hashes, beganMs, candidates: [] };
      }
      beganMs = nowMs;
    }
  }
}

/** Rows of one page, as GPUs take them, or several whole pages. */
export const likeGpu = (nonces) =>
  nonces >= 2 ** 32
    ? { counters: 2 ** 32, pages: Math.min(2 ** 16, Math.round(nonces / 2 ** 32)) }
    : { counters: Math.max(2 ** 16, Math.round(nonces)), pages: 1 };

/** Columns of 512 counters, as CPUs take them. */
export const likeCpu = (nonces) => ({ counters: 512, pages: Math.min(2 ** 16, Math.max(1, Math.round(nonces / 512))) });

/** @param header 286 bytes, which end with the nonce */
function keyOf(header) {
  return createHash('sha1').update(header.subarray(0, -NONCE_BYTES)).digest('base64');
}

function untilStopped(ms, stop) {
  if (stop.aborted) return;
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stop.addEventListener('abort', end);
  });
}
