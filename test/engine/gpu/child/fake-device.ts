/** A WebGPU device that computes nothing: what a dispatch finds is what a test says. */

import { onTestFinished, vi } from 'vitest';
import type { Scanner } from '#pickaxe/engine/gpu/child/scanner.js';

type Device = Parameters<typeof Scanner.compile>[0];

/** Whether it was freed. */
export interface FakeBuffer {
  readonly size: number;
  destroyed: boolean;
}

export interface Dispatch {
  readonly workgroups: readonly [inRow: number, rows: number];
  /** Words of its control block: the first counter, the target's word, …, the invocations in a row. */
  readonly control: Uint32Array;
  /** Answers with the shader's count of hits and the offsets that it wrote. */
  readonly finish: (count: number, offsets?: readonly number[]) => void;
}

/** Of the buffer that says what a dispatch searches: the only one of this size. */
const CONTROL_BYTES = 32;

/** What WebGPU's implementations define for everybody; here for one test. */
const FLAGS = { MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128 };

export class FakeDevice {
  readonly buffers: FakeBuffer[] = [];
  readonly dispatches: Dispatch[] = [];
  /** Whether each dispatch is done at once, and finds nothing. */
  isQuick = false;
  /** How often words of a job were written. */
  jobsWritten = 0;
  #control = new Uint32Array();
  #workgroups: readonly [number, number] = [0, 0];
  readonly queue = {
    writeBuffer: (buffer: FakeBuffer, _offset: number, words: Uint32Array) => {
      if (buffer.size === CONTROL_BYTES) this.#control = words.slice();
      else this.jobsWritten++;
    },
    submit: () => {},
  };

  constructor() {
    vi.stubGlobal('GPUBufferUsage', FLAGS);
    vi.stubGlobal('GPUMapMode', { READ: 1 });
    onTestFinished(() => void vi.unstubAllGlobals());
  }

  get asDevice(): Device {
    return this as unknown as Device;
  }

  createShaderModule = () => ({});
  createComputePipelineAsync = async () => ({ getBindGroupLayout: () => ({}) });
  createBindGroup = () => ({});

  createBuffer = ({ size }: { readonly size: number }) => {
    let mapped = new ArrayBuffer(0);
    const buffer = {
      size,
      destroyed: false,
      destroy: () => {
        buffer.destroyed = true;
      },
      mapAsync: () =>
        new Promise<void>((resolve) => {
          const finish = (count: number, offsets: readonly number[] = []) => {
            const words = new Uint32Array(size / 4);
            words.set([count, ...offsets]);
            mapped = words.buffer;
            resolve();
          };
          if (this.isQuick) setImmediate(() => finish(0));
          else this.dispatches.push({ workgroups: this.#workgroups, control: this.#control, finish });
        }),
      getMappedRange: () => mapped,
      unmap: () => {},
    };
    this.buffers.push(buffer);
    return buffer;
  };

  createCommandEncoder = () => ({
    clearBuffer: () => {},
    copyBufferToBuffer: () => {},
    finish: () => ({}),
    beginComputePass: () => ({
      setPipeline: () => {},
      setBindGroup: () => {},
      end: () => {},
      dispatchWorkgroups: (inRow: number, rows: number) => {
        this.#workgroups = [inRow, rows];
      },
    }),
  });
}
