/** For tests of reporters: a clock that a test advances, and short ways to make events. */

import { pino } from 'pino';
import { type Clock, systemClock } from '#pickaxe/base/system/clock.js';
import { TELEMETRY_FIELDS } from '#pickaxe/miner/engine/device.js';
import type { MinerEvent, RelayWorker } from '#pickaxe/miner/events/events.js';
import type { Setup } from '#pickaxe/rig/running-miner.js';
import type { Balance } from '#pickaxe/rig/status/earnings.js';
import type { Earnings, Sensors } from '#pickaxe/rig/status/status.js';

export class FakeClock implements Clock {
  readonly setTimeout = systemClock.setTimeout;
  readonly setInterval = systemClock.setInterval;
  readonly setImmediate = systemClock.setImmediate;
  #ms = 0;

  advance(ms: number): void {
    this.#ms += ms;
  }

  nowUs(): bigint {
    return 1_700_000_000_000_000n + BigInt(this.#ms) * 1000n;
  }

  monotonicMs(): number {
    return this.#ms;
  }
}

/** The estimate for a rig without any known figure. */
export const NO_EARNINGS: Earnings = {
  blocksPerDay: null,
  chanceInDayRatio: null,
  chanceInMonthRatio: null,
  coinsPerBlock: null,
  coinsPerDay: null,
  powerWatts: null,
  powerPrice: null,
  powerCostPerDay: null,
};

/** The readings of a device without sensors. */
export const NO_SENSORS = Object.fromEntries(TELEMETRY_FIELDS.map((field) => [field, null])) as Sensors;

export const SETUP: Setup = { configFiles: ['/etc/pickaxe.toml'], account: 'k:me', network: 'development' };

/** @returns the level and the message of each line that is logged */
export function linesOf(tell: (log: pino.Logger) => void): string[] {
  const lines: string[] = [];
  const formatters = { level: (level: string) => ({ level }) };
  const options = { level: 'trace', base: null, timestamp: false, formatters };
  tell(
    pino(options, {
      write: (line: string) => {
        const { level, msg } = JSON.parse(line);
        lines.push(`${level} ${msg}`);
      },
    }),
  );
  return lines;
}

/** On one chain of three the account does not exist, and another one did not answer. */
export const BALANCE: Balance = {
  account: 'k:me',
  node: 'http://127.0.0.1:1848/ledger/0.0/development',
  total: null,
  chains: [
    { chain: 0, balance: '12.500000000001', exists: true, fault: null },
    { chain: 1, balance: '0.0', exists: false, fault: null },
    { chain: 2, balance: null, exists: null, fault: 'it did not answer in time' },
  ],
};

type DeviceEvent = Extract<MinerEvent, { type: 'device' }>;
type RelayEvent = Required<Extract<MinerEvent, { type: 'relay' }>>;
type VerdictEvent = Extract<MinerEvent, { type: 'verdict' }>;

export const device = (name: string, state: DeviceEvent['state'], reason?: string): DeviceEvent => {
  const kind = name === 'cpu' ? 'cpu' : 'gpu';
  return { type: 'device', device: name, kind, state, description: `model of ${name}`, ...(reason && { reason }) };
};

export const hashes = (device: string, count: number, difficulty = 1_000): MinerEvent => {
  return { type: 'hashes', device, hashes: count, difficulty };
};

/** The verdict of a node's block. */
export const verdict = (
  device: string,
  outcome: VerdictEvent['outcome'],
  reason = '',
  more: Partial<VerdictEvent> = {},
): VerdictEvent => {
  const where = { chain: 3, height: 42n, nonce: 2n ** 63n };
  const kind = { isRelay: false, isBlock: true, isShare: false, difficulty: 1_000 };
  return { type: 'verdict', outcome, reason, device, ...where, ...kind, answerSeconds: 0.0123, ...more };
};

/** The verdict of a pool's share of difficulty 500. */
export const share = (
  device: string,
  outcome: VerdictEvent['outcome'],
  reason = '',
  more: Partial<VerdictEvent> = {},
): VerdictEvent => verdict(device, outcome, reason, { isBlock: false, isShare: true, difficulty: 500, ...more });

export const worker = (name: string, more: Partial<RelayWorker> = {}): RelayWorker => {
  const counts = { accepted: 12, rejected: 1, stale: 2, duplicate: 3, blocks: 0 };
  return { name, sessions: 1, hashesPerSecond: 700e9, difficulty: 2 ** 40, lastShareSeconds: 4, ...counts, ...more };
};

/** The report of a relay and its workers, with the sums of the workers. */
export const relay = (name: string, ...workers: RelayWorker[]): RelayEvent => {
  const sum = (of: (worker: RelayWorker) => number) => workers.reduce((total, one) => total + of(one), 0);
  const sums = { sessions: sum(({ sessions }) => sessions), hashesPerSecond: sum((one) => one.hashesPerSecond) };
  return { type: 'relay', relay: name, ...sums, workers, refused: { banned: 2, full: 0 } };
};
