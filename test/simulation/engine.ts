/** A simulated device that really hashes, at a few hashes a second of virtual time, and that can fail. */

import type { Ranges, SearchReport } from '#pickaxe/miner/engine/engine.js';
import { DeviceError, type Engine, type EngineInfo, type EngineListener } from '#pickaxe/miner/engine/engine.js';
import type { Random } from '#pickaxe/mock-node/random.js';
import { type Job, solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce } from '#pickaxe/protocol/chain/nonce.js';
import { withNonce } from '#pickaxe/protocol/chain/work.js';
import type { SimulatedProcess } from './virtual-time.ts';

/** Number of counters in a batch. */
const BATCH = 16;
/** Time after which a device that hangs is said to be lost, as by the process of a GPU. */
const HANGS_MS = 20_000;

export type DeviceMode =
  | 'fine'
  /** It is lost, and opens again only after the mode has ended. */
  | 'dead'
  /** It reports nothing any more until it is closed. */
  | 'hanging'
  /** It reports wrong candidates until it is closed. */
  | 'wrong'
  /** It finds no solutions. */
  | 'blind';

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
  #mode: DeviceMode = 'fine';
  #listener: EngineListener | undefined;
  /** Resolves when the device is closed. */
  #closed: Promise<void> = Promise.resolve();
  #close = () => {};

  constructor(process: SimulatedProcess, hashesPerSecond: number, random: Random) {
    this.#process = process;
    this.#hashesPerSecond = hashesPerSecond;
    this.#random = random;
  }

  get mode(): DeviceMode {
    return this.#mode;
  }

  set mode(mode: DeviceMode) {
    this.#mode = mode;
    if (mode === 'dead') this.#listener?.lost?.(new DeviceError('lost', 'the driver has crashed'));
    if (mode !== 'hanging') return;
    const listener = this.#listener;
    void this.#process.sleep(HANGS_MS).then(() => {
      if (this.#listener !== listener || this.#mode !== 'hanging') return;
      listener?.lost?.(new DeviceError('lost', 'the driver has reported nothing for 20 s'));
    });
  }

  async open(listener: EngineListener): Promise<EngineInfo> {
    if (this.#mode === 'dead') throw new DeviceError('lost', 'the driver does not answer');
    this.#listener = listener;
    this.#closed = new Promise((resolve) => {
      this.#close = resolve;
    });
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
      if (this.#mode === 'hanging') {
        await this.#closed;
        ranges.giveBack(range);
        return;
      }
      const candidates: bigint[] = [];
      for (let i = 0; i < range.counters && this.#mode !== 'blind'; i++) {
        const parts = { ...range, counter: range.counter + i };
        const isFound = solves(job, parts);
        // A wrong device reports what is no candidate.
        if (!isFound && !(this.#mode === 'wrong' && i === 0)) continue;
        const nonce = joinNonce(parts);
        if (isFound) this.onFound(withNonce(job.header, nonce), job);
        candidates.push(nonce);
      }
      this.onBatch(job, nonces, beganMs);
      yield { searched: range, hashes: nonces, beganMs, candidates };
    }
  }

  async close(): Promise<void> {
    this.#listener = undefined;
    this.#close();
    if (this.#mode === 'hanging' || this.#mode === 'wrong') this.#mode = 'fine';
  }
}
