/** The Engine interface. An engine searches ranges of nonces: the CPU, one GPU, or something else that hashes. */

import type { Job } from '../../protocol/chain/job.ts';
import type { Range } from '../../protocol/chain/nonce.ts';
import type { CoreInfo, CoreKind, DeviceFault, DeviceKind, Telemetry } from './device.ts';

/** The supply of ranges for engines. All ranges are disjoint, and none is given out twice unless it was given back. */
export interface Ranges {
  /** @returns a range of at most this many counters and pages; undefined when the space is used up */
  take(most: { readonly counters: number; readonly pages: number }): Range | undefined;
  /** @param range a range that was taken and not searched */
  giveBack(range: Range): void;
}

/**
 * A nonce (0 … 2^64 − 1) that should meet its job's search target. The referee (`verify`, chain/verify.ts) checks it.
 */
export type Candidate = bigint;

export interface SearchReport {
  /** Each range is reported once. */
  readonly searched: Range;
  /** `sizeOf(searched)` */
  readonly hashes: number;
  /** Start of the search of this range, on the system clock's `monotonicMs`. */
  readonly beganMs: number;
  readonly candidates: readonly Candidate[];
  /** Absent where all cores are alike. */
  readonly cores?: CoreKind;
}

export interface GpuKernelInfo {
  /** Name and version, as the driver reports them. */
  readonly driver: string;
  /** Name of the kernel's variant, such as `wgsl 128×16`. */
  readonly variant: string;
  readonly workgroupSize: number;
  /** Nonces that one invocation tries, one after the other. */
  readonly noncesPerInvocation: number;
  /** Time that one dispatch should take. */
  readonly batchMs: number;
}

export interface EngineInfo {
  readonly model: string;
  /** `avx512`, `wasm-simd`, `wgsl` …; `avx2x2+avx2` when kinds of cores use different kernels. */
  readonly kernel: string;
  /** PCI address of a card, such as `0000:65:00.0`; absent if not known. */
  readonly bus?: string;
  /** Worker threads of a CPU. */
  readonly threads?: number;
  /** Absent where all cores are alike, or when threads cannot be confined to a kind. */
  readonly cores?: readonly CoreInfo[];
  readonly gpu?: GpuKernelInfo;
  /** Why this kernel is used, in a few words for people. */
  readonly why: string;
  /**
   * The full reasons for the kernel and the number of threads, and the source of the sensors' readings: one line for
   * people.
   */
  readonly detail?: string;
}

export interface EngineListener {
  /**
   * Called repeatedly while opening takes seconds.
   * @param what the present step: one line for people
   * @param done the finished fraction, 0 to 1
   */
  progress?(what: string, done: number): void;
  /** Called every few seconds if there are readings. */
  telemetry?(telemetry: Telemetry): void;
  /** Called when the kernels have been measured while the open device mined: it goes on with the fastest one. */
  changed?(info: EngineInfo): void;
  /** Called when the device is lost, even while no search runs that could throw the error. */
  lost?(fault: DeviceError): void;
}

export interface Engine {
  /** `cpu`, `gpu0` …, unique in a rig. */
  readonly name: string;
  readonly kind: DeviceKind;
  /** Worker threads of a CPU, known before it is opened. */
  readonly threads?: number;
  /**
   * Starts the threads or the device, and checks the kernel against known answers.
   * @throws DeviceError when there is no such device, or when it computes wrong hashes.
   */
  open(listener?: EngineListener): Promise<EngineInfo>;
  /**
   * Searches until `stop`, or until the ranges are used up. Reports candidates at once and other searched ranges soon,
   * including ranges that are finished after `stop`. Before the search ends, it gives back all ranges that it did not
   * search. The search of a new job may begin before the search of the old job has ended.
   * @throws DeviceError when the device is lost.
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

/** Stands for a device that was asked for and is not available. Opening it throws the reason. */
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
