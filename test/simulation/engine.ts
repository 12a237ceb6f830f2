/** A simulated device that really hashes, at a few hashes a second of virtual time. */

import type { Engine, EngineInfo, Ranges, SearchReport } from '#pickaxe/miner/engine/engine.js';
import type { Random } from '#pickaxe/mock-node/random.js';
import { type Job, solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce } from '#pickaxe/protocol/chain/nonce.js';
import { withNonce } from '#pickaxe/protocol/chain/work.js';
import type { SimulatedProcess } from './virtual-time.ts';

/** Number of counters in a batch. */
const BATCH = 16;

export class SimulatedEngine implements Engine {
  readonly name = 'cpu';
  readonly kind = 'cpu';
  /** Called for each batch, with the job, the number of its nonces, and when it began (monotonic). */
  onBatch: (job: Job, nonces: number, beganMs: number) => void = () => {};
  /** Called for each candidate, with its header of 286 bytes and its job. */
  onFound: (header: Uint8Array, job: Job) => void = () => {};
  readonly #process: SimulatedProcess;
  readonly #hashesPerSecond: number;
  readonly #random: Random;

  constructor(process: SimulatedProcess, hashesPerSecond: number, random: Random) {
    this.#process = process;
    this.#hashesPerSecond = hashesPerSecond;
    this.#random = random;
  }

  async open(): Promise<EngineInfo> {
    return { model: 'simulated', kernel: 'simulated', why: 'there is no other' };
  }

  async *search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncIterable<SearchReport> {
    while (!stop.aborted) {
      const range = ranges.take({ counters: BATCH, pages: 1 });
      if (!range) return;
      const { clock } = this.#process;
      const beganMs = clock.monotonicMs();
      const nonces = range.counters * range.pages;
      await this.#process.sleep((1000 * nonces * (0.8 + 0.4 * this.#random())) / this.#hashesPerSecond);
      const candidates: bigint[] = [];
      for (let i = 0; i < range.counters; i++) {
        const parts = { ...range, counter: range.counter + i };
        if (!solves(job, parts)) continue;
        const nonce = joinNonce(parts);
        this.onFound(withNonce(job.header, nonce), job);
        candidates.push(nonce);
      }
      this.onBatch(job, nonces, beganMs);
      yield { searched: range, hashes: nonces, beganMs, candidates };
    }
  }

  async close(): Promise<void> {}
}
