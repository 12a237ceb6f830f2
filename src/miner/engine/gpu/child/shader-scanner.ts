/** Runs one variant of the kernel: makes batches of dispatches, reads their hits, and polls for their ends. */

import { readFileSync } from 'node:fs';
import { type Puzzle, placeNonce } from '../../../../protocol/chain/job.ts';
import { type NonceParts, type Range, sizeOf, word6Of } from '../../../../protocol/chain/nonce.ts';
import { HIT_CAPACITY, JOB_WORDS, prepareWords } from '../prepare.generated.ts';
import { SHADERS, type ShaderName, type Variant, workgroupCounters } from '../tuning.ts';

/**
 * Maximum number of workgroups in a row of a dispatch: the limit in one dimension that WebGPU guarantees. A larger
 * dispatch has several rows.
 */
const MOST_IN_ROW = 65_535;
/** Maximum number of nonces in a batch. They take 80 ms on today's fastest GPU, longer than any batch should take. */
const MOST_NONCES = 2 ** 31;
/**
 * Maximum number of pages in a batch. With a step of 256, a page has 2^24 counters, which a fast GPU searches in half a
 * millisecond. So a batch of 32 ms has 64 pages. With a step of 65,536, the maximum makes batches short, but a fast GPU
 * then searches all pages of a lane within a second.
 */
const MOST_PAGES = 256;

/** Maximum number of batches in flight: the GPU runs one batch while another is read or submitted. */
export const SLOTS = 2;

/**
 * Distance from the data of one page to the data of the next page in a uniform buffer, in bytes. It is the largest
 * alignment that WebGPU lets devices require.
 */
const PAGE_BYTES = 256;
const PAGE_WORDS = PAGE_BYTES / 4;
/** Length of the control data of a page: 10 words. */
const CONTROL_BYTES = 40;
const JOB_BYTES = 4 * JOB_WORDS;
const COUNT_BYTES = 4;
const RESULT_BYTES = COUNT_BYTES + 4 * HIT_CAPACITY;

interface Slot {
  readonly control: GPUBuffer;
  readonly job: GPUBuffer;
  readonly result: GPUBuffer;
  readonly readback: GPUBuffer;
  /** A bind group for each page of a batch, made when a batch first has that many pages. */
  readonly bindings: GPUBindGroup[];
  /** The pages whose data is in the buffer `job`; undefined before the first batch. */
  loaded: Pages | undefined;
}

type Pages = Pick<Range, 'lane' | 'step' | 'page' | 'pages'> & { readonly puzzle: Puzzle };

/** A nonce for which word 7 of the hash is at most word 7 of the target. */
export type Hit = Pick<NonceParts, 'page' | 'counter'>;

/** The hits of a batch, or `overflow` if there were more hits than the result has room for. */
export type Scan = { readonly hits: readonly Hit[] } | 'overflow';

export class Scanner {
  readonly variant: Variant;
  /**
   * Number of counters in a workgroup. A dispatch has a whole number of workgroups, and a result has room for at least
   * `unit` hits.
   */
  readonly unit: number;
  /** Maximum number of nonces in a batch: MOST_NONCES. */
  readonly most: number;
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;
  readonly #slots: readonly Slot[];
  readonly #idle: Slot[];

  private constructor(variant: Variant, device: GPUDevice, pipeline: GPUComputePipeline) {
    this.variant = variant;
    this.unit = workgroupCounters(variant);
    this.most = MOST_NONCES;
    this.#device = device;
    this.#pipeline = pipeline;
    this.#slots = Array.from({ length: SLOTS }, () => createSlot(device));
    this.#idle = [...this.#slots];
  }

  /** Compiles the shader for a variant. @throws Error when the driver cannot compile it */
  static async compile(device: GPUDevice, variant: Variant): Promise<Scanner> {
    const pipeline = await device.createComputePipelineAsync({
      layout: 'auto',
      compute: {
        module: device.createShaderModule({ code: wgslOf(variant.shader) }),
        constants: { WORKGROUP_SIZE: variant.workgroupSize, COUNTERS_PER_INVOCATION: variant.trips },
      },
    });
    return new Scanner(variant, device, pipeline);
  }

  get free(): boolean {
    return this.#idle.length > 0;
  }

  /**
   * Searches a range of at most `most` nonces and MOST_PAGES pages, as `cutBatch` makes it. The dispatches of all pages
   * are submitted together. Call this only while `free` is true.
   * @returns the nonces for which word 7 of the hash is at most word 7 of the target, or `overflow`
   * @throws Error when the dispatch fails
   */
  async scan(puzzle: Puzzle, range: Range): Promise<Scan> {
    const slot = this.#idle.pop();
    if (!slot) throw new Error(`only ${SLOTS} batches may be in flight`);
    const workgroups = Math.ceil(range.counters / this.unit);
    const rows = Math.ceil(workgroups / MOST_IN_ROW);
    const inRow = Math.ceil(workgroups / rows);
    const { queue } = this.#device;
    /** Number of counters that are searched on each page. The last workgroups can reach past the end of the range. */
    const ofPage = inRow * rows * this.unit;
    const control = new Uint32Array((range.pages - 1) * PAGE_WORDS + CONTROL_BYTES / 4);
    for (let page = 0; page < range.pages; page++) {
      const [base, row, first] = [word6Of(range), inRow * this.variant.workgroupSize, page * ofPage];
      control.set([base, puzzle.target[7], 16, 12, 8, 7, 1, row, range.step, first], page * PAGE_WORDS);
    }
    queue.writeBuffer(slot.control, 0, control);
    this.#load(slot, puzzle, range);

    const encoder = this.#device.createCommandEncoder();
    encoder.clearBuffer(slot.result, 0, COUNT_BYTES);
    const pass = encoder.beginComputePass();
    pass.setPipeline(this.#pipeline);
    for (let page = 0; page < range.pages; page++) {
      slot.bindings[page] ??= bindPage(this.#device, this.#pipeline, slot, page);
      pass.setBindGroup(0, slot.bindings[page]);
      pass.dispatchWorkgroups(inRow, rows);
    }
    pass.end();
    encoder.copyBufferToBuffer(slot.result, 0, slot.readback, 0, RESULT_BYTES);
    queue.submit([encoder.finish()]);

    await slot.readback.mapAsync(GPUMapMode.READ);
    const [count, ...numbers] = readHits(slot.readback.getMappedRange());
    slot.readback.unmap();
    this.#idle.push(slot);
    if (count > HIT_CAPACITY) return 'overflow';
    const hits = numbers
      .filter((number) => number % ofPage < range.counters)
      .map((number) => ({
        page: range.page + Math.floor(number / ofPage),
        counter: range.counter + (number % ofPage),
      }));
    return { hits };
  }

  /**
   * Writes the data of all pages into the slot's buffer `job`, unless the buffer has that data from a batch with the
   * same puzzle and pages.
   */
  #load(slot: Slot, puzzle: Puzzle, range: Range): void {
    const { lane, step, page, pages } = range;
    const { loaded } = slot;
    const isSame = loaded?.puzzle === puzzle && loaded.lane === lane && loaded.step === step;
    if (isSame && loaded.page === page && loaded.pages === pages) return;
    const words = new Uint32Array((pages - 1) * PAGE_WORDS + JOB_WORDS);
    const tail = puzzle.tail.slice();
    for (let i = 0; i < pages; i++) {
      placeNonce(tail, { ...range, page: page + i });
      words.set(prepareWords(puzzle.midstate, tail), i * PAGE_WORDS);
    }
    this.#device.queue.writeBuffer(slot.job, 0, words);
    slot.loaded = { puzzle, lane, step, page, pages };
  }

  /** Frees the buffers. Call this only while no batch is in flight. */
  destroy(): void {
    for (const { control, job, result, readback } of this.#slots) {
      for (const buffer of [control, job, result, readback]) buffer.destroy();
    }
  }
}

/**
 * Cuts off the range of a batch: a part of one page, or whole pages.
 * @param most maximum number of nonces in the batch
 * @param unit number of counters in a workgroup. The dispatch of a page has a whole number of workgroups
 * @returns the batch's range, and the rest: no range, one or two
 */
export function cutBatch(range: Range, most: number, unit: number): { readonly batch: Range; readonly rest: Range[] } {
  const counters = Math.min(range.counters, most);
  const ofPage = Math.ceil(counters / unit) * unit;
  const pages = Math.max(1, Math.min(range.pages, Math.floor(most / ofPage), MOST_PAGES));
  const rest = [
    { ...range, pages, counter: range.counter + counters, counters: range.counters - counters },
    { ...range, page: range.page + pages, pages: range.pages - pages },
  ];
  return { batch: { ...range, pages, counters }, rest: rest.filter((part) => sizeOf(part) > 0) };
}

export function wgslOf(shader: ShaderName): string {
  return readFileSync(new URL(`../../../../../shaders/${SHADERS[shader]}`, import.meta.url), 'utf8');
}

/** @returns the number of hits, then the offset of each hit for which there was room */
function readHits(mapped: ArrayBuffer): number[] {
  const [count] = new Uint32Array(mapped, 0, 1);
  return [count, ...new Uint32Array(mapped, COUNT_BYTES, Math.min(count, HIT_CAPACITY))];
}

function createSlot(device: GPUDevice): Slot {
  const { COPY_DST, COPY_SRC, MAP_READ, STORAGE, UNIFORM } = GPUBufferUsage;
  const control = device.createBuffer({ label: 'control', size: MOST_PAGES * PAGE_BYTES, usage: UNIFORM | COPY_DST });
  const job = device.createBuffer({ label: 'job', size: MOST_PAGES * PAGE_BYTES, usage: UNIFORM | COPY_DST });
  const result = device.createBuffer({ size: RESULT_BYTES, usage: STORAGE | COPY_SRC | COPY_DST });
  const readback = device.createBuffer({ size: RESULT_BYTES, usage: MAP_READ | COPY_DST });
  return { control, job, result, readback, bindings: [], loaded: undefined };
}

/** @param page index of the page in its batch */
function bindPage(
  device: GPUDevice,
  pipeline: GPUComputePipeline,
  { control, job, result }: Slot,
  page: number,
): GPUBindGroup {
  const offset = page * PAGE_BYTES;
  const resources = [
    { buffer: control, offset, size: CONTROL_BYTES },
    { buffer: job, offset, size: JOB_BYTES },
    { buffer: result },
  ];
  return device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: resources.map((resource, binding) => ({ binding, resource })),
  });
}

/*
 * Polling. While a promise of Dawn is pending, Dawn polls through `globalThis.setImmediate`, which keeps a processor
 * core busy. Here, timers poll instead: rarely, and when a batch should end. Polls are rare, because each poll wakes
 * the processor, and that costs more than the poll.
 */

/**
 * Minimum time between polls of an overdue batch, in ms. It is also the time between polls while the length of a batch
 * is not known.
 */
const POLL_MS = 1;
/** Time between polls of an overdue batch, as a fraction of the batch's forecast length. */
const POLL_PART = 1 / 8;
/** Maximum time between polls of an overdue batch, in ms. */
const MOST_POLL_MS = 4;
/** Mean time by which timers fire early, in ms. They do so because they count whole milliseconds. */
const TIMER_EARLY_MS = 0.5;

/** Time until which no poll is needed, in ms of `performance.now`. */
let quietUntilMs = 0;
/** Forecast length of the oldest batch in flight, in ms; 0 if it is not known. */
let expectedMs = 0;

/**
 * Replaces `globalThis.setImmediate`, so that timers poll. Call this after Dawn is loaded, in a process that does
 * nothing but mine with Dawn.
 */
export function calmPolling(): void {
  const { setImmediate } = globalThis;
  const timer = (poll: (...args: unknown[]) => void, ...args: unknown[]) =>
    // Dawn requests the next poll before the code that waits for the current poll calls `expectIn`. So the delay is
    // computed later, within setImmediate.
    setImmediate(() => setTimeout(poll, untilPollMs(quietUntilMs - performance.now(), expectedMs), ...args));
  globalThis.setImmediate = timer as unknown as typeof setImmediate;
}

/**
 * Sets the time of the next poll: no batch should end in the next `ms`.
 * @param lengthMs forecast length of the whole batch, in ms
 */
export function expectIn(ms: number, lengthMs: number): void {
  quietUntilMs = performance.now() + ms;
  expectedMs = lengthMs;
}

/**
 * @param quietMs time until a batch should end, in ms; 0 or less if it is overdue
 * @param lengthMs forecast length of the whole batch, in ms; 0 if it is not known
 * @returns ms until the next poll
 */
export function untilPollMs(quietMs: number, lengthMs: number): number {
  if (quietMs > 0) return quietMs + TIMER_EARLY_MS;
  return Math.min(MOST_POLL_MS, Math.max(POLL_MS, POLL_PART * lengthMs));
}

/*
 * Estimates of the ends of batches. The GPU runs batches one after the other, and this process notices the end of each
 * batch late. So the forecast for a batch begins at the estimated end of the previous batch, not at the time when that
 * end was noticed.
 */

/**
 * Fraction of the forecast length after which a batch is expected to end. With 1, a rate that was measured too low
 * would confirm itself forever. With less, some polls come before the end, and then the end is noticed in time.
 */
const PART = 0.995;
/**
 * The end of a batch is often noticed a little late. If it is noticed less than this many ms after the expected end,
 * the expected end is used. If it is noticed later, the time when it was noticed is used.
 */
const LOOK_MS = 1;

/** A batch in flight. */
interface Flight {
  /** Time at which the batch was submitted, in ms. */
  readonly beganMs: number;
  /** Forecast length of the batch, in ms; 0 if it is not known. */
  readonly lengthMs: number;
}

export class DispatchForecast {
  /** The batches in flight, in the order of submission. They end in the same order. */
  readonly #flights: Flight[] = [];
  /** Estimated time at which the last batch ended, in ms. */
  #endMs = Number.NEGATIVE_INFINITY;

  get inFlight(): number {
    return this.#flights.length;
  }

  /**
   * Forecast length of the oldest batch in flight, and the time at which to poll for its end; undefined when no batch
   * is in flight.
   */
  get next(): { readonly lengthMs: number; readonly dueMs: number } | undefined {
    const [oldest] = this.#flights;
    if (!oldest) return undefined;
    const { beganMs, lengthMs } = oldest;
    return { lengthMs, dueMs: Math.max(beganMs, this.#endMs) + PART * lengthMs };
  }

  /** Must be called when a batch is submitted. @param lengthMs forecast length of the batch; 0 if it is not known */
  submitted(nowMs: number, lengthMs: number): void {
    this.#flights.push({ beganMs: nowMs, lengthMs });
  }

  /** Must be called when the oldest batch in flight has ended. */
  done(nowMs: number): void {
    const dueMs = this.next?.dueMs ?? nowMs;
    this.#endMs = nowMs < dueMs + LOOK_MS ? Math.min(dueMs, nowMs) : nowMs;
    this.#flights.shift();
  }
}
