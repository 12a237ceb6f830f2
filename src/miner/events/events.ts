/** All events of mining, as one typed union, and the controls of a running miner. */

import type { BlockState } from '../../node/blocks/fate.ts';
import type { CoreInfo, DeviceFault, DeviceKind, Telemetry } from '../engine/device.ts';
import type {
  AlarmState,
  DeviceState,
  Outcome,
  PolledChain,
  SourceKind,
  SourceNews,
  StaleReason,
} from './vocabulary.ts';

interface AboutSolution {
  /** The device or relay that found the solution. */
  device: string;
  isRelay: boolean;
  chain: number;
  height: bigint;
  nonce: bigint;
  isBlock: boolean;
  /** A share of a pool can be a block, too. */
  isShare: boolean;
  /** Number of hashes that a solution of the work takes on average. */
  difficulty: number;
}

interface SentBlock extends AboutSolution {
  /** 286 bytes. */
  header: Uint8Array;
  source: string;
  /**
   * Present if this coordinator did not choose the payee: another coordinator issued the work, or the work is not
   * known.
   */
  isElsewhere?: true;
}

interface SubmittedBlock extends SentBlock {
  answerSeconds: number;
}

/** A block that a node accepted, or may have accepted. */
interface AboutBlock {
  chain: number;
  height: bigint;
  /** The hash by which the ledger names the block: 43 characters of base64url. */
  blockHash: string;
  device: string;
  isRelay: boolean;
}

export interface RelayWorker {
  /** The worker's own name: at most 63 printable characters. Workers beyond 64 are summed up as `OTHER_WORKERS`. */
  name: string;
  sessions: number;
  /** Estimated from the difficulty of the worker's shares; for a rig of a fleet, reported by the rig itself. */
  hashesPerSecond: number;
  /** Current difficulty of the worker's shares (the easiest of its sessions); absent without a session. */
  difficulty?: number;
  /** Counts of shares since the start, by the relay's answer. */
  accepted: number;
  rejected: number;
  stale: number;
  duplicate: number;
  blocks: number;
  /** Age of the worker's last accepted share; absent before the first. */
  lastShareSeconds?: number;
}

/** Most events are printed as JSON (report/json-lines.ts), so fields follow the naming of public JSON. */
export type MinerEvent =
  /**
   * Engines received a new work. `networkCode` is the number of the network in block headers. `difficulty` is that of a
   * block; `shareDifficulty` is absent for a node's work.
   */
  | {
      type: 'work';
      chain: number;
      height: bigint;
      networkCode?: number;
      difficulty: number;
      shareDifficulty?: number;
    }
  /** The current work has a later creation time (µs since the UNIX epoch), so there is a new job. */
  | { type: 'job'; chain: number; height: bigint; creationTimeMicros: bigint }
  /** A New Cut on the mined chain made its work stale. */
  | { type: 'new-cut'; chain: number }
  /** The current work ended for a reason other than a New Cut. Nothing is searched until the next work. */
  | { type: 'work-ended'; chain: number; reason: Exclude<StaleReason, 'new-cut'> }
  /** A verified solution is about to be submitted. `hash` is 32 bytes, little-endian. */
  | (AboutSolution & { type: 'solution'; hash: Uint8Array })
  /** The verdict on a solution, `answerSeconds` after the solution was found. */
  | (AboutSolution & { type: 'verdict'; outcome: Outcome; reason: string; answerSeconds: number })
  /** A block is about to be sent, so it may be accepted from now on. One of the next three events follows. */
  | (SentBlock & { type: 'sent-block' })
  /** A block was accepted. Follows the verdict. */
  | (SubmittedBlock & { type: 'accepted-block' })
  /** The answer to a block was lost, so only its chain shows whether it was accepted. Follows the verdict. */
  | (SubmittedBlock & { type: 'unanswered-block' })
  /** A block was sent and not accepted. Follows the verdict. */
  | (SubmittedBlock & { type: 'refused-block' })
  /**
   * A block was recorded, or its state changed. Amounts are exact decimals, and absent until the node's payload has
   * proven them. `previous` is absent when the block was recorded.
   */
  | (AboutBlock & {
      type: 'block-state';
      state: BlockState;
      previous?: BlockState;
      /** Present if an earlier run found the block. */
      isEarlier?: true;
      /**
       * Number of blocks above the block, or above the block in its place, at the node where this number is smallest.
       */
      depth: number;
      /** Whether nodes report different states. */
      nodesDisagree: boolean;
      settledDepth: number;
      /** Estimated time until the block is settled; present only while its state is won. */
      settledInSeconds?: number;
      reward?: string;
      fees?: string;
      /** The account that the block provably pays, if that is not the miner's. The miner earns nothing then. */
      paidTo?: string;
      /** For people; may be empty. */
      reason: string;
    })
  /**
   * Reports one of three facts about a won block: its reward was proven; or the node's claim about the reward is false
   * (`fault`); or the block pays another account (`paidTo`) than it was mined for (`account`), which proves that the
   * node `source` gave work for another account.
   */
  | (AboutBlock & {
      type: 'block-reward';
      reward?: string;
      fees?: string;
      fault?: string;
      paidTo?: string;
      account?: string;
      source?: string;
      /** Present if an earlier run found the block. */
      isEarlier?: true;
    })
  /** The device has searched `hashes` nonces since its last event of this type. `difficulty` is that of a block. */
  | { type: 'hashes'; device: string; hashes: number; difficulty: number }
  /** A candidate was verified, which proves `hashes` hashes on average. `difficulty` is that of its own hash. */
  | { type: 'proof'; device: string; hashes: number; difficulty: number }
  /** The device began its first range of the work after a New Cut, `switchSeconds` after the notice of the New Cut. */
  | { type: 'job-switch'; device: string; switchSeconds: number }
  /** A device reported a candidate that misses its job's search target. */
  | { type: 'hardware-error'; device: string; nonce: bigint }
  /** A device changed its state. */
  | {
      type: 'device';
      device: string;
      kind: DeviceKind;
      state: Exclude<DeviceState, 'starting'>;
      /** Model, kernel, thread count: one line for people. */
      description: string;
      /** `model` and `kernel` are absent before the device has been opened. */
      model?: string;
      kernel?: string;
      /** The kinds of cores of a hybrid CPU; absent where all cores are alike. */
      cores?: readonly CoreInfo[];
      /**
       * For people: reasons for kernel and threads, and the source of the sensors' readings. Absent unless the device
       * is ready.
       */
      detail?: string;
      /** PCI address of a card, such as `0000:65:00.0`; absent if not known. */
      bus?: string;
      /** For people: why the device does not mine. Absent while it mines. */
      reason?: string;
      fault?: DeviceFault;
    }
  /** Progress of opening a device: the present step, and the finished fraction of it, 0 to 1. */
  | { type: 'progress'; device: string; what: string; done: number }
  /** New readings of a device's sensors, every few seconds. */
  | { type: 'telemetry'; device: string; telemetry: Telemetry }
  /**
   * A hashrate was too low for too long, or has recovered. Without `device`, the event is about the hashrate of the
   * whole rig.
   */
  | {
      type: 'alarm';
      alarm: 'low-hashrate';
      state: AlarmState;
      device?: string;
      hashesPerSecond: number;
      /** The hashrate below which the alarm is raised. */
      limitHashesPerSecond: number;
    }
  /** A fetch returned a block that the open update stream had not announced, so stale work was mined. */
  | { type: 'missed-cut'; source: string; chain: number }
  /**
   * The update streams of `chains` are unreliable, so the work of these chains is polled. The list is empty if all
   * streams are reliable.
   */
  | { type: 'polling'; source: string; chains: readonly PolledChain[] }
  /**
   * The state of a relay, every few seconds. Hashrates are estimated from shares, or claimed by rigs, and never
   * counted.
   */
  | {
      type: 'relay';
      relay: string;
      sessions: number;
      hashesPerSecond: number;
      workers: readonly RelayWorker[];
      /**
       * Number of connections or messages refused or ended since the start, by reason; absent where nothing connects to
       * the relay.
       */
      refused?: Readonly<Record<string, number>>;
    }
  /** A source delivered work, `latencySeconds` after the request. */
  | { type: 'fetch'; source: string; latencySeconds: number }
  /**
   * A source has something to report, for example its loss. `source` is its name, such as a URL. `nodeConfiguration`
   * has lines that should be added to the node's configuration.
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

export type BlockEvent = MinerEvent & { type: (typeof BLOCK_EVENTS)[number] };

export function isBlockEvent(event: MinerEvent): event is BlockEvent {
  return (BLOCK_EVENTS as readonly string[]).includes(event.type);
}

export type Listener = (event: MinerEvent) => void;

export class Events {
  readonly #listeners = new Set<Listener>();

  readonly emit = (event: MinerEvent): void => {
    for (const listener of this.#listeners) listener(event);
  };

  /** Listeners are called synchronously, in the order of subscription. @returns a function that unsubscribes */
  on(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/* The controls of a running miner, which `miner/loop/` implements */

/** Reason for pausing devices. A device can be paused for several reasons, and resumes when none is left. */
export type PauseReason = 'temperature' | 'user' | 'battery' | 'activity' | 'schedule' | 'backlog' | 'fleet';

export interface Controls {
  /**
   * A device that is already paused for this reason gets the new `why`.
   * @param why a clause for people, such as `it is night`
   * @param device the name of a device; all devices if absent
   * @returns false if there is no such device
   */
  pause(reason: PauseReason, why: string, device?: string): boolean;
  /** Removes one reason for the pause. @returns false if there is no such device */
  resume(reason: PauseReason, device?: string): boolean;
  /** Ends mining. The run lasts until pending submissions are answered. */
  stop(): void;
}
