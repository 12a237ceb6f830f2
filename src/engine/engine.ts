/** An engine searches ranges: the CPU, one GPU, later an external program or a fleet's rigs. */

import type { Job } from '../chain/job.ts';
import type { Range } from '../chain/nonce.ts';
import type { DeviceFault, DeviceKind } from './device.ts';
import type { Telemetry } from './telemetry.ts';

/** Where engines get ranges from. Ranges are disjoint, and never given out twice unless given back. */
export interface Ranges {
  /**
   * A range of at most this many counters and pages; it can be smaller.
   * @returns undefined when the space is used up
   */
  take(most: { readonly counters: number; readonly pages: number }): Range | undefined;
  /** Returns what was taken and not searched. */
  giveBack(range: Range): void;
}

/**
 * A nonce that an engine says meets its job's search target. Nothing that an engine says is believed before the referee
 * (`verify` in chain/verify.ts) has seen it.
 */
export type Candidate = bigint;

export interface SearchReport {
  /** What has been searched since the engine's last report. */
  readonly searched: Range;
  /** Nonces hashed for it: `sizeOf(searched)`. */
  readonly hashes: number;
  /** When its search began, on the system clock's `monotonicMs`: this tells how soon a new job is searched. */
  readonly beganMs: number;
  /** All candidates of `searched`. */
  readonly candidates: readonly Candidate[];
}

/** How a GPU runs the kernel. */
export interface GpuKernelInfo {
  /** The driver's name and version, in its own words. */
  readonly driver: string;
  /** The kernel's variant: `wgsl 128×16`. */
  readonly variant: string;
  /** Invocations in a workgroup. */
  readonly workgroupSize: number;
  /** Nonces that one invocation tries, one after the other. */
  readonly noncesPerInvocation: number;
  /** How long one dispatch should take. */
  readonly batchMs: number;
}

/** What an engine turned out to be when it opened. */
export interface EngineInfo {
  /** Model of the chip. */
  readonly model: string;
  /** The kernel in use: `avx512`, `wasm-simd`, `wgsl` … */
  readonly kernel: string;
  /** PCI address of a card, like `0000:65:00.0`, where it is known. */
  readonly bus?: string;
  /** Worker threads, for a CPU. */
  readonly threads?: number;
  /** Present for a GPU. */
  readonly gpu?: GpuKernelInfo;
  /** Why this kernel: a few words for people. */
  readonly why: string;
  /** All that there is to say about the choice of kernel and threads: one line for people. Absent where `why` is all. */
  readonly detail?: string;
}

/** What an engine tells while it is open, besides its reports. */
export interface EngineListener {
  /**
   * What opening does while it takes seconds, again and again.
   * @param what one line for people
   * @param done part of it that is done, 0 to 1
   */
  progress?(what: string, done: number): void;
  /** What the device's sensors say, every few seconds, where it has some that can be read. */
  telemetry?(telemetry: Telemetry): void;
  /** The device is lost: also told while nothing is searched, when no search can throw it. */
  lost?(fault: DeviceError): void;
}

export interface Engine {
  /** `cpu`, `gpu0` …: unique in a rig. */
  readonly name: string;
  readonly kind: DeviceKind;
  /**
   * Starts threads or the device and checks the kernel against known answers.
   * @throws DeviceError when there is no such device, or when it computes wrong hashes.
   */
  open(listener?: EngineListener): Promise<EngineInfo>;
  /**
   * Searches until `stop` or until the ranges are used up, reporting as it goes: a candidate at once, and what has been
   * searched also when stopped. Ranges that were taken and not searched are given back before it ends. The search of a
   * new job may begin before that of the old one has ended.
   * @throws DeviceError when the device is lost.
   */
  search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncIterable<SearchReport>;
  /** Frees threads and devices; an open search ends first. Never throws. */
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
