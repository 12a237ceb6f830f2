/**
 * Whether the rig mines, and what keeps it from mining. This is the one answer: readiness, the web page, the status
 * line, the log, the service manager and the alarm all use it. Pure.
 */

import type { StaleReason } from '../source/vocabulary.ts';
import type { TimedFlag } from './counters.ts';
import { livesOnRelays } from './figures.ts';
import type { GivenWork } from './source-stats.ts';
import type { DeviceStatus, RigState, RigStatus } from './status.ts';
import { noneYet } from './units.ts';

/** Work follows a New Cut within milliseconds. Only a rig that has waited for longer than this is said to wait. */
const WORK_PATIENCE_MS = 5_000;

/** The work that the engines were given last. */
export interface CurrentWork extends GivenWork {
  /** Since when it is worthless, and why; absent while it is mined. */
  readonly stale?: { readonly sinceMs: number; readonly reason: StaleReason };
}

/** What the state depends on. */
export interface StateBasis extends Pick<RigStatus, 'devices' | 'relays' | 'sources' | 'sourceKind'> {
  readonly nowMs: number;
  /** Whether any device is ready. */
  readonly deviceReady: TimedFlag;
  /** Whether any source is connected. */
  readonly sourceConnected: TimedFlag;
  readonly work: CurrentWork | undefined;
}

interface Finding {
  readonly name: RigState;
  /** What keeps the rig from mining, for people; empty while it mines. */
  readonly reason: string;
  /** Since when, on the clock's `monotonicMs`. */
  readonly sinceMs: number;
}

/** Devices come first, then sources, then work: what is missing first is what a person has to see to. */
export function rigState(basis: StateBasis): Finding {
  return deviceTrouble(basis) ?? supplyTrouble(basis) ?? mining(basis);
}

/** What keeps devices from having work, whatever the devices do; undefined while there is work for them. */
export function supplyTrouble(basis: StateBasis): Finding | undefined {
  return sourceTrouble(basis) ?? workTrouble(basis);
}

function deviceTrouble({ devices, relays, deviceReady }: StateBasis): Finding | undefined {
  if (livesOnRelays({ devices, relays })) return undefined;
  const all = Object.entries(devices);
  const { sinceMs } = deviceReady;
  if (all.length === 0) return { name: 'starting', reason: 'no device has been opened yet', sinceMs };
  const starting = all.flatMap(([name, { state }]) => (state === 'starting' ? [name] : []));
  if (all.some(([, { state }]) => state === 'ready')) return undefined;
  if (starting.length > 0) return { name: 'starting', reason: `opening ${starting.join(', ')}`, sinceMs };
  const name = arePaused(all.map(([, device]) => device)) ? 'paused' : 'no-device';
  return { name, reason: idleReasons(all), sinceMs };
}

/**
 * Whether somebody wants none of the devices to mine. Parked devices are given up: a rig whose other devices are all
 * paused is paused.
 */
export function arePaused(devices: readonly Pick<DeviceStatus, 'state'>[]): boolean {
  return (
    devices.some(({ state }) => state === 'paused') &&
    devices.every(({ state }) => state === 'paused' || state === 'parked')
  );
}

/** @returns `cpu, gpu0 paused: by the key p; gpu1 parked: it was lost`: each reason once, after its devices */
function idleReasons(all: readonly (readonly [string, DeviceStatus])[]): string {
  const names = new Map<string, string[]>();
  for (const [name, { state, reason }] of all) {
    const why = `${state}: ${reason ?? 'no reason given'}`;
    names.set(why, [...(names.get(why) ?? []), name]);
  }
  return Array.from(names, ([why, whose]) => `${whose.join(', ')} ${why}`).join('; ');
}

function sourceTrouble({ sources, sourceKind, sourceConnected, work }: StateBasis): Finding | undefined {
  if (sourceConnected.value) return undefined;
  const all = Object.values(sources);
  // A source need not report that it is connected: its work shows it, too.
  if (all.length === 0 && work) return undefined;
  // Nothing is wrong with a source on standby.
  const awaited = all.filter(({ state }) => state !== 'standby');
  const reasons = awaited.map(({ reason }) => firstSentence(reason)).filter((reason) => reason !== '');
  return { name: 'no-source', reason: reasons.join('; ') || noneYet(sourceKind), sinceMs: sourceConnected.sinceMs };
}

/** The first sentence says what went wrong. What to do about it was logged when the source was lost. */
function firstSentence(text: string): string {
  return text.split(/\.(?: (?=[A-Z])|$)/, 1)[0];
}

function workTrouble({ work, sourceKind, sourceConnected, nowMs }: StateBasis): Finding | undefined {
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

function mining({ deviceReady, sourceConnected }: StateBasis): Finding {
  return { name: 'mining', reason: '', sinceMs: Math.max(deviceReady.sinceMs, sourceConnected.sinceMs) };
}
