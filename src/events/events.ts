/** Everything that can happen while mining, as one typed union. All rooms emit events, and `report/` listens. */

import type { DeviceFault, DeviceKind } from '../engine/device.ts';
import type { Telemetry } from '../engine/telemetry.ts';
import type { Outcome, PolledChain } from '../source/vocabulary.ts';
import type { DeviceState } from './device-states.ts';

export type MinerEvent =
  /** Engines were given a new work. */
  | { event: 'work'; chain: number; height: bigint; difficulty: number }
  /** The current work was given a later creation time (µs since the UNIX epoch): a new job for the same work. */
  | { event: 'job'; chain: number; height: bigint; creationTimeUs: bigint }
  /** A New Cut came for the chain being mined: its work is stale. */
  | { event: 'new_cut'; chain: number }
  /** A verified solution is about to be submitted. `hash` is 32 bytes, little-endian. */
  | { event: 'solution'; device: string; chain: number; height: bigint; nonce: bigint; hash: Uint8Array }
  /** What became of a solution. `ms` is the time from finding it to knowing. */
  | {
      event: 'verdict';
      verdict: Outcome;
      reason: string;
      device: string;
      chain: number;
      height: bigint;
      nonce: bigint;
      ms: number;
    }
  /** How many nonces the device has searched since its last such event, for a work of this difficulty. */
  | { event: 'hashes'; device: string; hashes: number; difficulty: number }
  /**
   * A candidate of the device was verified: a proof of `hashes` hashes on average. `difficulty` is that of the candidate's own
   * hash.
   */
  | { event: 'proof'; device: string; hashes: number; difficulty: number }
  /** A job switch: the device searches its first range of the work that followed a New Cut, `ms` after hearing of it. */
  | { event: 'restart'; device: string; ms: number }
  /** A device reported a candidate that does not meet its job's search target. */
  | { event: 'hardware_error'; device: string; nonce: bigint }
  /** A device came into or went out of service. */
  | {
      event: 'device';
      device: string;
      kind: DeviceKind;
      state: Exclude<DeviceState, 'starting'>;
      /** Model, kernel, thread count: one line for people. */
      description: string;
      /** The PCI address of a card, such as `0000:65:00.0`; absent when it is not known. */
      bus?: string;
      /** Why the device is out of service or paused, and the kind of fault; absent while it mines. */
      reason?: string;
      fault?: DeviceFault;
    }
  /** Opening a device takes a while: `what` it is doing, and how much of that is done, 0 to 1. */
  | { event: 'progress'; device: string; what: string; done: number }
  /** A device's sensors were read. This happens every few seconds, if it has sensors. */
  | { event: 'telemetry'; device: string; telemetry: Telemetry }
  /**
   * A hashrate has been too low for too long, or is back. `value` and `limit` are H/s, of the device or else of the whole rig.
   */
  | {
      event: 'alarm';
      alarm: 'low_hashrate';
      state: 'raised' | 'cleared';
      device?: string;
      value: number;
      limit: number;
    }
  /** A fetch brought a block that its chain's open update stream had not announced, so stale work was mined. */
  | { event: 'missed_cut'; source: string; chain: number }
  /** The update streams of these chains cannot be relied on, so work is polled. Without chains, all streams are reliable. */
  | { event: 'polling'; source: string; chains: readonly PolledChain[] }
  /** A source came within or went out of reach, or has something to say. `source` is its name, such as a node's URL. */
  | { event: 'source'; source: string; state: 'connected' | 'lost' | 'warning' | 'info'; reason: string };

export type Listener = (event: MinerEvent) => void;

/** Passes each event to every listener at once, in the order of their subscription. */
export class Events {
  readonly #listeners = new Set<Listener>();

  readonly emit = (event: MinerEvent): void => {
    for (const listener of this.#listeners) listener(event);
  };

  /** @returns a function that ends the subscription */
  on(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
