/** What can happen while mining: one typed union, reported by everything and listened to by `report/`. A leaf. */

import type { Telemetry } from '../engine/telemetry.ts';
import type { DeviceState } from './device-states.ts';

export type MinerEvent =
  /** Engines were given a new work. */
  | { event: 'work'; chain: number; height: bigint; difficulty: number }
  /** The current work was given a later creation time (µs since the UNIX epoch): a new job for the same work. */
  | { event: 'job'; chain: number; height: bigint; creationTimeUs: bigint }
  /** A New Cut on the chain being mined: its work is stale. */
  | { event: 'new_cut'; chain: number }
  /** A verified solution, about to be submitted. `hash` is 32 bytes, little-endian. */
  | { event: 'solution'; device: string; chain: number; height: bigint; nonce: bigint; hash: Uint8Array }
  /** What became of a solution. `ms` is the time from finding it to knowing. */
  | {
      event: 'verdict';
      verdict: 'accepted' | 'rejected' | 'stale' | 'unknown';
      reason: string;
      device: string;
      chain: number;
      height: bigint;
      nonce: bigint;
      ms: number;
    }
  /** Nonces searched since the device's last such event, for a work of this difficulty. */
  | { event: 'hashes'; device: string; hashes: number; difficulty: number }
  /**
   * A candidate of the device verified: it proves that `hashes` hashes were computed, on average. `difficulty` is that of
   * the hash itself: what the best one was worth.
   */
  | { event: 'proof'; device: string; hashes: number; difficulty: number }
  /** A job switch: the device searches its first range of the work that followed a New Cut, `ms` after hearing of it. */
  | { event: 'restart'; device: string; ms: number }
  /** A device claimed a nonce that does not solve. */
  | { event: 'hardware_error'; device: string; nonce: bigint }
  /** A device came into or went out of service. */
  | {
      event: 'device';
      device: string;
      kind: 'cpu' | 'gpu';
      state: Exclude<DeviceState, 'starting'>;
      /** Model, kernel, thread count: one line for people. */
      description: string;
      /** PCI address of a card, like `0000:65:00.0`, where it is known. */
      bus?: string;
      /** Why it does not work, and the kind of fault: absent while it works. */
      reason?: string;
      fault?: 'missing' | 'lost' | 'wrong hashes';
    }
  /** Opening a device takes its time: what it does, and the part of that which is done, 0 to 1. */
  | { event: 'progress'; device: string; what: string; done: number }
  /** What a device's sensors say: every few seconds, where they can be read. */
  | { event: 'telemetry'; device: string; telemetry: Telemetry }
  /**
   * A hashrate has been below what it should be for long enough to tell, or is back. `value` and `limit` are H/s; without
   * a device, they are the rig's.
   */
  | {
      event: 'alarm';
      alarm: 'low_hashrate';
      state: 'raised' | 'cleared';
      device?: string;
      value: number;
      limit: number;
    }
  /** A fetch brought a block that the open update stream of its chain had not told: stale work was mined. */
  | { event: 'missed_cut'; source: string; chain: number }
  /** The chains whose update streams cannot be relied on, so that work is asked for every few seconds; none is good. */
  | {
      event: 'polling';
      source: string;
      chains: readonly { readonly chain: number; readonly reason: 'no stream' | 'missed a block' }[];
    }
  /** A source came within or went out of reach. `source` is its name, a node's URL. */
  | { event: 'source'; source: string; state: 'connected' | 'lost' | 'warning' | 'info'; reason: string };

export type Listener = (event: MinerEvent) => void;

/** Hands each event to every listener, in order, at once. */
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
