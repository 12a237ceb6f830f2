/**
 * A WebGPU device that computes nothing: tests choose what a dispatch finds. As WebGPU does, it refuses what is out of
 * bounds, out of order or incomplete.
 */

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

/** What `createComputePipelineAsync` gets. */
export interface PipelineOptions {
  readonly compute: {
    readonly module: { readonly code: string };
    readonly constants: { readonly WORKGROUP_SIZE: number; readonly COUNTERS_PER_INVOCATION: number };
  };
}

interface Pass {
  passes: Dispatch['passes'];
  pipeline: PipelineOptions | undefined;
  hasEnded: boolean;
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
  /** Called when a dispatch ends at once, with what was given to `createComputePipelineAsync`, and its workgroups. */
  ranQuickly = (_pipeline: PipelineOptions, _workgroups: number): void => {};
  /** The parts of buffers that were set to 0, by offset and size in bytes. */
  readonly cleared: { readonly buffer: FakeBuffer; readonly offset: number; readonly size: number }[] = [];
  /** The parts of buffers that each shader of a page gets. */
  readonly bound: (readonly BoundPart[])[] = [];
  /** Number of times that the words of a job were written. */
  jobsWritten = 0;
  /** The words of the job that was written last. */
  job = new Uint32Array();
  #control = new Uint32Array();
  #pass: Pass | undefined;
  /** What was submitted last and is not read yet. */
  #submitted: (Pass & { readonly readback: FakeBuffer }) | undefined;
  readonly queue = {
    writeBuffer: ({ label, size }: FakeBuffer, offset: number, words: Uint32Array) => {
      if (offset % 4 > 0) throw new RangeError('WebGPU writes whole words only');
      if (offset + words.byteLength > size) throw new RangeError('the buffer has no room for these words');
      const written = new Uint32Array(offset / 4 + words.length);
      written.set(words, offset / 4);
      if (label === 'control') {
        this.#control = written;
      } else {
        this.jobsWritten++;
        this.job = written;
      }
    },
    submit: ([commands]: readonly (Pass & { readonly readback: FakeBuffer })[]) => {
      this.#submitted = commands;
    },
  };

  constructor() {
    vi.stubGlobal('GPUBufferUsage', FLAGS);
    vi.stubGlobal('GPUMapMode', { READ: 1 });
    onTestFinished(() => void vi.unstubAllGlobals());
  }

  get asDevice(): Device {
    return this as unknown as Device;
  }

  createShaderModule = ({ code }: { readonly code: string }) => ({ code });
  createComputePipelineAsync = async (options: PipelineOptions) => ({
    options,
    getBindGroupLayout: (group: number) => {
      if (group !== 0) throw new RangeError('the shader has no such group');
      return {};
    },
  });
  createBindGroup = ({ entries }: { readonly entries: readonly { readonly resource: BoundPart }[] }) => {
    const parts = entries.map(({ resource }) => resource);
    for (const { buffer, offset = 0, size = 0 } of parts) {
      if (offset + size > buffer.size) throw new RangeError('the part is not in the buffer');
    }
    this.bound.push(parts);
    return { offset: entries[0].resource.offset };
  };

  createBuffer = ({ size, label }: Pick<FakeBuffer, 'size' | 'label'>) => {
    let mapped: ArrayBuffer | undefined;
    let isRequested = false;
    const buffer = {
      label,
      size,
      destroyed: false,
      destroy: () => {
        buffer.destroyed = true;
      },
      mapAsync: () =>
        new Promise<void>((resolve) => {
          if (isRequested) throw new Error('the buffer is mapped already');
          isRequested = true;
          const { passes, readback, pipeline } = this.#submitted!;
          this.#submitted = undefined;
          if (readback !== buffer) throw new Error('the results were copied to another buffer');
          const finish = (count: number, offsets: readonly number[] = []) => {
            const words = new Uint32Array(size / 4);
            words.set([count, ...offsets]);
            mapped = words.buffer;
            resolve();
          };
          if (!this.isQuick) this.dispatches.push({ passes, control: this.#control, finish });
          else
            setImmediate(() => {
              this.ranQuickly(
                pipeline!,
                passes.reduce((sum, { workgroups: [inRow, rows] }) => sum + inRow * rows, 0),
              );
              finish(0);
            });
        }),
      getMappedRange: () => {
        if (!mapped) throw new Error('the buffer is not mapped');
        return mapped;
      },
      unmap: () => {
        mapped = undefined;
        isRequested = false;
      },
    };
    this.buffers.push(buffer);
    return buffer;
  };

  createCommandEncoder = () => {
    let readback: FakeBuffer | undefined;
    return {
      clearBuffer: (buffer: FakeBuffer, offset: number, size: number) =>
        void this.cleared.push({ buffer, offset, size }),
      copyBufferToBuffer: (from: FakeBuffer, fromOffset: number, to: FakeBuffer, toOffset: number, size: number) => {
        if (fromOffset + size > from.size || toOffset + size > to.size) throw new RangeError('a copy out of bounds');
        if (fromOffset === 0 && toOffset === 0 && size === to.size) readback = to;
      },
      finish: () => {
        if (!this.#pass?.hasEnded) throw new Error('a pass must end before its commands are finished');
        return { ...this.#pass, readback };
      },
      beginComputePass: () => this.#beginPass(),
    };
  };

  #beginPass() {
    let offset: number | undefined;
    const pass: Pass = { passes: [], pipeline: undefined, hasEnded: false };
    this.#pass = pass;
    return {
      setPipeline: ({ options }: { readonly options: PipelineOptions }) => {
        pass.pipeline = options;
      },
      setBindGroup: (index: number, group: { readonly offset: number }) => {
        if (index !== 0) throw new RangeError('the shader has no such group');
        offset = group.offset;
      },
      end: () => {
        pass.hasEnded = true;
      },
      dispatchWorkgroups: (inRow: number, rows: number) => {
        if (!pass.pipeline || offset === undefined) throw new Error('a dispatch needs a pipeline and its buffers');
        pass.passes = [...pass.passes, { offset, workgroups: [inRow, rows] }];
      },
    };
  }
}
