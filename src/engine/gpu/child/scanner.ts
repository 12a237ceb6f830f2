/** One variant of the shader on one device: dispatches, and the hits that they find. */

import { readFileSync } from 'node:fs';
import { type Puzzle, placeNonce } from '../../../chain/job.ts';
import type { Range } from '../../../chain/nonce.ts';
import { HIT_CAPACITY, JOB_WORDS, prepareWords } from '../prepare.generated.ts';
import { SHADERS, type ShaderName, type Variant, workgroupCounters } from '../variants.ts';

/** WebGPU's limit on workgroups in one dimension, on every device: a dispatch of more has several rows. */
const MOST_IN_ROW = 65_535;
/** Far more than a dispatch has: 80 ms of today's fastest GPU. */
const MOST_COUNTERS = 2 ** 31;

/** Two dispatches in flight: the GPU works on one while the other is read back and replaced. */
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
  /** What the words in `job` are for. */
  loaded: Page | undefined;
}

interface Page {
  readonly puzzle: Puzzle;
  readonly lane: number;
  readonly page: number;
}

/** `overflow`: there were more hits than the result has room for, so some are not known. */
export type Scan = { readonly hits: number[] } | 'overflow';

export class Scanner {
  readonly variant: Variant;
  /** Counters of one workgroup: dispatches consist of whole workgroups. All of its counters can hit without overflow. */
  readonly unit: number;
  /** The most counters of one dispatch. */
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

  /** @throws Error when the driver cannot compile it. */
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

  /** Whether another dispatch may be put in flight. */
  get free(): boolean {
    return this.#idle.length > 0;
  }

  /**
   * Dispatches one range, of at most `most` counters. Call it only while `free`.
   * @returns the hits: the counters of the range whose hash word 7 is at most the target's
   */
  async scan(puzzle: Puzzle, range: Range): Promise<Scan> {
    const slot = this.#idle.pop();
    if (!slot) throw new Error(`only ${SLOTS} dispatches may be in flight`);
    const workgroups = Math.ceil(range.counters / this.unit);
    const rows = Math.ceil(workgroups / MOST_IN_ROW);
    const inRow = Math.ceil(workgroups / rows);
    const { queue } = this.#device;
    const control = [range.counter, puzzle.target[7], 12, 7, 1, inRow * this.variant.workgroupSize];
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
    // The last workgroup, and the last row, can reach past the range's end.
    return { hits: offsets.filter((offset) => offset < range.counters).map((offset) => range.counter + offset) };
  }

  /** Most dispatches search the same page as the one before: then its words are there already. */
  #load(slot: Slot, page: Page): void {
    const { puzzle, lane } = page;
    const { loaded } = slot;
    if (loaded?.puzzle === puzzle && loaded.lane === lane && loaded.page === page.page) return;
    const tail = puzzle.tail.slice();
    placeNonce(tail, { lane, page: page.page, counter: 0 });
    this.#device.queue.writeBuffer(slot.job, 0, prepareWords(puzzle.midstate, tail));
    slot.loaded = page;
  }

  /** Frees its memory on the device. Nothing may be in flight. */
  destroy(): void {
    for (const { control, job, result, readback } of this.#slots) {
      for (const buffer of [control, job, result, readback]) buffer.destroy();
    }
  }
}

export function wgslOf(shader: ShaderName): string {
  return readFileSync(new URL(`../../../../shaders/${SHADERS[shader]}`, import.meta.url), 'utf8');
}

/** @returns the count, then the offsets that there was room for */
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
