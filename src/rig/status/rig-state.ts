/**
 * Determines whether the rig mines and, if it does not, why. Everything that shows the rig's state uses this result.
 */

import type { StaleReason } from '../../miner/events/vocabulary.ts';
import type { TimedFlag } from './counters.ts';
import { livesOnRelays } from './figures.ts';
import type { GivenWork } from './source-stats.ts';
import type { DeviceStatus, RigState, RigStatus } from './status.ts';
import { noneYet } from './units.ts';

/**
 * Time between the end of a work and the state `waiting-for-work`, if no other work comes. Usually, a new work follows
 * a New Cut within milliseconds.
 */
const WORK_PATIENCE_MS = 5_000;

/** The last work that the engines received. */
export interface CurrentWork extends GivenWork {
  /** Why the work became stale, and when, in ms of the clock's `monotonicMs`. Absent while the work is not stale. */
  readonly stale?: { readonly sinceMs: number; readonly reason: StaleReason };
}

export interface StateBasis extends Pick<RigStatus, 'devices' | 'relays' | 'sources' | 'sourceKind'> {
  readonly nowMs: number;
  readonly deviceReady: TimedFlag;
  readonly sourceConnected: TimedFlag;
  readonly work: CurrentWork | undefined;
}

interface Finding {
  readonly name: RigState;
  /** Reason for the state, for people; empty while the rig mines. */
  readonly reason: string;
  /** Start of the state, in ms of the clock's `monotonicMs`. */
  readonly sinceMs: number;
}

/** Checks devices first, then sources, then work, because a person has to mend faults in this order. */
function rigState(basis: StateBasis): Finding {
  return deviceTrouble(basis) ?? supplyTrouble(basis) ?? mining(basis);
}

/** The state as a rig's status has it. */
export type StateStatus = Pick<RigStatus, 'state' | 'stateReason' | 'stateAgeSeconds' | 'sourceKind'>;

export function stateStatus(basis: StateBasis): StateStatus {
  const { name, reason, sinceMs } = rigState(basis);
  const stateAgeSeconds = (basis.nowMs - sinceMs) / 1000;
  return { state: name, stateReason: reason === '' ? null : reason, stateAgeSeconds, sourceKind: basis.sourceKind };
}

/**
 * The states of devices do not matter here.
 * @returns why no source is connected or, if one is connected, why there is no work; undefined if a source is connected
 *   and the last work is not stale, or has been stale for less than `WORK_PATIENCE_MS`
 */
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

/** Whether at least one device is paused, and every other device is paused or parked. */
export function arePaused(devices: readonly Pick<DeviceStatus, 'state'>[]): boolean {
  return (
    devices.some(({ state }) => state === 'paused') &&
    devices.every(({ state }) => state === 'paused' || state === 'parked')
  );
}

/**
 * @returns states and reasons such as `cpu, gpu0 paused: by the key p; gpu1 parked: it was lost`. Devices with the same
 *   state and reason are listed together
 */
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
  // If there is work, a source is connected, even though no source has reported its state.
  if (all.length === 0 && work) return undefined;
  const awaited = all.filter(({ state }) => state !== 'standby');
  const reasons = awaited.map(({ reason }) => firstSentence(reason)).filter((reason) => reason !== '');
  return { name: 'no-source', reason: reasons.join('; ') || noneYet(sourceKind), sinceMs: sourceConnected.sinceMs };
}

/**
 * @returns the first sentence, which names the fault, without its full stop. Further sentences are advice, which was
 *   logged when the source was lost
 */
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

const ENDS: Readonly<Record<StaleReason, string>> = {
  'new-cut': 'the last New Cut',
  solved: 'the last was solved',
  expired: 'the last expired',
  cancelled: 'it cancelled the last',
};

function mining({ deviceReady, sourceConnected }: StateBasis): Finding {
  return { name: 'mining', reason: '', sinceMs: Math.max(deviceReady.sinceMs, sourceConnected.sinceMs) };
}
