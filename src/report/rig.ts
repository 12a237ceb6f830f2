/** The state of a rig at one moment. */

import type { Logger } from 'pino';
import type { MinerEvent } from '../events/events.ts';
import { BLOCK_STATES, type BlockState, FATE_OF } from '../events/vocabulary.ts';
import type { SourceKind, StaleReason } from '../source/vocabulary.ts';
import { plural } from '../text/quantities.ts';
import type { DeviceNow, DeviceSummary, OutcomeCounts, ShareCounts } from './device-stats.ts';
import type { Earnings } from './earnings.ts';
import type { Latency, RatesByWindow, TimedFlag } from './rates.ts';
import type { RelayNow, RelaySummary, SourceNow, WorkNow } from './source-stats.ts';

/** The work that the engines were given last. */
export interface CurrentWork extends WorkNow {
  /** Since when it is worthless, and why; absent while it is mined. */
  readonly stale?: { readonly sinceMs: number; readonly reason: StaleReason };
}

/** How the rig is doing. Times are the clock's `monotonicMs`. */
export interface RigNow {
  /** The time of this state. */
  readonly nowMs: number;
  /** Whether any device is in service and is not paused. */
  readonly deviceReady: TimedFlag;
  /** What the rig's work comes from. */
  readonly sourceKind: SourceKind;
  /** Whether any source is connected. */
  readonly sourceConnected: TimedFlag;
  readonly hashesPerSecondByWindow: RatesByWindow;
  /** The highest of the rates over 10 s. */
  readonly highestHashesPerSecond: number | null;
  /** Over half a minute, the sum of the devices'. */
  readonly hashesPerSecond: number;
  /** What the devices' verified candidates prove, over a quarter of an hour. */
  readonly provenHashesPerSecond: number;
  readonly work?: CurrentWork;
  /** The devices' work since their last accepted block ÷ what a block takes on average. */
  readonly effort: number;
  /** When the last block was accepted; absent before the first. */
  readonly lastBlockMs?: number;
  /** When the last share was accepted; absent before the first. */
  readonly lastShareMs?: number;
  /**
   * How long a block takes on average at this rate, which here includes the estimated one of relays' workers, and the
   * mean difficulty of the chains that are mined. Absent while difficulty or rate is not known, and while the rig does
   * not mine.
   */
  readonly timeToBlockSeconds?: number;
  /** The same for a share; absent for a node's work, too. */
  readonly timeToShareSeconds?: number;
  /** At the same rate and difficulty. Empty while the rig does not mine. */
  readonly earnings: Earnings;
  readonly sources: ReadonlyMap<string, SourceNow>;
  readonly devices: ReadonlyMap<string, DeviceNow>;
  readonly relays: ReadonlyMap<string, RelayNow>;
}

/* The totals of a run. */

/** What the rig did since the start. Its outcomes are those of blocks, also of those that relays brought. */
export interface Summary extends OutcomeCounts {
  readonly shares: ShareCounts;
  /** What became of the accepted blocks; absent before the first one, and without a block log. */
  readonly acceptedBlocks?: AcceptedBlocks;
  readonly hardwareErrors: number;
  /** How many nonces were searched. */
  readonly hashes: number;
  readonly uptimeSeconds: number;
  /** Over the whole run. */
  readonly averageHashesPerSecond: number;
  /** How many blocks the devices' hashes give on average. Luck (report/figures.ts) is what they found divided by it. */
  readonly expectedBlocks: number;
  /** Difficulty of the best hash found; 0 before the first candidate. */
  readonly bestDifficulty: number;
  /** What the rate of the whole run earns, at the last difficulty. */
  readonly earnings: Earnings;
  readonly newCuts: number;
  /** Blocks that an open update stream did not announce; a fetch found them. */
  readonly missedCuts: number;
  /** The time of job switches, from hearing of a New Cut to searching the new work. Absent before the first New Cut. */
  readonly switchSeconds?: Latency;
  /** The same counts for each device, by its name. */
  readonly devices: Readonly<Record<string, DeviceSummary>>;
  /** What relays brought, by the relay's name. */
  readonly relays: Readonly<Record<string, RelaySummary>>;
}

/*
 * What a run is about and does not change while it lasts: who earns, where, and which files said so. Nothing of it is
 * secret.
 */

export interface Setup {
  /** The absolute paths of the configuration files that were read. */
  readonly configFiles: readonly string[];
  /** The account that is mined for; absent on a pool and for a parent. */
  readonly account?: string | undefined;
  /** The network of the nodes that are mined on; absent elsewhere. */
  readonly network?: string | undefined;
  /** The user at the pools that are mined on, and their URLs; absent elsewhere. */
  readonly user?: string | undefined;
  readonly pools?: readonly string[] | undefined;
}

/** Where paths are shortened, so that they fit a terminal. */
export interface Folders {
  readonly current: string;
  readonly home: string | undefined;
  /** `/`, or `\` on Windows. */
  readonly separator: string;
}

interface Start extends Setup {
  readonly version: string;
  readonly rigName: string;
}

/** The first lines of a log, from which a wrong user, account, network or file can be seen at once. */
export function logStart(log: Logger, start: Start, folders: Folders): void {
  for (const line of startLines(start, folders)) log.info({ tag: 'miner' }, line);
}

function startLines({ version, rigName, ...setup }: Start, folders: Folders): string[] {
  const { configFiles } = setup;
  const files = configFiles.map((file) => shortened(file, folders)).join(' and ');
  return [
    `pickaxe ${version}, rig ${rigName}, ${files === '' ? 'no configuration file' : `settings from ${files}`}`,
    whoEarns(setup),
  ];
}

function whoEarns({ account, network, user, pools = [] }: Setup): string {
  if (user !== undefined) return `mines as ${user} at ${pools.join(', ')}`;
  if (account === undefined) return 'mines for the program that gives it jobs';
  return `mines on ${network} for ${account}`;
}

function shortened(file: string, { current, home, separator }: Folders): string {
  const within = (folder: string) => file.startsWith(folder.endsWith(separator) ? folder : `${folder}${separator}`);
  if (within(current)) return file.slice(current.length).replace(/^[\\/]/, '');
  return home !== undefined && home.length > 1 && within(home) ? `~${file.slice(home.length)}` : file;
}

interface Device {
  readonly name: string;
  /** The number of worker threads of a CPU. */
  readonly threads?: number | undefined;
}

/** @returns `devices: cpu (8 threads), gpu0`: what is opened next */
export function describeDevices(devices: readonly Device[]): string {
  const all = devices.map(({ name, threads }) => {
    if (threads === undefined) return name;
    return `${name} (${plural(threads, 'thread')})`;
  });
  return `devices: ${all.join(', ') || 'none'}`;
}

/* Counts what has become of the blocks of this run. */

/** Accepted blocks = won + orphaned + pending. The others are not known to be accepted. */
export interface AcceptedBlocks {
  /** On the chain, settled ones included. */
  readonly won: number;
  /** Those of the won ones that can be relied on. */
  readonly settled: number;
  /** Not on the chain. */
  readonly orphaned: number;
  /** Nothing is decided. */
  readonly pending: number;
  /** Their answer was lost, and no chain has shown yet whether a node took them. */
  readonly unanswered: number;
  /** Their answer was lost, and no node has them. */
  readonly lost: number;
  /** Blocks that pay another account than the miner's: some of these, and some that were refused or only counted. */
  readonly paidElsewhere: number;
}

/** Events say what a block was before, so no block needs to be remembered, however many a run finds. */
export class BlockCounts {
  readonly #counts = new Map<BlockState, number>(BLOCK_STATES.map((state) => [state, 0]));
  #paidElsewhere = 0;

  /** Blocks of earlier runs are followed, too, but are not counted here. */
  add({ state, previous, isEarlier }: MinerEvent & { type: 'block-state' }): void {
    if (isEarlier) return;
    if (previous !== undefined) this.#change(previous, -1);
    this.#change(state, 1);
  }

  /** Each block that pays another account has one such event. */
  addReward({ paidTo, isEarlier }: MinerEvent & { type: 'block-reward' }): void {
    if (paidTo !== undefined && !isEarlier) this.#paidElsewhere++;
  }

  /** Undefined while no block was recorded: then there may be no block log. */
  get accepted(): AcceptedBlocks | undefined {
    const settled = this.#counts.get('settled')!;
    const paidElsewhere = this.#paidElsewhere;
    const counts = { won: 0, settled, orphaned: 0, pending: 0, unanswered: 0, lost: 0, paidElsewhere };
    for (const [state, count] of this.#counts) counts[FATE_OF[state]] += count;
    const { won, orphaned, pending, unanswered, lost } = counts;
    return won + orphaned + pending + unanswered + lost > 0 ? counts : undefined;
  }

  #change(state: BlockState, by: number): void {
    this.#counts.set(state, this.#counts.get(state)! + by);
  }
}
