/** How the rig is doing, and what it did: the answer of `/api/v1/status`. */

import { TELEMETRY_FIELDS, type Telemetry } from '../../engine/device.ts';
import { type Clock, wallMs } from '../../system/clock.ts';
import { version } from '../../system/version.ts';
import type { DeviceNow, DeviceSummary } from '../device-stats.ts';
import type { Earnings } from '../earnings.ts';
import { History } from '../history.ts';
import type { LogTail } from '../log-tail.ts';
import { Latencies } from '../rates.ts';
import type { Setup } from '../rig.ts';
import { rigState } from '../rig-state.ts';
import type { RunningMiner } from '../running-miner.ts';
import { EARNINGS_FIELDS } from '../shapes.ts';
import type { RelayNow, RelaySummary, SourceNow, WorkNow } from '../source-stats.ts';
import type { Tally } from '../tally.ts';
import type { Status } from './schemas.ts';

type DeviceStatus = Status['devices'][string];

/** What a device has done before it comes into service. */
const NOTHING: DeviceSummary = {
  hashes: 0,
  accepted: 0,
  rejected: 0,
  stale: 0,
  unknown: 0,
  delivered: 0,
  shares: { accepted: 0, rejected: 0, stale: 0, unknown: 0, delivered: 0, acceptedHashes: 0 },
  hardwareErrors: 0,
  reopens: 0,
};

export function statusOf(stats: RigStats, control: boolean): Status {
  const { rigName, setup, tally, clock, answers, startTimeMillis } = stats;
  const now = tally.now();
  const { nowMs } = now;
  const state = rigState(now);
  const {
    devices: summaries,
    relays: brought,
    switchSeconds,
    acceptedBlocks,
    earnings: _,
    ...counts
  } = tally.summary();
  const { work, sources, devices, relays, effort, timeToBlockSeconds, timeToShareSeconds, lastShareMs } = now;
  const { hashesPerSecond, hashesPerSecondByWindow, highestHashesPerSecond, provenHashesPerSecond } = now;
  return {
    rig: rigName,
    version,
    configFiles: [...setup.configFiles],
    account: setup.account ?? null,
    network: setup.network ?? null,
    user: setup.user ?? null,
    timeMillis: wallMs(clock),
    startTimeMillis,
    control,
    state: state.name,
    stateReason: state.reason === '' ? null : state.reason,
    stateAgeSeconds: (nowMs - state.sinceMs) / 1000,
    paused: state.name === 'paused',
    ready: state.name === 'mining',
    hashesPerSecond,
    hashesPerSecondByWindow,
    highestHashesPerSecond,
    ...counts,
    acceptedBlocks: acceptedBlocks ?? null,
    provenHashesPerSecond,
    effort,
    timeToBlockSeconds: timeToBlockSeconds ?? null,
    timeToShareSeconds: timeToShareSeconds ?? null,
    earnings: earningsStatus(now.earnings),
    lastShareSeconds: lastShareMs === undefined ? null : (nowMs - lastShareMs) / 1000,
    switchSeconds: switchSeconds ?? null,
    answerSeconds: answers.spread ?? null,
    work: work ? workStatus(work, nowMs) : null,
    chains: tally.works.all().map((each) => workStatus(each, nowMs)),
    sourceKind: now.sourceKind,
    sources: Object.fromEntries([...sources].map(([name, source]) => [name, sourceStatus(source, nowMs)])),
    devices: Object.fromEntries([...devices].map(([name, device]) => [name, deviceStatus(device, summaries[name])])),
    relays: Object.fromEntries([...relays].map(([name, relay]) => [name, relayStatus(relay, brought[name])])),
  };
}

function deviceStatus(now: DeviceNow, { proven, ...counts }: DeviceSummary = NOTHING): DeviceStatus {
  const { kind, state, description, model, kernel, cores, bus, reason, telemetry, hashesPerJoule } = now;
  const { hashesPerSecond, hashesPerSecondByWindow, highestHashesPerSecond, provenHashesPerSecond } = now;
  return {
    kind,
    state,
    description,
    model: model ?? null,
    kernel: kernel ?? null,
    cores: cores ? [...cores] : null,
    bus: bus ?? null,
    reason: reason ?? null,
    hashesPerSecond,
    hashesPerSecondByWindow,
    highestHashesPerSecond,
    ...counts,
    proven: proven ?? null,
    provenHashesPerSecond,
    sensors: sensorsOf(telemetry),
    hashesPerJoule: hashesPerJoule ?? null,
  };
}

function earningsStatus(earnings: Earnings): Status['earnings'] {
  const fields = EARNINGS_FIELDS.map((field) => [field, earnings[field] ?? null]);
  return Object.fromEntries(fields) as Status['earnings'];
}

function relayStatus({ workers, refused, ...now }: RelayNow, brought: RelaySummary): Status['relays'][string] {
  return {
    ...now,
    ...brought,
    refused: { ...refused },
    workers: workers.map(({ difficulty = null, lastShareSeconds = null, ...worker }) => {
      return { ...worker, difficulty, lastShareSeconds };
    }),
  };
}

function sensorsOf(telemetry: Telemetry): DeviceStatus['sensors'] {
  const fields = TELEMETRY_FIELDS.map((field) => [field, telemetry[field] ?? null]);
  return Object.fromEntries(fields) as DeviceStatus['sensors'];
}

function workStatus(
  { chain, height, difficulty, shareDifficulty, sinceMs }: WorkNow,
  nowMs: number,
): Status['chains'][number] {
  const ageSeconds = (nowMs - sinceMs) / 1000;
  return { chain, height: Number(height), difficulty, shareDifficulty: shareDifficulty ?? null, ageSeconds };
}

function sourceStatus(source: SourceNow, nowMs: number): Status['sources'][string] {
  const { kind, state, reason, sinceMs, latencySeconds, losses, warning, missedCuts, polledChains } = source;
  return {
    kind,
    state,
    reason,
    ageSeconds: (nowMs - sinceMs) / 1000,
    latencySeconds: latencySeconds ?? null,
    losses,
    warning: warning ?? null,
    missedCuts,
    polledChains: [...polledChains],
  };
}

/* All that the server reports about the rig, kept from events since the start of the run. */

type Watched = Pick<RunningMiner, 'rigName' | 'setup' | 'events' | 'tally' | 'clock' | 'logTail'>;

export class RigStats {
  readonly rigName: string;
  readonly setup: Setup;
  readonly tally: Tally;
  readonly clock: Clock;
  readonly history: History;
  readonly logTail: LogTail;
  /** When the run began, which distinguishes it from other runs. */
  readonly startTimeMillis: number;
  /** The time from finding a solution to knowing what became of it. */
  readonly answers = new Latencies();
  readonly #ends: (() => void)[];

  constructor({ rigName, setup, events, tally, clock, logTail }: Watched) {
    this.rigName = rigName;
    this.setup = setup;
    this.tally = tally;
    this.clock = clock;
    this.logTail = logTail;
    this.startTimeMillis = wallMs(clock);
    this.history = new History(tally, clock);
    this.#ends = [
      events.on((event) => event.type === 'verdict' && this.answers.add(event.answerSeconds)),
      this.history.start(),
    ];
  }

  close(): void {
    for (const end of this.#ends) end();
  }
}
