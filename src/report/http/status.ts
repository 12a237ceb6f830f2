/** How the rig is doing, and what it did: the answer of `/api/v1/status`. */

import type { Telemetry } from '../../engine/telemetry.ts';
import { wallMs } from '../../system/clock.ts';
import { version } from '../../system/version.ts';
import type { DeviceNow, DeviceSummary } from '../device-stats.ts';
import type { Latency } from '../latencies.ts';
import { rigState } from '../rig-state.ts';
import type { SourceNow, WorkNow } from '../tally.ts';
import type { RigStats } from './rig-stats.ts';
import type { Status } from './schemas.ts';

type DeviceStatus = Status['devices'][string];

/** What a device has done before it comes into service. */
const NOTHING: DeviceSummary = {
  hashes: 0,
  accepted: 0,
  rejected: 0,
  stale: 0,
  unknown: 0,
  hardware_errors: 0,
  restarts: 0,
};

export function statusOf({ rigName, tally, clock, lastWorks, answers, started }: RigStats, control: boolean): Status {
  const now = tally.now();
  const { nowMs } = now;
  const state = rigState(now);
  const { seconds, hashrate: hashrate_average, devices: summaries, restart_ms, ...counts } = tally.summary();
  const { work, sources, devices, windows, highest, hashrate, effort, secondsToBlock } = now;
  return {
    rig: rigName,
    version,
    time: wallMs(clock),
    started,
    uptime_seconds: seconds,
    control,
    state: state.name,
    state_reason: state.reason === '' ? null : state.reason,
    state_age_seconds: (nowMs - state.sinceMs) / 1000,
    paused: state.name === 'paused',
    ready: state.name === 'mining',
    hashrate,
    windows,
    highest,
    hashrate_average,
    ...counts,
    effort,
    seconds_to_block: secondsToBlock ?? null,
    restart_seconds: inSeconds(restart_ms),
    answer_seconds: inSeconds(answers.spread),
    work: work ? workStatus(work, nowMs) : null,
    chains: lastWorks.all().map((each) => workStatus(each, nowMs)),
    sources: Object.fromEntries([...sources].map(([name, source]) => [name, sourceStatus(source, nowMs)])),
    devices: Object.fromEntries([...devices].map(([name, device]) => [name, deviceStatus(device, summaries[name])])),
  };
}

function deviceStatus(now: DeviceNow, { proven, ...counts }: DeviceSummary = NOTHING): DeviceStatus {
  const { kind, state, description, bus, reason, hashrate, windows, highest, telemetry, hashes_per_joule } = now;
  return {
    kind,
    state,
    description,
    bus: bus ?? null,
    reason: reason ?? null,
    hashrate,
    windows,
    highest,
    ...counts,
    proven: proven ?? null,
    sensors: sensorsOf(telemetry),
    hashes_per_joule: hashes_per_joule ?? null,
  };
}

function sensorsOf(telemetry: Telemetry): DeviceStatus['sensors'] {
  const { temperatureC, hotspotC, memoryC, powerW, fanPercent, fanRpm, coreMHz, memoryMHz } = telemetry;
  return {
    temperature_celsius: temperatureC ?? null,
    hotspot_celsius: hotspotC ?? null,
    memory_celsius: memoryC ?? null,
    power_watts: powerW ?? null,
    fan_ratio: fanPercent === undefined ? null : fanPercent / 100,
    fan_rpm: fanRpm ?? null,
    core_hertz: coreMHz === undefined ? null : coreMHz * 1e6,
    memory_hertz: memoryMHz === undefined ? null : memoryMHz * 1e6,
  };
}

function workStatus({ chain, height, difficulty, sinceMs }: WorkNow, nowMs: number): Status['chains'][number] {
  return { chain, height: Number(height), difficulty, age_seconds: (nowMs - sinceMs) / 1000 };
}

function sourceStatus(
  { state, reason, sinceMs, losses, warning, missedCuts, polled }: SourceNow,
  nowMs: number,
): Status['sources'][string] {
  return {
    state,
    reason,
    age_seconds: (nowMs - sinceMs) / 1000,
    losses,
    warning: warning ?? null,
    missed_cuts: missedCuts,
    polled_chains: [...polled],
  };
}

function inSeconds(latency: Latency | undefined): Status['restart_seconds'] {
  if (!latency) return null;
  const { p50, p99, last, count } = latency;
  return { p50: p50 / 1000, p99: p99 / 1000, last: last / 1000, count };
}
