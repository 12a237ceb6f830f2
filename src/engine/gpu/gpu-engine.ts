/** One GPU as an engine. The GPU itself lives in a child process: see gpu-process.ts and child/main.ts. */

import type { Job } from '../../chain/job.ts';
import { COUNTERS, type Range, sizeOf } from '../../chain/nonce.ts';
import { DeviceError, type Engine, type EngineInfo, type Ranges, type SearchReport } from '../engine.ts';
import { type Environment, GpuProcess } from './gpu-process.ts';
import type { Fault } from './protocol.ts';
import { contains, without } from './strips.ts';

/**
 * What a dispatch should take. A dispatch cannot be stopped, so two of them are the restart latency; below some
 * milliseconds the overhead of dispatches shows. Good enough until it is measured on more GPUs.
 */
const BATCH_MS = 5;
/** Work in a chunk, two of which are with the child: long against a busy moment of this process's. Good enough. */
const CHUNK_MS = 200;
/** Chunks are at least this long, and a used-up space can leave many small ones: so many are with the child at most. */
const MOST_CHUNKS = 64;
const LEAST_COUNTERS = 2 ** 16;

export interface GpuOptions {
  /** `gpu0` … */
  readonly name: string;
  /** The model as `listGpus` tells it; left out, the fastest in Dawn's opinion. */
  readonly adapter?: string;
  /** Whether an adapter that is software on the CPU will do. */
  readonly softwareGpu?: boolean;
  /** What a dispatch should take. */
  readonly batchMs?: number;
  /** A GPU that reports nothing for this long is given up as hung. */
  readonly silenceMs?: number;
  /** Added to the child process's environment: drivers and loaders are configured there. */
  readonly environment?: Environment;
  /** For tests. */
  readonly fault?: Fault;
}

export class GpuEngine implements Engine {
  readonly name: string;
  readonly kind = 'gpu';
  readonly #options: GpuOptions;
  #process: GpuProcess | undefined;
  #chunkCounters = LEAST_COUNTERS;
  #searches = 0;

  constructor(options: GpuOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Of the child process, while open: tests kill it. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async open(): Promise<EngineInfo> {
    if (this.#process) throw new Error(`${this.name} is open already`);
    const { adapter, softwareGpu = false, batchMs = BATCH_MS, environment, silenceMs, fault } = this.#options;
    this.#process = new GpuProcess(environment, silenceMs);
    try {
      const question = { type: 'open', adapter, softwareGpu, batchMs, fault } as const;
      const { model, kernel, why, hashesPerSecond } = await this.#process.ask(question, 'opened');
      const chunk = Math.round((hashesPerSecond * CHUNK_MS) / 1000);
      this.#chunkCounters = Math.min(COUNTERS, Math.max(LEAST_COUNTERS, chunk));
      return { model, kernel, why };
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async *search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncGenerator<SearchReport, void, void> {
    const gpu = this.#process;
    if (!gpu) throw new DeviceError('lost', `${this.name} is not open`);
    const search = this.#searches++;
    const given = new Given();
    let ended = false;
    let stopped = false;
    const halt = () => {
      stopped = true;
      gpu.send({ type: 'stop', search });
    };

    gpu.begin(search, job);
    stop.addEventListener('abort', halt, { once: true });
    if (stop.aborted) halt();
    try {
      for (;;) {
        if (!stopped) this.#topUp(given, ranges, (range) => gpu.send({ type: 'range', search, range }));
        if (!stopped && given.isEmpty) halt();
        const message = await gpu.next(search);
        ended = message.type === 'ended';
        if (message.type === 'ended') return;
        given.settle(message.searched);
        const { searched, beganMs, candidates } = message;
        yield { searched, hashes: sizeOf(searched), beganMs, candidates };
      }
    } finally {
      stop.removeEventListener('abort', halt);
      // Left early, by whoever reads the reports: what the GPU still does for it is given back as not searched.
      if (!ended && !stopped) halt();
      while (!ended) ended = (await gpu.next(search).catch(() => undefined))?.type !== 'report';
      for (const range of given.rest) ranges.giveBack(range);
    }
  }

  async close(): Promise<void> {
    const gpu = this.#process;
    this.#process = undefined;
    await gpu?.close();
  }

  #topUp(given: Given, ranges: Ranges, send: (range: Range) => void): void {
    while (given.counters <= this.#chunkCounters && given.rest.length < MOST_CHUNKS) {
      const range = ranges.take({ counters: this.#chunkCounters, pages: 1 });
      if (!range) return;
      given.rest.push(range);
      send(range);
    }
  }
}

/** What a child has been given and has not reported on. */
class Given {
  readonly rest: Range[] = [];

  get isEmpty(): boolean {
    return this.rest.length === 0;
  }

  get counters(): number {
    return this.rest.reduce((sum, range) => sum + range.counters, 0);
  }

  /** @throws DeviceError when the part was not given, or is reported for the second time. */
  settle(part: Range): void {
    const at = this.rest.findIndex((range) => contains(range, part));
    if (at < 0) throw new DeviceError('lost', 'the GPU’s process reported on what it was not given');
    this.rest.splice(at, 1, ...without(this.rest[at], part));
  }
}
