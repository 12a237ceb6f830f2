/**
 * Whether the rig mines, and what keeps it from mining. This is the one answer: readiness, the web page, the status
 * line, the log, the service manager and the alarm all go by it. Pure.
 */

import type { SourceKind, StaleReason } from '../source/vocabulary.ts';
import type { DeviceNow } from './device-stats.ts';
import { livesOnRelays, type RigStateName } from './figures.ts';
import type { RigNow } from './rig.ts';
import { noneYet } from './units.ts';

/** Work follows a New Cut within milliseconds. Only a rig that has waited for longer than this is said to wait. */
const WORK_PATIENCE_MS = 5_000;

export interface RigState {
  readonly name: RigStateName;
  /** What the rig's work comes from. */
  readonly sourceKind: SourceKind;
  /** What keeps the rig from mining, for people; empty while it mines. */
  readonly reason: string;
  /** Since when, on the clock's `monotonicMs`. */
  readonly sinceMs: number;
}

/** What the state depends on. */
type Basis = Pick<
  RigNow,
  'nowMs' | 'deviceReady' | 'sourceKind' | 'sourceConnected' | 'work' | 'sources' | 'devices' | 'relays'
>;

/** Devices come first, then sources, then work: what is missing first is what a person has to see to. */
export function rigState(now: Basis): RigState {
  return { sourceKind: now.sourceKind, ...(deviceTrouble(now) ?? supplyTrouble(now) ?? mining(now)) };
}

type Finding = Omit<RigState, 'sourceKind'>;

/** What keeps devices from having work, whatever the devices do; undefined while there is work for them. */
export function supplyTrouble(now: Basis): Finding | undefined {
  return sourceTrouble(now) ?? workTrouble(now);
}

function deviceTrouble({ devices, relays, deviceReady }: Basis): Finding | undefined {
  if (livesOnRelays({ devices, relays })) return undefined;
  const all = [...devices];
  const states = new Set(all.map(([, { state }]) => state));
  if (states.has('ready')) return undefined;
  const { sinceMs } = deviceReady;
  if (all.length === 0) return { name: 'starting', reason: 'no device has been opened yet', sinceMs };
  if (states.has('starting')) {
    const names = all.filter(([, { state }]) => state === 'starting').map(([name]) => name);
    return { name: 'starting', reason: `opening ${names.join(', ')}`, sinceMs };
  }
  const reason = idleReasons(all);
  // Parked devices are given up: a rig whose other devices are all paused is paused.
  const isPaused = states.has('paused') && !states.has('reopening');
  return { name: isPaused ? 'paused' : 'no-device', reason, sinceMs };
}

/** @returns `cpu, gpu0 paused: by the key p; gpu1 parked: it was lost`: each reason once, after its devices */
function idleReasons(all: readonly (readonly [string, DeviceNow])[]): string {
  const names = new Map<string, string[]>();
  for (const [name, device] of all) {
    const why = idleReason(device);
    names.set(why, [...(names.get(why) ?? []), name]);
  }
  return Array.from(names, ([why, whose]) => `${whose.join(', ')} ${why}`).join('; ');
}

/** @returns `reopening: it was lost` */
function idleReason({ state, reason = 'no reason given' }: DeviceNow): string {
  return `${state}: ${reason}`;
}

function sourceTrouble({ sources, sourceKind, sourceConnected, work }: Basis): Finding | undefined {
  if (sourceConnected.value) return undefined;
  // A source need not tell whether it is connected: its work says so, too.
  if (sources.size === 0 && work) return undefined;
  // Nothing is wrong with a source on standby.
  const awaited = [...sources.values()].filter(({ state }) => state !== 'standby');
  const reasons = awaited.map(({ reason }) => firstSentence(reason)).filter((reason) => reason !== '');
  return { name: 'no-source', reason: reasons.join('; ') || noneYet(sourceKind), sinceMs: sourceConnected.sinceMs };
}

/** The first sentence says what went wrong. What to do about it was logged when the source was lost. */
function firstSentence(text: string): string {
  return text.split(/\.(?: (?=[A-Z])|$)/, 1)[0];
}

function workTrouble({ work, sourceKind, sourceConnected, nowMs }: Basis): Finding | undefined {
  const name = 'waiting-for-work';
  const source = `the ${sourceKind}`;
  if (!work) return { name, reason: `${source} has given none yet`, sinceMs: sourceConnected.sinceMs };
  const { stale } = work;
  if (stale === undefined || nowMs - stale.sinceMs < WORK_PATIENCE_MS) return undefined;
  return { name, reason: `${source} has given none since ${ENDS[stale.reason]}`, sinceMs: stale.sinceMs };
}

/** How the last work has ended. */
const ENDS: Readonly<Record<StaleReason, string>> = {
  'new-cut': 'the last New Cut',
  solved: 'the last was solved',
  expired: 'the last expired',
  cancelled: 'it cancelled the last',
};

function mining({ deviceReady, sourceConnected }: Basis): Finding {
  return { name: 'mining', reason: '', sinceMs: Math.max(deviceReady.sinceMs, sourceConnected.sinceMs) };
}
