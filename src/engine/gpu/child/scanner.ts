/** Runs one variant of the kernel: makes dispatches and reads their hits. */

import { readFileSync } from 'node:fs';
import { type Puzzle, placeNonce } from '../../../chain/job.ts';
import type { Range } from '../../../chain/nonce.ts';
import { HIT_CAPACITY, JOB_WORDS, prepareWords } from '../prepare.generated.ts';
import { SHADERS, type ShaderName, type Variant, workgroupCounters } from '../tuning.ts';

/** WebGPU's guaranteed limit on workgroups in one dimension. A larger dispatch has several rows. */
const MOST_IN_ROW = 65_535;
/** Maximum number of counters in a dispatch: 80 ms on today's fastest GPU, longer than any batch should be. */
const MOST_COUNTERS = 2 ** 31;

/** Dispatches in flight: the GPU runs one while another is read and submitted. */
export const SLOTS = 2;

const CONTROL_BYTES = 32;
const JOB_BYTES = 4 * JOB_WORDS;
const COUNT_BYTES = 4;
const RESULT_BYTES = COUNT_BYTES + 4 * HIT_CAPACITY;

interface Slot {
  readonly control: GPUBuffer;
  readonly job: GPUBuffer;
  readonly result: GPUBuffer;
  readonly readback: GPUBuffer;
  readonly bindings: GPUBindGroup;
  /** The page in the buffer `job`. */
  loaded: Page | undefined;
}

interface Page {
  readonly puzzle: Puzzle;
  readonly lane: number;
  readonly page: number;
}

/** `hits` are counters. `overflow`: there were more hits than the result has room for. */
export type Scan = { readonly hits: number[] } | 'overflow';

export class Scanner {
  readonly variant: Variant;
  /** Counters in a workgroup, of which a dispatch has a whole number. A result has room for as many hits. */
  readonly unit: number;
  /** Maximum number of counters in a dispatch. */
  readonly most: number;
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;
  readonly #slots: readonly Slot[];
  readonly #idle: Slot[];

  private constructor(variant: Variant, device: GPUDevice, pipeline: GPUComputePipeline) {
    this.variant = variant;
    this.unit = workgroupCounters(variant);
    this.most = MOST_COUNTERS;
    this.#device = device;
    this.#pipeline = pipeline;
    this.#slots = Array.from({ length: SLOTS }, () => createSlot(device, pipeline));
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
   * Searches a range of one page and at most `most` counters by one dispatch. Call it only while `free`.
   * @returns the counters whose hash word 7 is at most the target's
   */
  async scan(puzzle: Puzzle, range: Range): Promise<Scan> {
    const slot = this.#idle.pop();
    if (!slot) throw new Error(`only ${SLOTS} dispatches may be in flight`);
    const workgroups = Math.ceil(range.counters / this.unit);
    const rows = Math.ceil(workgroups / MOST_IN_ROW);
    const inRow = Math.ceil(workgroups / rows);
    const { queue } = this.#device;
    const control = [range.counter, puzzle.target[7], 16, 12, 8, 7, 1, inRow * this.variant.workgroupSize];
    queue.writeBuffer(slot.control, 0, Uint32Array.from(control));
    this.#load(slot, { puzzle, lane: range.lane, page: range.page });

    const encoder = this.#device.createCommandEncoder();
    encoder.clearBuffer(slot.result, 0, COUNT_BYTES);
    const pass = encoder.beginComputePass();
    pass.setPipeline(this.#pipeline);
    pass.setBindGroup(0, slot.bindings);
    pass.dispatchWorkgroups(inRow, rows);
    pass.end();
    encoder.copyBufferToBuffer(slot.result, 0, slot.readback, 0, RESULT_BYTES);
    queue.submit([encoder.finish()]);

    await slot.readback.mapAsync(GPUMapMode.READ);
    const [count, ...offsets] = readHits(slot.readback.getMappedRange());
    slot.readback.unmap();
    this.#idle.push(slot);
    if (count > HIT_CAPACITY) return 'overflow';
    // The last workgroup can reach past the end of the range.
    return { hits: offsets.filter((offset) => offset < range.counters).map((offset) => range.counter + offset) };
  }

  /** Writes the page's words, unless the slot has them already, as after a dispatch of the same page. */
  #load(slot: Slot, page: Page): void {
    const { puzzle, lane } = page;
    const { loaded } = slot;
    if (loaded?.puzzle === puzzle && loaded.lane === lane && loaded.page === page.page) return;
    const tail = puzzle.tail.slice();
    placeNonce(tail, { lane, page: page.page, counter: 0 });
    this.#device.queue.writeBuffer(slot.job, 0, prepareWords(puzzle.midstate, tail));
    slot.loaded = page;
  }

  /** No dispatch may be in flight. */
  destroy(): void {
    for (const { control, job, result, readback } of this.#slots) {
      for (const buffer of [control, job, result, readback]) buffer.destroy();
    }
  }
}

export function wgslOf(shader: ShaderName): string {
  return readFileSync(new URL(`../../../../shaders/${SHADERS[shader]}`, import.meta.url), 'utf8');
}

/** @returns the number of hits, then the offsets for which there was room */
function readHits(mapped: ArrayBuffer): number[] {
  const [count] = new Uint32Array(mapped, 0, 1);
  return [count, ...new Uint32Array(mapped, COUNT_BYTES, Math.min(count, HIT_CAPACITY))];
}

function createSlot(device: GPUDevice, pipeline: GPUComputePipeline): Slot {
  const { COPY_DST, COPY_SRC, MAP_READ, STORAGE, UNIFORM } = GPUBufferUsage;
  const control = device.createBuffer({ size: CONTROL_BYTES, usage: UNIFORM | COPY_DST });
  const job = device.createBuffer({ size: JOB_BYTES, usage: UNIFORM | COPY_DST });
  const result = device.createBuffer({ size: RESULT_BYTES, usage: STORAGE | COPY_SRC | COPY_DST });
  const readback = device.createBuffer({ size: RESULT_BYTES, usage: MAP_READ | COPY_DST });
  const bindings = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [control, job, result].map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  return { control, job, result, readback, bindings, loaded: undefined };
}

/*
 * Polling. While any of its promises is pending, Dawn polls through `globalThis.setImmediate`, which keeps a core busy.
 * Here timers poll instead, rarely and at the right time, because waking the processor costs more than the poll.
 */

/** Time between polls while the end of a dispatch is not known. */
const POLL_MS = 1;
/** Time between polls of an overdue dispatch, as a fraction of its forecast time, and the maximum. */
const POLL_PART = 1 / 8;
const MOST_POLL_MS = 4;
/** Timers fire this early on average, because they count whole milliseconds. */
const TIMER_EARLY_MS = 0.5;

let quietUntilMs = 0;
let expectedMs = 0;

/** Replaces `setImmediate`. Call this once Dawn is loaded, in a process that only mines with Dawn. */
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
 * The end of a dispatch. The GPU runs dispatches one after the other, and ends are noticed late. So the forecast starts
 * at the expected end of the previous dispatch, not when that was noticed.
 */

/**
 * Fraction of the forecast time after which the end is expected. With all of it, a rate that was measured too low would
 * confirm itself forever. With less, some polls come early and show the true end.
 */
const PART = 0.995;
/** Delay of an end after which the forecast was wrong, so that the present time counts. */
const LOOK_MS = 1;

interface Flight {
  readonly beganMs: number;
  readonly lengthMs: number;
}

export class DispatchForecast {
  /** In the order of submission, which is also the order of their ends. */
  readonly #flights: Flight[] = [];
  /** Best estimate of the last end. */
  #endMs = Number.NEGATIVE_INFINITY;

  get inFlight(): number {
    return this.#flights.length;
  }

  /** For the oldest dispatch in flight: its time, and when to poll for its end. */
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

  /** The oldest dispatch in flight is done. */
  done(nowMs: number): void {
    const dueMs = this.next?.dueMs ?? nowMs;
    this.#endMs = nowMs < dueMs + LOOK_MS ? Math.min(dueMs, nowMs) : nowMs;
    this.#flights.shift();
  }
}
