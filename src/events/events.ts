/** Everything that can happen while mining, as one typed union. All rooms emit events, and `report/` listens. */

import type { CoreInfo, DeviceFault, DeviceKind, Telemetry } from '../engine/device.ts';
import type { Outcome, PolledChain, SourceKind, SourceNews, StaleReason } from '../source/vocabulary.ts';
import type { AlarmState, BlockState, DeviceState } from './vocabulary.ts';

interface AboutSolution {
  /** The device that found it, or the relay. */
  device: string;
  isRelay: boolean;
  chain: number;
  height: bigint;
  nonce: bigint;
  /** Whether it meets the block's target. */
  isBlock: boolean;
  /** Whether it is a share of a pool. It can be a block, too. */
  isShare: boolean;
  /** How many hashes a solution of its work takes on average. */
  difficulty: number;
}

/** A block that is being sent to a source. */
interface SentBlock extends AboutSolution {
  /** 286 bytes. */
  header: Uint8Array;
  /** The name of the source. */
  source: string;
}

/** A block that was sent to a source, once its verdict is known. */
interface SubmittedBlock extends SentBlock {
  answerSeconds: number;
}

/** A block that a node accepted, or may have accepted. */
interface AboutBlock {
  chain: number;
  height: bigint;
  /** By which the ledger names it: 43 characters of base64url. */
  blockHash: string;
  device: string;
  isRelay: boolean;
}

/** How one worker of a relay is doing. */
export interface RelayWorker {
  /**
   * As the worker calls itself: at most 63 printable characters. `OTHER_WORKERS` (events/vocabulary.ts) sums up those
   * beyond the 64 that are listed.
   */
  name: string;
  sessions: number;
  /** Estimated from the difficulty of its shares. */
  hashesPerSecond: number;
  /** Difficulty of its shares now (the easiest of its sessions); absent while it has no session. */
  difficulty?: number;
  /** Shares since the start, by what the relay said to them. */
  accepted: number;
  rejected: number;
  stale: number;
  duplicate: number;
  /** How many of its shares were blocks. */
  blocks: number;
  /** How long ago its last accepted share came; absent before the first. */
  lastShareSeconds?: number;
}

/** Most are printed as JSON (report/json-lines.ts), so their fields have the names and units of all public JSON. */
export type MinerEvent =
  /**
   * Engines were given a new work. `networkCode` is the number by which its header names the network. `difficulty` is
   * that of a block; `shareDifficulty` is absent for a node's work.
   */
  | {
      type: 'work';
      chain: number;
      height: bigint;
      networkCode?: number;
      difficulty: number;
      shareDifficulty?: number;
    }
  /** The current work was given a later creation time (µs since the UNIX epoch): a new job for the same work. */
  | { type: 'job'; chain: number; height: bigint; creationTimeMicros: bigint }
  /** A New Cut came for the chain being mined: its work is stale. */
  | { type: 'new-cut'; chain: number }
  /** The work being mined has ended for another reason. Nothing is searched until the next work. */
  | { type: 'work-ended'; chain: number; reason: Exclude<StaleReason, 'new-cut'> }
  /** A verified solution is about to be submitted. `hash` is 32 bytes, little-endian. */
  | (AboutSolution & { type: 'solution'; hash: Uint8Array })
  /** What became of a solution. `answerSeconds` is the time from finding it to knowing. */
  | (AboutSolution & { type: 'verdict'; outcome: Outcome; reason: string; answerSeconds: number })
  /** A block is on its way to its source: from here on it may be accepted. One of the next three follows. */
  | (SentBlock & { type: 'sent-block' })
  /** A block was accepted. It follows the verdict. */
  | (SubmittedBlock & { type: 'accepted-block' })
  /**
   * The answer to a block was lost, so that only its chain shows whether it was accepted. It follows the verdict.
   */
  | (SubmittedBlock & { type: 'unanswered-block' })
  /** A block was sent and not accepted. It follows the verdict. */
  | (SubmittedBlock & { type: 'refused-block' })
  /**
   * Such a block was recorded, or its state has changed. Amounts are exact decimals, and absent until the node's
   * payload has proven them. `previous` is absent when it was recorded.
   */
  | (AboutBlock & {
      type: 'block-state';
      state: BlockState;
      previous?: BlockState;
      /** Whether an earlier run has found it; absent for blocks of this run. */
      isEarlier?: true;
      /** How many blocks are on top of it, or of the block in its place, at the node where these are fewest. */
      depth: number;
      /** Whether nodes contradict each other about it. */
      nodesDisagree: boolean;
      /** The depth at which it is settled. */
      settledDepth: number;
      /** About how long until it is settled, while it is won. */
      settledInSeconds?: number;
      reward?: string;
      fees?: string;
      /** The account that it pays in place of the miner's, once that is proven: then it earns nothing. */
      paidTo?: string;
      /** For people: what there is to say about this state; empty where that is nothing. */
      reason: string;
    })
  /**
   * The reward of a block was proven after it was won, or what a node says of it is false (`fault`), or the block pays
   * another account (`paidTo`) than the one that it was mined for (`account`), which proves that the node `source` gave
   * work for another.
   */
  | (AboutBlock & {
      type: 'block-reward';
      reward?: string;
      fees?: string;
      fault?: string;
      paidTo?: string;
      account?: string;
      source?: string;
      /** Whether an earlier run has found it; absent for blocks of this run. */
      isEarlier?: true;
    })
  /** How many nonces the device has searched since its last such event, for a block of this difficulty. */
  | { type: 'hashes'; device: string; hashes: number; difficulty: number }
  /**
   * A candidate of the device was verified: a proof of `hashes` hashes on average. `difficulty` is that of the
   * candidate's own hash.
   */
  | { type: 'proof'; device: string; hashes: number; difficulty: number }
  /** The device searches its first range of the work that followed a New Cut, `switchSeconds` after hearing of it. */
  | { type: 'job-switch'; device: string; switchSeconds: number }
  /** A device reported a candidate that does not meet its job's search target. */
  | { type: 'hardware-error'; device: string; nonce: bigint }
  /** A device came into or went out of service. */
  | {
      type: 'device';
      device: string;
      kind: DeviceKind;
      state: Exclude<DeviceState, 'starting'>;
      /** Model, kernel, thread count: one line for people. */
      description: string;
      /** The chip's model and the kernel in use; absent before the device has been opened. */
      model?: string;
      kernel?: string;
      /** The kinds of a hybrid CPU's cores; absent where all cores are alike. */
      cores?: readonly CoreInfo[];
      /**
       * Why this kernel and these threads were chosen, and what the sensors report; for people, absent unless it is
       * ready.
       */
      detail?: string;
      /** The PCI address of a card, such as `0000:65:00.0`; absent when it is not known. */
      bus?: string;
      /** Why the device is out of service or paused, and the kind of fault; absent while it mines. */
      reason?: string;
      fault?: DeviceFault;
    }
  /** Opening a device takes a while: `what` it is doing, and how much of that is done, 0 to 1. */
  | { type: 'progress'; device: string; what: string; done: number }
  /** A device's sensors were read. This happens every few seconds, if it has sensors. */
  | { type: 'telemetry'; device: string; telemetry: Telemetry }
  /** A hashrate has been too low for too long, or is back. Without a device, it is that of the whole rig. */
  | {
      type: 'alarm';
      alarm: 'low-hashrate';
      state: AlarmState;
      device?: string;
      hashesPerSecond: number;
      /** It should be this at least. */
      limitHashesPerSecond: number;
    }
  /** A fetch brought a block that its chain's open update stream had not announced, so stale work was mined. */
  | { type: 'missed-cut'; source: string; chain: number }
  /**
   * The update streams of these chains cannot be relied on, so work is polled. Without chains, all streams are
   * reliable.
   */
  | { type: 'polling'; source: string; chains: readonly PolledChain[] }
  /** How a relay is doing; emitted every few seconds. Its hashrates are estimated from shares, never counted. */
  | {
      type: 'relay';
      relay: string;
      sessions: number;
      hashesPerSecond: number;
      workers: readonly RelayWorker[];
      /**
       * How many connections it has refused or ended since the start, by the reason; absent where nothing connects to
       * it.
       */
      refused?: Readonly<Record<string, number>>;
    }
  /** A source gave work, this long after it was asked for some. */
  | { type: 'fetch'; source: string; latencySeconds: number }
  /**
   * There is news of a source: it came within or went out of reach, for example. `source` is its name, such as a URL.
   * `nodeConfiguration` is what a node's configuration must have, line by line, where that would help.
   */
  | {
      type: 'source';
      source: string;
      kind: SourceKind;
      state: SourceNews;
      reason: string;
      nodeConfiguration?: readonly string[];
    };

const BLOCK_EVENTS = ['sent-block', 'accepted-block', 'unanswered-block', 'refused-block'] as const;

/** The events about a block that was sent. */
export type BlockEvent = MinerEvent & { type: (typeof BLOCK_EVENTS)[number] };

export function isBlockEvent(event: MinerEvent): event is BlockEvent {
  return (BLOCK_EVENTS as readonly string[]).includes(event.type);
}

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

/* The controls of a running miner. `mine/` implements them; the keyboard, the HTTP API and guards use them. */

/** The reasons for which a device can be paused. It resumes when no reason is left. */
export type PauseReason = 'temperature' | 'user' | 'battery' | 'activity' | 'schedule' | 'backlog';

export interface Controls {
  /**
   * Pauses devices. A device that is paused for this reason already gets the new `why`.
   * @param why a clause for people, such as `it is night`
   * @param device a device's name. Without it, all devices are paused
   * @returns false when there is no such device
   */
  pause(reason: PauseReason, why: string, device?: string): boolean;
  /** Removes one reason for the pause. @returns false when there is no such device */
  resume(reason: PauseReason, device?: string): boolean;
  /** Ends mining. The miner then waits for pending submissions. */
  stop(): void;
}
