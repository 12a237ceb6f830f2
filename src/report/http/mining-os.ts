/**
 * How the rig is doing, in the shapes that mining systems expect from a custom miner: HiveOS
 * (github.com/minershive/hiveos-linux, hive/miners/custom/README.md) and mmpOS (github.com/ddobreff/mmpos,
 * CUSTOM_MINER.MD). Both match figures to cards by the bus of their PCI address.
 */

import { countsShares } from '../figures.ts';
import type { Status } from './schemas.ts';

type Device = Status['devices'][string];

/** Mining systems count shares. On a node every solution is a block, and blocks take their place. */
function judged(status: Status): (of: Status | Device) => Pick<Status, 'accepted' | 'rejected' | 'stale'> {
  return countsShares(status.work, status.shares) ? ({ shares }) => shares : (of) => of;
}

/** The algorithm's name for HiveOS. */
const ALGORITHM = 'blake2s';

interface HiveStats {
  readonly hs: readonly number[];
  readonly hs_units: 'khs';
  readonly temp: readonly (number | null)[];
  readonly fan: readonly (number | null)[];
  readonly uptime: number;
  readonly ver: string;
  /** Accepted, rejected, invalid. */
  readonly ar: readonly [number, number, number];
  readonly algo: string;
  /** Decimal; null for the CPU and where it is not known. */
  readonly bus_numbers: readonly (number | null)[];
}

/** @returns the rig's kH/s, and the figures of each device */
export function hiveStats(status: Status): { readonly khs: number; readonly stats: HiveStats } {
  const devices = Object.values(status.devices);
  const verdicts = judged(status)(status);
  const stats: HiveStats = {
    hs: devices.map(({ hashesPerSecond }) => kilo(hashesPerSecond)),
    hs_units: 'khs',
    temp: devices.map(({ sensors }) => whole(sensors.temperatureCelsius ?? sensors.hotspotCelsius)),
    fan: devices.map(({ sensors }) => whole(sensors.fanRatio === null ? null : 100 * sensors.fanRatio)),
    uptime: Math.floor(status.uptimeSeconds),
    ver: status.version,
    ar: [verdicts.accepted, refused(verdicts), status.hardwareErrors],
    algo: ALGORITHM,
    bus_numbers: devices.map(busNumber),
  };
  return { khs: kilo(status.hashesPerSecond), stats };
}

interface MmposStats {
  /** Decimal, and `cpu`. */
  readonly busid: readonly (number | 'cpu')[];
  readonly hash: readonly number[];
  readonly units: 'hs';
  /** Accepted, invalid, rejected. */
  readonly air: readonly [string, string, string];
  readonly shares: {
    readonly accepted: readonly number[];
    readonly rejected: readonly number[];
    readonly invalid: readonly number[];
  };
  readonly miner_name: string;
  readonly miner_version: string;
}

export function mmposStats(status: Status): MmposStats {
  // The CPU has to come first.
  const devices = Object.values(status.devices).sort((a, b) => Number(b.kind === 'cpu') - Number(a.kind === 'cpu'));
  const verdicts = judged(status);
  return {
    busid: devices.map((device) => (device.kind === 'cpu' ? 'cpu' : (busNumber(device) ?? 0))),
    hash: devices.map(({ hashesPerSecond }) => Math.round(hashesPerSecond)),
    units: 'hs',
    air: [`${verdicts(status).accepted}`, `${status.hardwareErrors}`, `${refused(verdicts(status))}`],
    shares: {
      accepted: devices.map((device) => verdicts(device).accepted),
      rejected: devices.map((device) => refused(verdicts(device))),
      invalid: devices.map(({ hardwareErrors }) => hardwareErrors),
    },
    miner_name: 'pickaxe',
    miner_version: status.version,
  };
}

const kilo = (hashesPerSecond: number) => Number((hashesPerSecond / 1000).toFixed(3));
const whole = (value: number | null) => (value === null ? null : Math.round(value));
const refused = ({ rejected, stale }: { rejected: number; stale: number }) => rejected + stale;

/** The bus of a PCI address `DOMAIN:BUS:DEVICE.FUNCTION`. */
function busNumber({ bus }: Device): number | null {
  const [, digits] = /^[0-9a-f]+:([0-9a-f]{2}):/i.exec(bus ?? '') ?? [];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}
