/**
 * The Engine interface. An engine searches ranges of nonces: the CPU, one GPU, later an external program or other rigs.
 */

import type { Job } from '../chain/job.ts';
import type { Range } from '../chain/nonce.ts';
import type { CoreInfo, CoreKind, DeviceFault, DeviceKind, Telemetry } from './device.ts';

/** The supply of ranges for engines. All ranges are disjoint, and none is given out twice unless it was given back. */
export interface Ranges {
  /**
   * Gives out a range of at most this many counters and pages; it can be smaller.
   * @returns undefined when the space is used up
   */
  take(most: { readonly counters: number; readonly pages: number }): Range | undefined;
  /** Gives back a range that was taken and not searched. */
  giveBack(range: Range): void;
}

/**
 * A nonce (0 … 2^64 − 1) that meets its job's search target, according to the engine. It counts only after the referee
 * (`verify` in chain/verify.ts) has confirmed it.
 */
export type Candidate = bigint;

export interface SearchReport {
  /** The range that has been searched. Each range is reported once. */
  readonly searched: Range;
  /** Number of nonces that were hashed: `sizeOf(searched)`. */
  readonly hashes: number;
  /**
   * When the search of this range began, on the system clock's `monotonicMs`. It shows how soon a new job is searched.
   */
  readonly beganMs: number;
  /** All candidates of `searched`. */
  readonly candidates: readonly Candidate[];
  /** The kind of cores that searched it; absent where all cores are alike. */
  readonly cores?: CoreKind;
}

/** The way in which a GPU runs the kernel. */
export interface GpuKernelInfo {
  /** The driver's name and version, in its own words. */
  readonly driver: string;
  /** The kernel's variant: `wgsl 128×16`. */
  readonly variant: string;
  /** Invocations in a workgroup. */
  readonly workgroupSize: number;
  /** Nonces that one invocation tries, one after the other. */
  readonly noncesPerInvocation: number;
  /** Time that one dispatch should take. */
  readonly batchMs: number;
}

/** The description of an engine once it is open. */
export interface EngineInfo {
  /** The model of the chip. */
  readonly model: string;
  /** The kernel in use: `avx512`, `wasm-simd`, `wgsl` …; `avx2x2+avx2` when kinds of cores use different ones. */
  readonly kernel: string;
  /** The PCI address of a card, such as `0000:65:00.0`; absent when it is not known. */
  readonly bus?: string;
  /** The number of worker threads of a CPU. */
  readonly threads?: number;
  /**
   * The kinds of a hybrid CPU's cores; absent where all cores are alike, or when threads cannot be confined to a kind.
   */
  readonly cores?: readonly CoreInfo[];
  /** Present for a GPU. */
  readonly gpu?: GpuKernelInfo;
  /** Why this kernel is used: a few words for people. */
  readonly why: string;
  /** The full reasons for the choice of kernel and threads, and what the sensors report: one line for people. */
  readonly detail?: string;
}

/** Receives what an engine reports besides its search reports. */
export interface EngineListener {
  /**
   * Called repeatedly while opening takes seconds.
   * @param what what the engine is doing: one line for people
   * @param done the fraction of it that is done, 0 to 1
   */
  progress?(what: string, done: number): void;
  /** Called every few seconds with the readings of the device's sensors, if there are any. */
  telemetry?(telemetry: Telemetry): void;
  /** Called when the device is lost, even while no search runs that could throw the fault. */
  lost?(fault: DeviceError): void;
}

export interface Engine {
  /** `cpu`, `gpu0` …, unique in a rig. */
  readonly name: string;
  readonly kind: DeviceKind;
  /** The number of worker threads of a CPU, which is known before it is opened. */
  readonly threads?: number;
  /**
   * Starts the threads or the device, and checks the kernel against known answers.
   * @throws DeviceError when there is no such device, or when it computes wrong hashes.
   */
  open(listener?: EngineListener): Promise<EngineInfo>;
  /**
   * Searches until `stop`, or until the ranges are used up. It reports candidates at once and searched ranges as it
   * goes, also those that it has finished when it is stopped. Before it ends it gives back all ranges that it took and
   * did not search. The search of a new job may begin before the search of the old one has ended.
   * @throws DeviceError when the device is lost.
   */
  search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncIterable<SearchReport>;
  /** Ends all searches, then frees the threads or the device. Never throws. */
  close(): Promise<void>;
}

/** A device that cannot be used. */
export class DeviceError extends Error {
  override readonly name = 'DeviceError';
  readonly fault: DeviceFault;
  constructor(fault: DeviceFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** An engine for a device that was asked for and is not available. Opening it fails and says why. */
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
