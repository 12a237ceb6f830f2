/** All events of mining as one union type, and the interface that controls a running miner. */

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
  /** Name of the device or relay that found the solution. */
  device: string;
  isRelay: boolean;
  chain: number;
  height: bigint;
  nonce: bigint;
  isBlock: boolean;
  /**
   * Whether the solution is a share: its work accepts several solutions, as a pool's work does. A share can also be a
   * block.
   */
  isShare: boolean;
  /** Number of hashes that finding a solution of the work takes on average. */
  difficulty: number;
}

interface SentBlock extends AboutSolution {
  /** The solved header, 286 bytes. */
  header: Uint8Array;
  source: string;
  /**
   * Present on a coordinator if another coordinator issued the block's work, or if the work is not known. Then this
   * coordinator did not choose the account that the block pays.
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
  /** The block's hash in the ledger, which is not the proof-of-work hash: 43 characters of base64url. */
  blockHash: string;
  device: string;
  isRelay: boolean;
}

export interface RelayWorker {
  /**
   * The name that the worker has chosen, on one line. For a relay that has only one worker, the relay's name. An event
   * lists at most 64 workers by name and sums up all others as `OTHER_WORKERS`.
   */
  name: string;
  sessions: number;
  /**
   * Hashrate of the worker: estimated from the difficulty of its shares, or, for a rig of a fleet, reported by the rig.
   */
  hashesPerSecond: number;
  /**
   * Current difficulty of the worker's shares, in hashes per share. If the worker has several sessions, the lowest of
   * their difficulties. Absent without a session.
   */
  difficulty?: number;
  /** This field and the next three count the worker's shares since the start, by the relay's answer. */
  accepted: number;
  rejected: number;
  stale: number;
  duplicate: number;
  blocks: number;
  /** Age of the worker's last accepted share; absent before the first accepted share. */
  lastShareSeconds?: number;
}

/** Most events are printed as JSON (rig/log/json-lines.ts), so their fields are named as in public JSON. */
export type MinerEvent =
  /**
   * The engines received a new work. `networkCode` is the network's number in the header. `difficulty` is the
   * difficulty of a block. `shareDifficulty` is the difficulty of a share; it is absent for a node's work.
   */
  | {
      type: 'work';
      chain: number;
      height: bigint;
      networkCode?: number;
      difficulty: number;
      shareDifficulty?: number;
    }
  /** The engines received a new job of the current work, with a later creation time (µs since the UNIX epoch). */
  | { type: 'job'; chain: number; height: bigint; creationTimeMicros: bigint }
  /** A New Cut, the announcement of a new block, made the current work stale. */
  | { type: 'new-cut'; chain: number }
  /** The current work ended for a reason other than a New Cut. Nothing is searched until the next work. */
  | { type: 'work-ended'; chain: number; reason: Exclude<StaleReason, 'new-cut'> }
  /** A verified solution was found. It is submitted unless its work is stale. `hash` is 32 bytes, little-endian. */
  | (AboutSolution & { type: 'solution'; hash: Uint8Array })
  /** A solution has its verdict, `answerSeconds` after it was found. */
  | (AboutSolution & { type: 'verdict'; outcome: Outcome; reason: string; answerSeconds: number })
  /**
   * A block is being sent, so it may be accepted from now on. One of the next three events follows, unless the block's
   * outcome is `delivered`.
   */
  | (SentBlock & { type: 'sent-block' })
  /** A block was accepted. This event follows the `verdict` event. */
  | (SubmittedBlock & { type: 'accepted-block' })
  /**
   * The answer to a block was lost, so only the chain shows whether the block was accepted. This event follows the
   * `verdict` event.
   */
  | (SubmittedBlock & { type: 'unanswered-block' })
  /** A block was sent and not accepted. This event follows the `verdict` event. */
  | (SubmittedBlock & { type: 'refused-block' })
  /**
   * A block was recorded (`previous` is absent then), or its state changed. `reward` and `fees` are exact decimals;
   * they are absent until the node's payload has proven them.
   */
  | (AboutBlock & {
      type: 'block-state';
      state: BlockState;
      previous?: BlockState;
      /** Present if an earlier run found the block. */
      isEarlier?: true;
      /**
       * Number of blocks above this block or, if another block has its place, above that other block. When nodes report
       * different numbers, the smallest one counts.
       */
      depth: number;
      /** Whether nodes disagree about which block has this place in the chain. */
      nodesDisagree: boolean;
      settledDepth: number;
      /** Estimated time until the block is settled; present only while the block's state is `won`. */
      settledInSeconds?: number;
      reward?: string;
      fees?: string;
      /**
       * The account that the block provably pays. Present only if it is not the miner's account; the miner earns
       * nothing from such a block.
       */
      paidTo?: string;
      /** Explanation of the state for people; may be empty. */
      reason: string;
    })
  /**
   * Reports one of three facts about a won block. Its reward was proven (`reward`, `fees`). Or the node's claim about
   * the reward is false (`fault`). Or the block pays another account (`paidTo`) than the account for which it was mined
   * (`account`): this proves that the node `source` gave work for that other account.
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
  /**
   * The device has searched `hashes` nonces since its last event of this type. `difficulty` is the difficulty of a
   * block.
   */
  | { type: 'hashes'; device: string; hashes: number; difficulty: number }
  /**
   * A candidate was verified. It proves `hashes` hashes on average. Finding a hash as low as the candidate's takes
   * `difficulty` hashes on average.
   */
  | { type: 'proof'; device: string; hashes: number; difficulty: number }
  /** The device began to search the work that followed a New Cut, `switchSeconds` after the New Cut was received. */
  | { type: 'job-switch'; device: string; switchSeconds: number }
  /**
   * A device reported a wrong candidate: its hash misses the job's search target, or the work's nonce1 does not allow
   * it.
   */
  | { type: 'hardware-error'; device: string; nonce: bigint }
  /** A device has changed its state, or what is known of the device has changed. */
  | {
      type: 'device';
      device: string;
      kind: DeviceKind;
      state: Exclude<DeviceState, 'starting'>;
      /** Model, kernel and number of threads on one line for people; the device's name until it has been opened. */
      description: string;
      /** `model` and `kernel` are absent until the device has been opened. */
      model?: string;
      kernel?: string;
      /**
       * The kinds of cores of a hybrid CPU. Absent if all cores are alike, if the threads are not confined to a kind of
       * cores, and until the CPU has been opened.
       */
      cores?: readonly CoreInfo[];
      /**
       * For people, about a CPU: the reasons for the kernel and the number of threads, and the source of the sensors'
       * readings. Present only while the CPU is ready.
       */
      detail?: string;
      /** PCI address of a card, such as `0000:65:00.0`; absent if not known. */
      bus?: string;
      /** For people: why the device does not mine. Absent while it mines. */
      reason?: string;
      fault?: DeviceFault;
    }
  /** Progress of opening a device: `what` is the present step, and `done` the finished fraction, 0 to 1. */
  | { type: 'progress'; device: string; what: string; done: number }
  /** New readings of a device's sensors. They come every few seconds. */
  | { type: 'telemetry'; device: string; telemetry: Telemetry }
  /**
   * A hashrate was too low for too long, or has recovered. If `device` is absent, it is the hashrate of the whole rig.
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
  /** A fetched work has a new parent block that the open update stream had not announced, so stale work was mined. */
  | { type: 'missed-cut'; source: string; chain: number }
  /**
   * Work of `chains` is polled from now on, because their update streams are closed or not trusted. The list is
   * empty when no chain is polled any more.
   */
  | { type: 'polling'; source: string; chains: readonly PolledChain[] }
  /**
   * The state of a relay, reported every few seconds. The hashrates are estimated from shares or reported by rigs; the
   * relay cannot count hashes.
   */
  | {
      type: 'relay';
      relay: string;
      sessions: number;
      hashesPerSecond: number;
      workers: readonly RelayWorker[];
      /**
       * Number of refused or closed connections and of refused messages since the start, by reason. Absent for
       * a relay that has only one worker, because it counts no refusals.
       */
      refused?: Readonly<Record<string, number>>;
    }
  /** A node gave work `latencySeconds` after a request, or a pool gave its first work that long after connecting. */
  | { type: 'fetch'; source: string; latencySeconds: number }
  /**
   * A source reports a change of its state, a warning or an information. `source` is the source's name, such as a URL.
   * `nodeConfiguration` lists lines that should be added to the node's configuration.
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

/* The controls of a running miner. `Miner` in `miner/loop/` implements them. */

/**
 * Reason for pausing devices. A device can be paused for several reasons at once. It resumes when none of them applies.
 */
export type PauseReason = 'temperature' | 'user' | 'battery' | 'activity' | 'schedule' | 'backlog' | 'fleet';

export interface Controls {
  /**
   * Pauses devices for a reason. If a device is already paused for the same reason, the new `why` replaces the old one.
   * @param why a clause for people, such as `it is night`
   * @param device the name of a device; all devices if absent
   * @returns false if there is no such device
   */
  pause(reason: PauseReason, why: string, device?: string): boolean;
  /**
   * Removes one reason for a pause. A device without any other reason resumes.
   * @param device the name of a device; all devices if absent
   * @returns false if there is no such device
   */
  resume(reason: PauseReason, device?: string): boolean;
  /** Ends mining. `Miner.run` returns when all pending submissions have their verdicts. */
  stop(): void;
}
