/**
 * Reads the power of the CPU's packages under Linux. Sources, in the kernel's Documentation folder: power/powercap/powercap.rst;
 * hwmon/amd_energy.rst; and the README of github.com/ocerman/zenpower.
 */

import { join } from 'node:path';
import type { Clock } from '../../../system/clock.ts';
import { EnergyMeter } from '../../sensors/energy-meter.ts';
import { list } from '../../sensors/hwmon-files.ts';
import { isRefused, type ReadSysfs, readInteger, readLine } from '../../sensors/read-line.ts';
import { findChips } from './chips.ts';

export interface PowerMeter {
  /** For people: where the readings come from. */
  readonly what: string;
  /** @returns W of all packages together; undefined while that of any of them is not known */
  readWatts(): Promise<number | undefined>;
}

export interface FoundPower {
  readonly meter?: PowerMeter;
  /** A file that would tell the power if the system let this process read it. Absent where there is a meter. */
  readonly refused?: string;
}

type Read = ReadSysfs | undefined;

/** The whole packages that Linux's powercap shows, also AMD's. `psys` is the whole machine, and `intel-rapl:0:0` a part. */
const ZONE = /^intel-rapl:\d+$/;
/** A package of several dies has a counter for each. */
const PACKAGE = /^package-\d+(-die-\d+)?$/;

/**
 * Counters of energy come first, because they count everything between two readings. zenpower reads the present power of the
 * two rails that feed a chip, or in later versions that of the package.
 * @param sysfs where sysfs is mounted
 */
export async function findPower(sysfs: string, clock: Clock, read?: ReadSysfs): Promise<FoundPower> {
  const counters = [
    { what: 'RAPL', counters: await raplCounters(sysfs, read) },
    { what: 'amd_energy', counters: await amdEnergyCounters(sysfs, read) },
  ].filter(({ counters }) => counters.length > 0);
  let refused: string | undefined;
  for (const { what, counters: each } of counters) {
    const closed = await firstRefused(each, read);
    if (closed === undefined) return { meter: meterOf(what, each, clock, read) };
    refused ??= closed;
  }
  const zenpower = await findZenpower(sysfs, read);
  if (zenpower) return { meter: zenpower };
  return refused === undefined ? {} : { refused };
}

interface Counter {
  /** Its file, which counts µJ. */
  readonly file: string;
  /** It begins again at 0 after so many µJ. */
  readonly rangeMicrojoules?: number | undefined;
}

/** @returns the counters of all packages. The zones of `intel-rapl-mmio` count the same packages once more */
async function raplCounters(sysfs: string, read: Read): Promise<Counter[]> {
  const root = join(sysfs, 'class/powercap');
  const counters = new Map<string, Counter>();
  for (const zone of (await list(root)).filter((name) => ZONE.test(name))) {
    const name = (await readLine(join(root, zone, 'name'), read)) ?? '';
    if (!PACKAGE.test(name) || counters.has(name)) continue;
    const rangeMicrojoules = await readInteger(join(root, zone, 'max_energy_range_uj'), read);
    counters.set(name, { file: join(root, zone, 'energy_uj'), rangeMicrojoules });
  }
  return [...counters.values()];
}

/** The driver extends the chip's 32 bits to 64, so these counters do not wrap around. */
async function amdEnergyCounters(sysfs: string, read: Read): Promise<Counter[]> {
  const [chip] = await findChips(['amd_energy'], sysfs, read);
  const channels = (await chip?.channels('energy')) ?? [];
  return channels.filter(({ label }) => /^Esocket\d+$/.test(label ?? '')).map(({ file }) => ({ file }));
}

async function firstRefused(counters: readonly Counter[], read: Read): Promise<string | undefined> {
  for (const { file } of counters) {
    if (await isRefused(file, read)) return file;
  }
  return undefined;
}

function meterOf(what: string, counters: readonly Counter[], clock: Clock, read: Read): PowerMeter {
  const meters = counters.map(({ file, rangeMicrojoules }) => new EnergyMeter(file, clock, { rangeMicrojoules, read }));
  return { what, readWatts: () => sumOf(meters.map((meter) => () => meter.readW())) };
}

async function findZenpower(sysfs: string, read: Read): Promise<PowerMeter | undefined> {
  const chips = await findChips(['zenpower'], sysfs, read);
  const channels = (await Promise.all(chips.map((chip) => chip.channels('power')))).flat();
  const named = (name: string) => channels.filter(({ label }) => label === name);
  const packages = named('RAPL_P_Package');
  const [cores, others] = [named('SVI2_P_Core'), named('SVI2_P_SoC')];
  // A chip's rails can be shown by different dies, so they are counted over all of them.
  const rails = cores.length === others.length ? [...cores, ...others] : [];
  const parts = packages.length > 0 ? packages : rails;
  if (parts.length === 0) return undefined;
  const readings = parts.map(({ file }) => async () => {
    const microwatts = (await readInteger(file, read)) ?? 0;
    return microwatts > 0 ? microwatts / 1e6 : undefined;
  });
  return { what: 'zenpower', readWatts: () => sumOf(readings) };
}

/** Reads all, also behind one that is not known: a meter needs every reading. */
async function sumOf(parts: readonly (() => Promise<number | undefined>)[]): Promise<number | undefined> {
  let sum: number | undefined = 0;
  for (const part of parts) {
    const watts = await part();
    sum = watts === undefined || sum === undefined ? undefined : sum + watts;
  }
  return sum;
}
