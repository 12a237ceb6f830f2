/** One GPU as an engine. The GPU itself is in a child process: see gpu-process.ts and child/child.ts. */

import { onAbort } from '../../../base/system/abort.ts';
import type { Job } from '../../../protocol/chain/job.ts';
import { COUNTERS, countersAt, PAGES, type Range, sizeOf, stepFor } from '../../../protocol/chain/nonce.ts';
import {
  DeviceError,
  type Engine,
  type EngineInfo,
  type EngineListener,
  type GpuKernelInfo,
  type Ranges,
  type SearchReport,
} from '../engine.ts';
import { type ChildScript, type Environment, GpuProcess } from './gpu-process.ts';
import type { Card } from './pci.ts';
import type { ToParent } from './protocol.ts';
import { nameOf, TUNING_LIMITS, type Tuning, type TuningLimits, type Variant } from './tuning.ts';

export interface GpuOptions {
  /** `gpu0` … */
  readonly name: string;
  /** The model from `listGpus`. The default is the GPU that Dawn considers the fastest. */
  readonly adapter?: string;
  /** Whether a software renderer on the CPU is accepted. */
  readonly softwareGpu?: boolean;
  /** Time that a dispatch should take, at least 2 ms. The default is the best time by tuning. */
  readonly batchMs?: number;
  /** Folder for tunings. Without it the GPU is measured at each opening, which takes seconds. */
  readonly cacheDirectory?: string;
  readonly card?: Card;
  /** Time without a report after which the GPU counts as lost and its process is killed. */
  readonly silenceMs?: number;
  /** Environment of the child process, for drivers and loaders. */
  readonly environment?: Environment;
  /** Whether to measure even when a tuning is remembered. */
  readonly tuneAgain?: boolean;
  /** The variant of the kernel. The default is the fastest one. */
  readonly variant?: Variant;
  /**
   * Whether to mine at once with the likely fastest variant if no tuning is remembered, and to measure all variants
   * while mining. Otherwise opening takes the seconds of that measurement.
   */
  readonly minesAtOnce?: boolean;
  /** Whether to skip the measurement while mining, because the process may end before the measurement does. */
  readonly hurried?: boolean;
  /** The likely fastest variant. The default follows from the chip's maker. */
  readonly likely?: Variant;
  /** Overrides of TUNING_LIMITS. */
  readonly tuningLimits?: Partial<TuningLimits>;
  readonly child?: ChildScript;
}

export interface GpuInfo extends EngineInfo {
  readonly gpu: GpuKernelInfo;
  /** Measured at this start or at an earlier one. */
  readonly tuning: Tuning;
  /** For people: the source of the sensors' readings, or why there is none. */
  readonly sensors: string;
}

/** What is known of an open GPU. */
type Opened = Omit<Extract<ToParent, { type: 'opened' }>, 'type'>;

export class GpuEngine implements Engine {
  readonly name: string;
  readonly kind = 'gpu';
  readonly #options: GpuOptions;
  #process: GpuProcess | undefined;
  #chunkNonces = LEAST_NONCES;
  #searches = 0;
  /** Names of the variants that were being tried when the device was lost. */
  readonly #skip = new Set<string>();

  constructor(options: GpuOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Number of the child process; undefined while the engine is closed. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async open(listener: EngineListener = {}): Promise<GpuInfo> {
    if (this.#process) throw new Error(`${this.name} is open already`);
    const { adapter, variant, batchMs, cacheDirectory, environment, silenceMs, child } = this.#options;
    const { softwareGpu = false, tuneAgain = false, minesAtOnce = false, hurried = false } = this.#options;
    const { likely, card = {} } = this.#options;
    const skip = [...this.#skip];
    const wanted = {
      adapter,
      softwareGpu,
      variant,
      batchMs,
      cacheDirectory,
      tuneAgain,
      minesAtOnce,
      hurried,
      likely,
      tuningLimits: { ...TUNING_LIMITS, ...this.#options.tuningLimits },
      card,
      skip,
    };
    this.#process = new GpuProcess(environment, {
      child,
      silenceMs,
      progress: (what, done) => listener.progress?.(what, done),
      telemetry: (telemetry) => listener.telemetry?.(telemetry),
      tuned: (tuned) => {
        if (opened) listener.changed?.(this.#adopt({ ...opened, ...tuned }));
      },
      lost: (fault) => {
        this.#skipIfLost(fault);
        listener.lost?.(fault);
      },
    });
    let opened: Opened | undefined;
    try {
      opened = await this.#process.open({ type: 'open', ...wanted });
      return this.#adopt(opened);
    } catch (error) {
      this.#skipIfLost(error as DeviceError);
      await this.close();
      throw error;
    }
  }

  /** Takes over what the child has reported. */
  #adopt({ model, driver, tuning, why, sensors }: Opened): GpuInfo {
    const { batchMs, card: { bus } = {} } = this.#options;
    const { shader, workgroupSize, trips } = tuning.variant;
    const gpu = {
      driver,
      variant: nameOf(tuning.variant),
      workgroupSize,
      noncesPerInvocation: trips,
      batchMs: batchMs ?? tuning.batchMs,
    };
    this.#chunkNonces = chunkNonces(tuning.hashesPerSecond, gpu.batchMs);
    return { model, kernel: shader, why, gpu, tuning, sensors, ...(bus && { bus }) };
  }

  /** Makes later openings skip the variant that was being tried when the device was lost. */
  #skipIfLost({ fault }: DeviceError): void {
    const trying = this.#process?.trying;
    if (trying !== undefined && fault === 'lost') this.#skip.add(trying);
  }

  async *search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncGenerator<SearchReport, void, void> {
    const gpu = this.#process;
    if (!gpu) throw new DeviceError('lost', `${this.name} is not open`);
    const search = this.#searches++;
    const given = new Given();
    const step = stepFor(job.work.nonce1);
    let ended = false;
    let stopped = false;
    const halt = () => {
      stopped = true;
      gpu.send({ type: 'stop', search });
    };

    gpu.begin(search, job);
    const release = onAbort(stop, halt);
    try {
      for (;;) {
        const chunk = chunkOf(this.#chunkNonces, step);
        if (!stopped) given.topUp(ranges, chunk, (range) => gpu.send({ type: 'range', search, range }));
        if (!stopped && given.isEmpty) halt();
        const message = await gpu.next(search);
        ended = message.type === 'ended';
        if (message.type === 'ended') return;
        given.settle(message.searched);
        const { searched, beganMs, candidates } = message;
        yield { searched, hashes: sizeOf(searched), beganMs, candidates };
      }
    } finally {
      release();
      // The caller may stop reading early. Ranges that the GPU has not reported are given back.
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
}

/* The ranges that the child process has and has not reported as searched */

/**
 * Minimum time that the search of a chunk should take. The child has more than one chunk, usually two, so that it has
 * enough while this process is busy.
 */
const CHUNK_MS = 300;
/** Maximum number of ranges in the child. When a space is nearly used up, ranges can be small and many. */
const MOST_CHUNKS = 64;
const LEAST_NONCES = 2 ** 16;

/**
 * @returns number of nonces in a chunk: enough for CHUNK_MS and for two batches, of which one waits while the other is
 *   in flight, within LEAST_NONCES … COUNTERS
 */
export function chunkNonces(hashesPerSecond: number, batchMs: number): number {
  const nonces = Math.round((hashesPerSecond * Math.max(CHUNK_MS, 2 * batchMs)) / 1000);
  return Math.min(COUNTERS, Math.max(LEAST_NONCES, nonces));
}

type Shape = Pick<Range, 'counters' | 'pages'>;

/** @returns a part of one page or, where a page has fewer counters than a chunk has nonces, whole pages */
export function chunkOf(nonces: number, step: number): Shape {
  const counters = Math.min(nonces, countersAt(step));
  return { counters, pages: Math.min(PAGES, Math.floor(nonces / counters)) };
}

export class Given {
  rest: readonly Range[] = [];

  get isEmpty(): boolean {
    return this.rest.length === 0;
  }

  get nonces(): number {
    return this.rest.reduce((sum, range) => sum + sizeOf(range), 0);
  }

  add(range: Range): void {
    this.rest = [...this.rest, range];
  }

  /**
   * Takes ranges until the child has more nonces than one chunk, or MOST_CHUNKS ranges, or the space is used up. Passes
   * each range to `send`.
   */
  topUp(ranges: Ranges, chunk: Shape, send: (range: Range) => void): void {
    while (this.nonces <= sizeOf(chunk) && this.rest.length < MOST_CHUNKS) {
      const range = ranges.take(chunk);
      if (!range) return;
      this.add(range);
      send(range);
    }
  }

  /**
   * Removes a range that was reported as searched. It may span several consecutive chunks.
   * @throws DeviceError when a part of the range was not given to the child, or was reported before
   */
  settle(searched: Range): void {
    let settled = 0;
    const rest = this.rest.flatMap((range) => {
      const part = common(range, searched);
      settled += part ? sizeOf(part) : 0;
      return part ? without(range, part) : range;
    });
    if (settled !== sizeOf(searched)) {
      throw new DeviceError('lost', 'the GPU was lost: its process reported a range that it was not given');
    }
    this.rest = rest;
  }
}

/* Arithmetic on ranges */

/** @returns the intersection; undefined when it is empty */
export function common(one: Range, other: Range): Range | undefined {
  if (one.lane !== other.lane || one.step !== other.step) return undefined;
  const page = Math.max(one.page, other.page);
  const pages = Math.min(one.page + one.pages, other.page + other.pages) - page;
  const counter = Math.max(one.counter, other.counter);
  const counters = Math.min(one.counter + one.counters, other.counter + other.counters) - counter;
  return pages > 0 && counters > 0 ? { ...one, page, pages, counter, counters } : undefined;
}

/**
 * @returns what remains of a range without one of its parts: the pages before and after the part, and the other
 *   counters of the part's pages
 */
export function without(range: Range, part: Range): Range[] {
  const { page, pages } = part;
  const pageEnd = page + pages;
  const counterEnd = part.counter + part.counters;
  return [
    { ...range, pages: page - range.page },
    { ...range, page, pages, counters: part.counter - range.counter },
    { ...range, page, pages, counter: counterEnd, counters: range.counter + range.counters - counterEnd },
    { ...range, page: pageEnd, pages: range.page + range.pages - pageEnd },
  ].filter((rest) => sizeOf(rest) > 0);
}
