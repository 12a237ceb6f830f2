/** Runs one variant of the kernel: makes batches of dispatches and reads their hits. */

import { readFileSync } from 'node:fs';
import { type Puzzle, placeNonce } from '../../../../protocol/chain/job.ts';
import { type NonceParts, type Range, sizeOf, word6Of } from '../../../../protocol/chain/nonce.ts';
import { HIT_CAPACITY, JOB_WORDS, prepareWords } from '../prepare.generated.ts';
import { SHADERS, type ShaderName, type Variant, workgroupCounters } from '../tuning.ts';

/** WebGPU's guaranteed limit on workgroups in one dimension. A larger dispatch has several rows. */
const MOST_IN_ROW = 65_535;
/** Maximum number of nonces in a batch: 80 ms on today's fastest GPU, longer than any batch should be. */
const MOST_NONCES = 2 ** 31;
/**
 * Maximum number of pages in a batch. Where counters go in steps of 256, a page has 2^24 counters, which a fast GPU
 * searches in half a millisecond: a batch of 32 ms has 64 such pages. In steps of 65,536, a fast GPU searches all pages
 * within a second.
 */
const MOST_PAGES = 256;

/** Maximum number of batches in flight: the GPU runs one while another is read and submitted. */
export const SLOTS = 2;

/** Distance of two pages' words in a uniform buffer: WebGPU's largest alignment of such offsets. */
const PAGE_BYTES = 256;
const PAGE_WORDS = PAGE_BYTES / 4;
const CONTROL_BYTES = 40;
const JOB_BYTES = 4 * JOB_WORDS;
const COUNT_BYTES = 4;
const RESULT_BYTES = COUNT_BYTES + 4 * HIT_CAPACITY;

interface Slot {
  readonly control: GPUBuffer;
  readonly job: GPUBuffer;
  readonly result: GPUBuffer;
  readonly readback: GPUBuffer;
  /** One binding for each page of a batch, made when a batch first has that many pages. */
  readonly bindings: GPUBindGroup[];
  /** The pages whose words are in the buffer `job`; undefined before the first batch. */
  loaded: Pages | undefined;
}

type Pages = Pick<Range, 'lane' | 'step' | 'page' | 'pages'> & { readonly puzzle: Puzzle };

export type Hit = Pick<NonceParts, 'page' | 'counter'>;

/** The hits; `overflow` if there were more than the result has room for. */
export type Scan = { readonly hits: readonly Hit[] } | 'overflow';

export class Scanner {
  readonly variant: Variant;
  /** Counters in a workgroup. A dispatch has a whole number of workgroups, and a result has room for `unit` hits. */
  readonly unit: number;
  /** Maximum number of nonces in a batch. */
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

  /** @throws Error when the driver cannot compile the variant */
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
   * Searches a range of at most `most` nonces and MOST_PAGES pages (`cutBatch` makes such ranges). All pages'
   * dispatches are submitted together. Call this only while `free`.
   * @returns the nonces whose hash word 7 is at most the target's, or `overflow`
   */
  async scan(puzzle: Puzzle, range: Range): Promise<Scan> {
    const slot = this.#idle.pop();
    if (!slot) throw new Error(`only ${SLOTS} batches may be in flight`);
    const workgroups = Math.ceil(range.counters / this.unit);
    const rows = Math.ceil(workgroups / MOST_IN_ROW);
    const inRow = Math.ceil(workgroups / rows);
    const { queue } = this.#device;
    /** Number of counters that are searched on each page: the last workgroup can reach past the end of the range. */
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

  /** Writes the pages' words, unless the slot still has them from a batch with the same puzzle and pages. */
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

  /** No dispatch may be in flight. */
  destroy(): void {
    for (const { control, job, result, readback } of this.#slots) {
      for (const buffer of [control, job, result, readback]) buffer.destroy();
    }
  }
}

/**
 * Cuts off the range of a batch: a part of one page, or whole pages.
 * @param most number of nonces @param unit counters in a workgroup, of which each page takes a whole number
 * @returns the batch's range, and what is left: nothing, one range or two
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

/** @returns the number of hits, then the hits for which there was room */
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

/** @param page the number of the page within its batch */
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
 * Polling. While a promise of Dawn's is pending, Dawn polls through `globalThis.setImmediate`, which keeps a core busy.
 * Here timers poll instead, rarely and at the right time, because waking the processor costs more than the poll.
 */

/** Minimum time between polls, which is used while the length of a dispatch is not known. */
const POLL_MS = 1;
/** Time between polls of an overdue dispatch, as a fraction of its forecast time; and the maximum of that time. */
const POLL_PART = 1 / 8;
const MOST_POLL_MS = 4;
/** Timers fire this early on average, because they count whole milliseconds. */
const TIMER_EARLY_MS = 0.5;

let quietUntilMs = 0;
let expectedMs = 0;

/** Replaces `setImmediate`. Call this after Dawn is loaded, in a process that only mines with Dawn. */
export function calmPolling(): void {
  const { setImmediate } = globalThis;
  const timer = (poll: (...args: unknown[]) => void, ...args: unknown[]) =>
    // setImmediate, because Dawn asks for the next poll before the code that waits for this one has called `expectIn`.
    setImmediate(() => setTimeout(poll, untilPollMs(quietUntilMs - performance.now(), expectedMs), ...args));
  globalThis.setImmediate = timer as unknown as typeof setImmediate;
}

/**
 * Forecasts for the polling that no dispatch ends in the next `ms`.
 * @param lengthMs the time that the whole dispatch should take
 */
export function expectIn(ms: number, lengthMs: number): void {
  quietUntilMs = performance.now() + ms;
  expectedMs = lengthMs;
}

/**
 * @param quietMs time until a dispatch should end; 0 or less once it is overdue
 * @param lengthMs time of the whole dispatch; 0 when it is not known
 * @returns ms until the next poll
 */
export function untilPollMs(quietMs: number, lengthMs: number): number {
  if (quietMs > 0) return quietMs + TIMER_EARLY_MS;
  return Math.min(MOST_POLL_MS, Math.max(POLL_MS, POLL_PART * lengthMs));
}

/*
 * Estimates when dispatches end. The GPU runs dispatches one after the other, and this process notices their ends late.
 * So a forecast starts at the expected end of the previous dispatch, not when that end was noticed.
 */

/**
 * Fraction of the forecast time after which the end is expected. With 1, a rate that was measured too low would confirm
 * itself forever. With less, some polls come early and show the true end.
 */
const PART = 0.995;
/**
 * Maximum lateness of an end that still fits the forecast. If an end is noticed later than that, the time at which it
 * was noticed counts as the end.
 */
const LOOK_MS = 1;

interface Flight {
  readonly beganMs: number;
  readonly lengthMs: number;
}

export class DispatchForecast {
  /** The dispatches in flight, in the order of submission, in which they also end. */
  readonly #flights: Flight[] = [];
  /** Best estimate of the time at which the last dispatch ended. */
  #endMs = Number.NEGATIVE_INFINITY;

  get inFlight(): number {
    return this.#flights.length;
  }

  /** Length of the oldest dispatch in flight, and the time at which to poll for its end. */
  get next(): { readonly lengthMs: number; readonly dueMs: number } | undefined {
    const [oldest] = this.#flights;
    if (!oldest) return undefined;
    const { beganMs, lengthMs } = oldest;
    return { lengthMs, dueMs: Math.max(beganMs, this.#endMs) + PART * lengthMs };
  }

  /** @param lengthMs time of the dispatch; 0 when it is not known */
  submitted(nowMs: number, lengthMs: number): void {
    this.#flights.push({ beganMs: nowMs, lengthMs });
  }

  /** Must be called when the oldest dispatch in flight is done. */
  done(nowMs: number): void {
    const dueMs = this.next?.dueMs ?? nowMs;
    this.#endMs = nowMs < dueMs + LOOK_MS ? Math.min(dueMs, nowMs) : nowMs;
    this.#flights.shift();
  }
}
