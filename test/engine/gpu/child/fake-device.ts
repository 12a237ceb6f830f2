/** A WebGPU device that computes nothing: tests choose what a dispatch finds. */

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
  /** The words of the dispatch's control block: the first counter, the target's word, …, the invocations in a row. */
  readonly control: Uint32Array;
  /** Answers with the shader's count of hits and the offsets that it wrote. */
  readonly finish: (count: number, offsets?: readonly number[]) => void;
}

/** The size of the control buffer. No other buffer has this size. */
const CONTROL_BYTES = 32;

/** Defines WebGPU's global constants for a test. */
const FLAGS = { MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128 };

export class FakeDevice {
  readonly buffers: FakeBuffer[] = [];
  readonly dispatches: Dispatch[] = [];
  /** Whether each dispatch ends at once without hits. */
  isQuick = false;
  /** How often the words of a job were written. */
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
