/** A WebGPU device that computes nothing: tests choose what a dispatch finds. */

import { onTestFinished, vi } from 'vitest';
import type { Scanner } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';

type Device = Parameters<typeof Scanner.compile>[0];

/** Whether it was freed. */
export interface FakeBuffer {
  readonly label: string | undefined;
  readonly size: number;
  destroyed: boolean;
}

/** A part of a buffer, in bytes; the whole buffer without `size`. */
interface BoundPart {
  readonly buffer: FakeBuffer;
  readonly offset?: number;
  readonly size?: number;
}

export interface Dispatch {
  /** For each page: the place of its words in the uniform buffers, and the workgroups. */
  readonly passes: readonly { readonly offset: number; readonly workgroups: readonly [inRow: number, rows: number] }[];
  /** The control blocks, 64 words for each page: message word 6, the target's word, …, the invocations in a row. */
  readonly control: Uint32Array;
  /** Answers with the shader's count of hits and the offsets that the shader wrote. */
  readonly finish: (count: number, offsets?: readonly number[]) => void;
}

/** Defines WebGPU's global constants for a test. */
const FLAGS = { MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128 };

export class FakeDevice {
  readonly buffers: FakeBuffer[] = [];
  readonly dispatches: Dispatch[] = [];
  /** Whether each dispatch ends at once without hits. */
  isQuick = false;
  /** The parts of buffers that were set to 0, by offset and size in bytes. */
  readonly cleared: { readonly buffer: FakeBuffer; readonly offset: number; readonly size: number }[] = [];
  /** The parts of buffers that each shader of a page gets. */
  readonly bound: (readonly BoundPart[])[] = [];
  /** Number of times that the words of a job were written. */
  jobsWritten = 0;
  #control = new Uint32Array();
  #passes: Dispatch['passes'] = [];
  readonly queue = {
    writeBuffer: ({ label }: FakeBuffer, offset: number, words: Uint32Array) => {
      if (offset % 4 > 0) throw new RangeError('WebGPU writes whole words only');
      const written = new Uint32Array(offset / 4 + words.length);
      written.set(words, offset / 4);
      if (label === 'control') this.#control = written;
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
  createBindGroup = ({ entries }: { readonly entries: readonly { readonly resource: BoundPart }[] }) => {
    this.bound.push(entries.map(({ resource }) => resource));
    return { offset: entries[0].resource.offset };
  };

  createBuffer = ({ size, label }: Pick<FakeBuffer, 'size' | 'label'>) => {
    let mapped = new ArrayBuffer(0);
    const buffer = {
      label,
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
          else this.dispatches.push({ passes: this.#passes, control: this.#control, finish });
        }),
      getMappedRange: () => mapped,
      unmap: () => {},
    };
    this.buffers.push(buffer);
    return buffer;
  };

  createCommandEncoder = () => ({
    clearBuffer: (buffer: FakeBuffer, offset: number, size: number) => void this.cleared.push({ buffer, offset, size }),
    copyBufferToBuffer: () => {},
    finish: () => ({}),
    beginComputePass: () => {
      let offset = 0;
      this.#passes = [];
      return {
        setPipeline: () => {},
        setBindGroup: (_: number, group: { readonly offset: number }) => {
          offset = group.offset;
        },
        end: () => {},
        dispatchWorkgroups: (inRow: number, rows: number) => {
          this.#passes = [...this.#passes, { offset, workgroups: [inRow, rows] }];
        },
      };
    },
  });
}
