/** One shader on one device: dispatches, and what they find. */

import type { Search } from '../../../chain/job.ts';
import { placeNonce } from '../../../chain/job.ts';
import type { Range } from '../../../chain/nonce.ts';
import { HIT_CAPACITY, JOB_WORDS, prepareWords } from '../prepare.generated.ts';

/** Invocations in a workgroup, and counters that each tries. Only good enough: to be tuned per GPU. */
const WORKGROUP_SIZE = 128;
const COUNTERS_PER_INVOCATION = 16;
/** WebGPU's limit on workgroups in one dimension, on every device. */
const MOST_WORKGROUPS = 65_535;

/** Counters of one workgroup: what dispatches are made of. All of them can hit without overflow. */
export const WORKGROUP_COUNTERS = WORKGROUP_SIZE * COUNTERS_PER_INVOCATION;
export const MOST_COUNTERS = MOST_WORKGROUPS * WORKGROUP_COUNTERS;

/** Two dispatches in flight: the GPU works on one while the other is read back and replaced. */
export const SLOTS = 2;

const CONTROL_BYTES = 16;
const JOB_BYTES = 4 * JOB_WORDS;
const COUNT_BYTES = 4;
const RESULT_BYTES = COUNT_BYTES + 4 * HIT_CAPACITY;

/** The shaders in shaders/, by the name that people see. */
export const SHADERS = { wgsl: 'scan.wgsl', 'wgsl-uniform-rotates': 'scan-uniform-rotates.wgsl' } as const;
export type ShaderName = keyof typeof SHADERS;

interface Slot {
  readonly control: GPUBuffer;
  readonly job: GPUBuffer;
  readonly result: GPUBuffer;
  readonly readback: GPUBuffer;
  readonly bindings: GPUBindGroup;
}

/** `overflow`: there were more hits than room, and some are not told. */
export type Scan = { readonly hits: number[] } | 'overflow';

export class Scanner {
  readonly name: ShaderName;
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;
  readonly #idle: Slot[];

  private constructor(name: ShaderName, device: GPUDevice, pipeline: GPUComputePipeline) {
    this.name = name;
    this.#device = device;
    this.#pipeline = pipeline;
    this.#idle = Array.from({ length: SLOTS }, () => createSlot(device, pipeline));
  }

  /** @param code the shader's WGSL */
  static async compile(device: GPUDevice, name: ShaderName, code: string): Promise<Scanner> {
    const pipeline = await device.createComputePipelineAsync({
      layout: 'auto',
      compute: {
        module: device.createShaderModule({ code }),
        constants: { WORKGROUP_SIZE, COUNTERS_PER_INVOCATION },
      },
    });
    return new Scanner(name, device, pipeline);
  }

  /** Whether another dispatch may be put in flight. */
  get free(): boolean {
    return this.#idle.length > 0;
  }

  /**
   * Dispatches one range, of at most MOST_COUNTERS. Call it only while `free`.
   * @returns the counters of the range whose hash word 7 is at most the target's
   */
  async scan(search: Search, range: Range): Promise<Scan> {
    const slot = this.#idle.pop();
    if (!slot) throw new Error(`only ${SLOTS} dispatches may be in flight`);
    const tail = search.tail.slice();
    placeNonce(tail, { lane: range.lane, page: range.page, counter: 0 });
    const { queue } = this.#device;
    queue.writeBuffer(slot.control, 0, Uint32Array.of(range.counter, search.target[7], 12, 7));
    queue.writeBuffer(slot.job, 0, prepareWords(search.midstate, tail));

    const encoder = this.#device.createCommandEncoder();
    encoder.clearBuffer(slot.result, 0, COUNT_BYTES);
    const pass = encoder.beginComputePass();
    pass.setPipeline(this.#pipeline);
    pass.setBindGroup(0, slot.bindings);
    pass.dispatchWorkgroups(Math.ceil(range.counters / WORKGROUP_COUNTERS));
    pass.end();
    encoder.copyBufferToBuffer(slot.result, 0, slot.readback, 0, RESULT_BYTES);
    queue.submit([encoder.finish()]);

    await slot.readback.mapAsync(GPUMapMode.READ);
    const [count, ...offsets] = readHits(slot.readback.getMappedRange());
    slot.readback.unmap();
    this.#idle.push(slot);
    if (count > HIT_CAPACITY) return 'overflow';
    // The last workgroup can reach past the range's end.
    return { hits: offsets.filter((offset) => offset < range.counters).map((offset) => range.counter + offset) };
  }
}

/** The count, then the offsets there were room for. */
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
  return { control, job, result, readback, bindings };
}
