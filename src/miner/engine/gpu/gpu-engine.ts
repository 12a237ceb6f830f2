/** One GPU as an engine. A child process owns the GPU: see gpu-process.ts and child/child.ts. */

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
  /** Name of the engine, such as `gpu0`: unique in a rig. */
  readonly name: string;
  /** The GPU's name from `listGpus` (`model`). The default is the GPU that Dawn considers the fastest. */
  readonly adapter?: string;
  /** Whether a software renderer, which runs on the CPU, is accepted. */
  readonly softwareGpu?: boolean;
  /** Intended length of a batch, in ms, at least 2. The default is the length that the tuning has found. */
  readonly batchMs?: number;
  /** Folder in which tunings are remembered. Without it, nothing is remembered. */
  readonly cacheDirectory?: string;
  /** The card to which the GPU belongs: its sensors are read. */
  readonly card?: Card;
  /**
   * Time without messages after which the GPU counts as lost and its process is killed, in ms. The default is 20,000.
   */
  readonly silenceMs?: number;
  /** Variables that are added to the environment of the child process, for drivers and loaders. */
  readonly environment?: Environment;
  /** Whether to measure all variants before mining, even if a tuning is remembered. */
  readonly tuneAgain?: boolean;
  /** The only variant of the kernel to use. By default, child/tuned-scanner.ts chooses it. */
  readonly variant?: Variant;
  /**
   * This option matters if no tuning is remembered. With true, the GPU mines at once with the variant that is likely
   * the fastest, if one is known, and the variants are measured while it mines. With false, the variants are measured
   * when the GPU is opened, which takes seconds.
   */
  readonly minesAtOnce?: boolean;
  /**
   * Whether to leave out the measurement that `minesAtOnce` starts, because the process may end before the measurement.
   */
  readonly hurried?: boolean;
  /** The variant that is likely the fastest. The default follows from the maker and the architecture of the chip. */
  readonly likely?: Variant;
  /** Values that replace values of TUNING_LIMITS. */
  readonly tuningLimits?: Partial<TuningLimits>;
  /** The script of the child process. Tests replace it. */
  readonly child?: ChildScript;
}

export interface GpuInfo extends EngineInfo {
  readonly gpu: GpuKernelInfo;
  /** The tuning in use, which was measured at this start or at an earlier one. */
  readonly tuning: Tuning;
  /** For people: the source of the sensors' readings, or why there are none. */
  readonly sensors: string;
}

/** What the child process reports about an open GPU. */
type Opened = Omit<Extract<ToParent, { type: 'opened' }>, 'type'>;

export class GpuEngine implements Engine {
  readonly name: string;
  readonly kind = 'gpu';
  readonly #options: GpuOptions;
  #process: GpuProcess | undefined;
  #chunkNonces = LEAST_NONCES;
  #searches = 0;
  /** Names of the variants that were being tried when the device was lost. They are not tried again. */
  readonly #skip = new Set<string>();

  constructor(options: GpuOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** ID of the child process; undefined while the engine is closed, or if the process did not start. */
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

  /** Uses the tuning that the child has reported. @returns the description of the GPU */
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

  /** If the device was lost while a variant was being tried, later openings skip this variant. */
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
      // The caller may stop reading early. The reports that it has not read are then dropped, and their ranges are
      // given back together with the unsearched ranges.
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

/* The ranges that the child process has been given, and has not reported as searched */

/**
 * Minimum time that the search of a chunk should take, in ms. A chunk is a range that is sent to the child in one
 * message. The child usually has two chunks, so that the GPU stays busy while this process does something else.
 */
const CHUNK_MS = 300;
/**
 * Maximum number of ranges that the child has. When a space is nearly used up, its ranges can be small, and the child
 * would have many of them.
 */
const MOST_CHUNKS = 64;
/** Minimum number of nonces in a chunk. */
const LEAST_NONCES = 2 ** 16;

/**
 * @returns the number of nonces in a chunk: enough for CHUNK_MS and for two batches, but at least LEAST_NONCES and at
 *   most COUNTERS
 */
export function chunkNonces(hashesPerSecond: number, batchMs: number): number {
  const nonces = Math.round((hashesPerSecond * Math.max(CHUNK_MS, 2 * batchMs)) / 1000);
  return Math.min(COUNTERS, Math.max(LEAST_NONCES, nonces));
}

type Shape = Pick<Range, 'counters' | 'pages'>;

/**
 * @returns the shape of a chunk: a part of one page or, if a page has fewer counters than the chunk has nonces, whole
 *   pages
 */
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
   * Takes ranges until the child has more nonces than one chunk, until it has MOST_CHUNKS ranges, or until no ranges
   * are left. Passes each range to `send`.
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
   * Removes a range that the child has reported. The range may be a part of a chunk, or span several adjacent chunks.
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

/* Arithmetic with ranges: pure functions */

/** @returns the intersection of two ranges; undefined when it is empty */
export function common(one: Range, other: Range): Range | undefined {
  if (one.lane !== other.lane || one.step !== other.step) return undefined;
  const page = Math.max(one.page, other.page);
  const pages = Math.min(one.page + one.pages, other.page + other.pages) - page;
  const counter = Math.max(one.counter, other.counter);
  const counters = Math.min(one.counter + one.counters, other.counter + other.counters) - counter;
  return pages > 0 && counters > 0 ? { ...one, page, pages, counter, counters } : undefined;
}

/**
 * @param part a range within `range`
 * @returns `range` without `part`: the pages before and after the part, and the other counters of the part's pages
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
