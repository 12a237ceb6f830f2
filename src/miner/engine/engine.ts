/** The interface of engines. An engine searches ranges of nonces with one device: the CPU or a GPU. */

import type { Job } from '../../protocol/chain/job.ts';
import type { Range } from '../../protocol/chain/nonce.ts';
import type { CoreInfo, CoreKind, DeviceFault, DeviceKind, Telemetry } from './device.ts';

/**
 * Supplies engines with ranges of nonces. No nonce is supplied twice, unless a range that contains it was given back.
 */
export interface Ranges {
  /** @returns a range with at most the counters and pages of `most`; undefined when no nonces are left */
  take(most: { readonly counters: number; readonly pages: number }): Range | undefined;
  /** @param range a range from `take`, or a part of such a range, that was not searched */
  giveBack(range: Range): void;
}

/**
 * A nonce, 0 … 2^64 − 1. The engine claims that the nonce's hash meets the search target of the job. `verify` in
 * protocol/chain/verify.ts checks the claim.
 */
export type Candidate = bigint;

export interface SearchReport {
  /**
   * The searched range: a range from `Ranges.take`, a part of such a range, or several adjacent ranges. No nonce is in
   * two reports of a job.
   */
  readonly searched: Range;
  /** Number of nonces that were hashed: `sizeOf(searched)`. */
  readonly hashes: number;
  /** Time at which the search of this range began, in ms on the system clock's `monotonicMs`. */
  readonly beganMs: number;
  readonly candidates: readonly Candidate[];
  /**
   * Kind of the CPU cores that searched the range. Absent for a GPU, for a CPU whose cores are all alike, and when the
   * threads are not confined to a kind of cores.
   */
  readonly cores?: CoreKind;
}

export interface GpuKernelInfo {
  /** Dawn's description of the driver. With most drivers, it has the name and the version. */
  readonly driver: string;
  /** Name of the kernel's variant, such as `wgsl 128×16`. */
  readonly variant: string;
  readonly workgroupSize: number;
  /** Number of nonces that one invocation of the shader hashes, one after the other. */
  readonly noncesPerInvocation: number;
  /** Intended duration of a batch in ms. A batch is what is submitted to the GPU at once. */
  readonly batchMs: number;
}

export interface EngineInfo {
  readonly model: string;
  /**
   * Name of the kernel, such as `avx512`, `wasm-simd` or `wgsl`. If the kinds of cores use different kernels, the names
   * of all these kernels, such as `avx2x2+avx2`.
   */
  readonly kernel: string;
  /** PCI address of a GPU, such as `0000:65:00.0`. Absent for a CPU, and when the address is not known. */
  readonly bus?: string;
  /** Number of the CPU's hashing threads; absent for a GPU. */
  readonly threads?: number;
  /**
   * Threads and kernel of each kind of cores. Absent for a GPU, for a CPU whose cores are all alike, and when the
   * threads are not confined to a kind of cores.
   */
  readonly cores?: readonly CoreInfo[];
  readonly gpu?: GpuKernelInfo;
  /** For people: why this kernel is used, in a few words. */
  readonly why: string;
  /**
   * For people, about a CPU: the full reasons for the kernel and for the number of threads, and the source of the
   * sensors' readings. The text is one line.
   */
  readonly detail?: string;
}

export interface EngineListener {
  /**
   * Called repeatedly while a GPU opens, if that takes seconds.
   * @param what the current step: one line for people
   * @param done the finished fraction of this step, 0 to 1
   */
  progress?(what: string, done: number): void;
  /** Called about every two seconds with the readings of the sensors, if there are any. */
  telemetry?(telemetry: Telemetry): void;
  /**
   * Called when the variants of a GPU's kernel were measured while the GPU mined. The GPU now mines with the fastest
   * variant, which `info` describes.
   */
  changed?(info: EngineInfo): void;
  /** Called when an open GPU is lost or computes wrong hashes, even while no search runs that could throw `fault`. */
  lost?(fault: DeviceError): void;
}

export interface Engine {
  /** Name of the device, such as `cpu` or `gpu0`: unique in a rig. */
  readonly name: string;
  readonly kind: DeviceKind;
  /** Number of the CPU's hashing threads, known before the CPU is opened; absent for a GPU. */
  readonly threads?: number;
  /**
   * Starts the threads or opens the device, and checks the kernel against known answers.
   * @throws DeviceError when the device is missing, is lost, or computes wrong hashes; Error when the engine is open
   *   already
   */
  open(listener?: EngineListener): Promise<EngineInfo>;
  /**
   * Searches until `stop` fires or no ranges are left. A range with candidates is reported at once, and other ranges
   * soon. Ranges that are finished after `stop` are reported, too. Before the iteration ends, the engine gives back all
   * ranges that it has not searched. The search of a new job may begin before the search of the previous job has ended.
   * @throws DeviceError when the engine is not open, or the device is lost or computes wrong hashes
   */
  search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncIterable<SearchReport>;
  /** Ends all searches, then frees the threads or the device. Never throws. */
  close(): Promise<void>;
}

export class DeviceError extends Error {
  override readonly name = 'DeviceError';
  readonly fault: DeviceFault;
  constructor(fault: DeviceFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** Stands for a GPU that the user asked for and that is not available. `open` and `search` fail with the reason. */
export class MissingEngine implements Engine {
  readonly name: string;
  readonly kind = 'gpu';
  readonly #reason: string;

  constructor(name: string, reason: string) {
    this.name = name;
    this.#reason = reason;
  }

  open(): Promise<never> {
    return Promise.reject(new DeviceError('missing', this.#reason));
  }

  search(): never {
    throw new DeviceError('missing', this.#reason);
  }

  async close(): Promise<void> {}
}
