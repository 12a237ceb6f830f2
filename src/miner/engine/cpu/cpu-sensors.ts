/** The sensors of the CPU under Linux. */

import { join } from 'node:path';
import { type Clock, systemClock } from '../../../base/system/clock.ts';
import {
  channels,
  EnergyMeter,
  isRefused,
  list,
  openOrNone,
  plausible,
  type ReadSysfs,
  readInteger,
  readLine,
  readSysfs,
  type Sensors,
} from '../sensors.ts';

export interface CpuSensors extends Sensors {
  /** File with the CPU's power, if this process may not read it and has no other source of the power. */
  readonly refused?: string;
}

interface CpuSensorOptions {
  /** Number of busy CPUs. Only the clocks of busy CPUs count. */
  readonly threads: number;
  readonly clock?: Clock;
  readonly platform?: string;
  /** Where sysfs is mounted. */
  readonly sysfs?: string;
  readonly read?: ReadSysfs;
}

/** Never rejects. When there are no sensors, `what` says why, and every reading is empty. */
export function openCpuSensors(options: CpuSensorOptions): Promise<CpuSensors> {
  return openOrNone<CpuSensors>(() => open(options));
}

async function open(options: CpuSensorOptions): Promise<CpuSensors> {
  const { threads, clock = systemClock, platform = process.platform, sysfs = '/sys', read = readSysfs } = options;
  if (platform !== 'linux') throw new Error('a CPU’s sensors can be read on Linux only');
  let thermometer = await findThermometer(sysfs, read);
  const { meter, refused } = await findPower(sysfs, clock, read);
  const readHertz = await findClock(threads, sysfs, read);
  const found = [
    thermometer && `temperature from ${thermometer.what}`,
    meter && `power from ${meter.what}`,
    readHertz && 'clock from cpufreq',
  ].filter((each) => each !== undefined);
  if (found.length === 0 && refused === undefined) {
    throw new Error('Linux shows no temperature, power or clock of the CPU, as in most virtual machines');
  }
  return {
    what: [found.join(', ') || 'no readings', ...(refused === undefined ? [] : [refusal(refused)])].join('; '),
    ...(refused !== undefined && { refused }),
    async read() {
      const temperatureCelsius = await thermometer?.readCelsius();
      // When a driver is reloaded, its folder gets another number.
      if (thermometer && temperatureCelsius === undefined)
        thermometer = (await findThermometer(sysfs, read)) ?? thermometer;
      return plausible({ temperatureCelsius, powerWatts: await meter?.readWatts(), coreHertz: await readHertz?.() });
    },
  };
}

function refusal(file: NonNullable<FoundPower['refused']>): string {
  return `the power is not known, because only root may read ${file} (docs/devices.md, “Allow pickaxe to read the power”)`;
}

/* The folders of hwmon that belong to CPUs */

interface Channel {
  readonly file: string;
  /** The driver's name for the sensor. */
  readonly label: string | undefined;
}

interface Chip {
  /** Such as `k10temp`. */
  readonly driver: string;
  /** @param kind `temp`, `power` or `energy` */
  channels(kind: string): Promise<Channel[]>;
}

/** @returns the folders of these drivers; a driver has one for each socket, or for each die of a socket */
async function findChips(drivers: readonly string[], sysfs: string, read: ReadSysfs): Promise<Chip[]> {
  const root = join(sysfs, 'class/hwmon');
  const chips: Chip[] = [];
  for (const name of await list(root)) {
    const folder = join(root, name);
    const driver = await readLine(join(folder, 'name'), read);
    if (driver === undefined || !drivers.includes(driver)) continue;
    chips.push({ driver, channels: (kind) => channelsOf(folder, kind, read) });
  }
  return chips;
}

async function channelsOf(folder: string, kind: string, read: ReadSysfs): Promise<Channel[]> {
  const found: Channel[] = [];
  for (const channel of channels(await list(folder), kind)) {
    const label = await readLine(join(folder, `${channel}_label`), read);
    // On machines with two sockets zenpower puts `cpu0 ` or `cpu1 ` before its names.
    found.push({ file: join(folder, `${channel}_input`), label: label?.replace(/^cpu\d+ /, '') });
  }
  return found;
}

/*
 * The temperature of the CPU. Sources, in the kernel's Documentation folder: hwmon/coretemp.rst, hwmon/k10temp.rst,
 * driver-api/thermal/sysfs-api.rst; and the README of github.com/ocerman/zenpower.
 */

interface Thermometer {
  /** For people: the driver or the kind of the thermal zone. */
  readonly what: string;
  /** @returns °C of the hottest chip; undefined while no file has a plausible value */
  readCelsius(): Promise<number | undefined>;
}

/**
 * The channels to read, by driver. Of a driver's names, the first one that the chip has is used. `undefined` stands for
 * a channel without a name.
 *
 * - `coretemp`: the hottest place of a package. Old chips report only their cores.
 * - `k10temp` and `zenpower`: Tdie is the chip's temperature. Tctl, which controls the fan, is higher by up to 27 °C on
 *   some chips, but all of those have Tdie, too. Tccd are parts of the chip. Chips older than Zen have only a Tctl
 *   without a name.
 */
const LABELS: Readonly<Record<string, readonly (RegExp | undefined)[]>> = {
  coretemp: [/^(Package|Physical) id \d+$/, /^Core \d+$/],
  k10temp: [/^Tdie$/, /^Tctl$/, /^Tccd\d+$/, undefined],
  zenpower: [/^Tdie$/, /^Tctl$/, /^Tccd\d+$/],
};

/** Thermal zones that certainly belong to the CPU. Others, such as `acpitz` and `soc-thermal`, may not. */
const CPU_ZONE = /^(x86_pkg_temp$|cpu|bigcore|littlecore)/i;
/** This driver shows an ARM board's thermal zone as hwmon. */
const ZONE_DRIVER = 'cpu_thermal';

async function findThermometer(sysfs: string, read: ReadSysfs): Promise<Thermometer | undefined> {
  return (
    (await ofChips(Object.keys(LABELS), sysfs, read)) ??
    (await ofZones(sysfs, read)) ??
    (await ofChips([ZONE_DRIVER], sysfs, read))
  );
}

async function ofChips(drivers: string[], sysfs: string, read: ReadSysfs): Promise<Thermometer | undefined> {
  const chips = await findChips(drivers, sysfs, read);
  const files: string[] = [];
  for (const chip of chips) files.push(...best(await chip.channels('temp'), LABELS[chip.driver] ?? [undefined]));
  return thermometer([...new Set(chips.map(({ driver }) => driver))].join(' and '), files, read);
}

/** @returns the files with the first of the labels that is found */
function best(found: readonly Channel[], labels: readonly (RegExp | undefined)[]): string[] {
  for (const wanted of labels) {
    const those = found.filter(({ label }) => (wanted && label ? wanted.test(label) : label === wanted));
    if (those.length > 0) return those.map(({ file }) => file);
  }
  return [];
}

async function ofZones(sysfs: string, read: ReadSysfs): Promise<Thermometer | undefined> {
  const root = join(sysfs, 'class/thermal');
  const kinds = new Set<string>();
  const files: string[] = [];
  for (const zone of (await list(root)).filter((name) => /^thermal_zone\d+$/.test(name))) {
    const kind = await readLine(join(root, zone, 'type'), read);
    if (kind === undefined || !CPU_ZONE.test(kind)) continue;
    kinds.add(kind);
    files.push(join(root, zone, 'temp'));
  }
  return thermometer([...kinds].join(' and '), files, read);
}

function thermometer(what: string, files: readonly string[], read: ReadSysfs): Thermometer | undefined {
  if (files.length === 0) return undefined;
  return {
    what,
    async readCelsius() {
      const known: number[] = [];
      for (const file of files) {
        const thousandths = await readInteger(file, read);
        if (thousandths === undefined) continue;
        // One chip's wrong reading must not hide the others'.
        const { temperatureCelsius } = plausible({ temperatureCelsius: thousandths / 1000 });
        if (temperatureCelsius !== undefined) known.push(temperatureCelsius);
      }
      return known.length > 0 ? Math.max(...known) : undefined;
    },
  };
}

/*
 * The power of the CPU's packages. Sources, in the kernel's Documentation folder: power/powercap/powercap.rst;
 * hwmon/amd_energy.rst; and the README of github.com/ocerman/zenpower.
 */

interface PowerMeter {
  readonly what: string;
  /** @returns W of all packages; undefined while the power of any package is not known */
  readWatts(): Promise<number | undefined>;
}

interface FoundPower {
  readonly meter?: PowerMeter;
  /** File with the power, if this process may not read it; absent if there is a meter. */
  readonly refused?: string;
}

/** Powercap's folders of packages, also for AMD. Folders such as `intel-rapl:0:0` belong to parts of a package. */
const ZONE = /^intel-rapl:\d+$/;
/**
 * Names of packages: a package of several dies has a counter for each die. The name `psys` stands for the whole
 * machine.
 */
const PACKAGE = /^package-\d+(-die-\d+)?$/;

/**
 * Energy counters come first, because they count everything between readings. zenpower reports the present power of the
 * two rails that feed a chip, or in later versions that of the package.
 */
async function findPower(sysfs: string, clock: Clock, read: ReadSysfs): Promise<FoundPower> {
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
  /** File of the counter, in µJ. */
  readonly file: string;
  readonly rangeMicrojoules?: number | undefined;
}

/** @returns a counter for each package, without the zones of `intel-rapl-mmio`, which count the same packages again */
async function raplCounters(sysfs: string, read: ReadSysfs): Promise<Counter[]> {
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
async function amdEnergyCounters(sysfs: string, read: ReadSysfs): Promise<Counter[]> {
  const [chip] = await findChips(['amd_energy'], sysfs, read);
  const channels = (await chip?.channels('energy')) ?? [];
  return channels.filter(({ label }) => /^Esocket\d+$/.test(label ?? '')).map(({ file }) => ({ file }));
}

async function firstRefused(counters: readonly Counter[], read: ReadSysfs): Promise<string | undefined> {
  for (const { file } of counters) {
    if (await isRefused(file, read)) return file;
  }
  return undefined;
}

function meterOf(what: string, counters: readonly Counter[], clock: Clock, read: ReadSysfs): PowerMeter {
  const meters = counters.map(({ file, rangeMicrojoules }) => new EnergyMeter(file, clock, { rangeMicrojoules, read }));
  return { what, readWatts: () => sumOf(meters.map((meter) => () => meter.readW())) };
}

async function findZenpower(sysfs: string, read: ReadSysfs): Promise<PowerMeter | undefined> {
  const chips = await findChips(['zenpower'], sysfs, read);
  const channels = (await Promise.all(chips.map((chip) => chip.channels('power')))).flat();
  const named = (name: string) => channels.filter(({ label }) => label === name);
  const packages = named('RAPL_P_Package');
  const [cores, others] = [named('SVI2_P_Core'), named('SVI2_P_SoC')];
  // The rails of a chip can belong to different dies, so the rails of all dies are counted.
  const rails = cores.length === others.length ? [...cores, ...others] : [];
  const parts = packages.length > 0 ? packages : rails;
  if (parts.length === 0) return undefined;
  const readings = parts.map(({ file }) => async () => {
    const microwatts = (await readInteger(file, read)) ?? 0;
    return microwatts > 0 ? microwatts / 1e6 : undefined;
  });
  return { what: 'zenpower', readWatts: () => sumOf(readings) };
}

/** Reads all parts even if the power of one is not known, because an energy meter must be read regularly. */
async function sumOf(parts: readonly (() => Promise<number | undefined>)[]): Promise<number | undefined> {
  let sum: number | undefined = 0;
  for (const part of parts) {
    const watts = await part();
    sum = watts === undefined || sum === undefined ? undefined : sum + watts;
  }
  return sum;
}

/* The clock of the CPU (Documentation/admin-guide/pm/cpufreq.rst) */

/**
 * Maximum number of CPUs whose clocks are read, evenly spread. Each reading of a clock costs the main thread 0.1 ms.
 */
const MOST_ASKED = 32;

/**
 * @param threads the number of busy CPUs. Idle CPUs have lower clocks and do not count
 * @returns a function that returns the mean clock of the busy CPUs in Hz; undefined when the system does not report it,
 *   as in most virtual machines
 */
async function findClock(
  threads: number,
  sysfs: string,
  read: ReadSysfs,
): Promise<(() => Promise<number | undefined>) | undefined> {
  const folder = join(sysfs, 'devices/system/cpu');
  const cpus = (await list(folder)).filter((name) => /^cpu\d+$/.test(name)).sort((a, b) => numberOf(a) - numberOf(b));
  const step = Math.max(1, cpus.length / MOST_ASKED);
  const asked = Array.from({ length: Math.min(cpus.length, MOST_ASKED) }, (_, i) => cpus[Math.floor(i * step)]);
  const readAll = () => clocksOf(asked, folder, read);
  if ((await readAll()).length === 0) return undefined;
  return async () => {
    const busy = (await readAll()).sort((a, b) => b - a).slice(0, Math.max(1, Math.round(threads / step)));
    return busy.length > 0 ? busy.reduce((sum, hertz) => sum + hertz, 0) / busy.length : undefined;
  };
}

const numberOf = (cpu: string) => Number(cpu.slice('cpu'.length));

async function clocksOf(cpus: readonly string[], folder: string, read: ReadSysfs): Promise<number[]> {
  const clocks: number[] = [];
  for (const cpu of cpus) {
    const kHz = (await readInteger(join(folder, cpu, 'cpufreq/scaling_cur_freq'), read)) ?? 0;
    if (kHz > 0) clocks.push(1000 * kHz);
  }
  return clocks;
}
