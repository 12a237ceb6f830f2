/** The sensors of the CPU, on Linux only: temperature, power and clock. */

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
  /**
   * Path of a file with the CPU's power that this process may not read. Absent when the power can be read, or when
   * there is no such file.
   */
  readonly refused?: string;
}

interface CpuSensorOptions {
  /** Number of CPUs that are busy with mining. Only the clocks of busy CPUs count. */
  readonly threads: number;
  readonly clock?: Clock;
  readonly platform?: string;
  /** Path at which sysfs is mounted. The default is `/sys`. */
  readonly sysfs?: string;
  readonly read?: ReadSysfs;
}

/** Opens the sensors. Never rejects: when there are no sensors, `what` has the reason, and every reading is empty. */
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
      // When a driver is reloaded, its folder gets another number, so the thermometer is searched for again.
      if (thermometer && temperatureCelsius === undefined)
        thermometer = (await findThermometer(sysfs, read)) ?? thermometer;
      return plausible({ temperatureCelsius, powerWatts: await meter?.readWatts(), coreHertz: await readHertz?.() });
    },
  };
}

function refusal(file: NonNullable<FoundPower['refused']>): string {
  return `the power is not known, because only root may read ${file} (docs/devices.md, “Allow pickaxe to read the power”)`;
}

/* The CPU's chips: the folders of hwmon that belong to CPUs */

interface Channel {
  /** Path of the file with the reading. */
  readonly file: string;
  /** The driver's name for the sensor; undefined for a sensor without a name. */
  readonly label: string | undefined;
}

interface Chip {
  /** Name of the driver, such as `k10temp`. */
  readonly driver: string;
  /** @param kind `temp`, `power` or `energy` @returns the chip's channels of this kind */
  channels(kind: string): Promise<Channel[]>;
}

/**
 * @returns one chip for each folder of these drivers. A driver has a folder for each socket, or for each die of a
 *   socket
 */
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
    // On machines with two sockets, the labels of the driver zenpower begin with `cpu0 ` or `cpu1 `.
    found.push({ file: join(folder, `${channel}_input`), label: label?.replace(/^cpu\d+ /, '') });
  }
  return found;
}

/*
 * The temperature of the CPU. Sources, in the kernel's Documentation folder: hwmon/coretemp.rst, hwmon/k10temp.rst,
 * driver-api/thermal/sysfs-api.rst; and the README of github.com/ocerman/zenpower.
 */

interface Thermometer {
  /** For people: the names of the drivers, or the types of the thermal zones. */
  readonly what: string;
  /** @returns the temperature of the hottest chip in °C; undefined while no file has a plausible value */
  readCelsius(): Promise<number | undefined>;
}

/**
 * The labels of the channels to read, by driver, in the order of preference. Only the first label that a chip has is
 * used, and all channels with this label are read. `undefined` stands for a channel without a label.
 *
 * - `coretemp`: The temperature of a package is that of its hottest place. Old chips report only the temperatures of
 *   their cores.
 * - `k10temp` and `zenpower`: Tdie is the chip's temperature. Tctl, which controls the fan, is up to 27 °C higher on
 *   some chips, but all these chips have Tdie, too. Tccd1, Tccd2 and so on are the temperatures of parts of the chip.
 *   Chips older than Zen have only Tctl, and its channel has no label.
 */
const LABELS: Readonly<Record<string, readonly (RegExp | undefined)[]>> = {
  coretemp: [/^(Package|Physical) id \d+$/, /^Core \d+$/],
  k10temp: [/^Tdie$/, /^Tctl$/, /^Tccd\d+$/, undefined],
  zenpower: [/^Tdie$/, /^Tctl$/, /^Tccd\d+$/],
};

/**
 * Types of thermal zones that certainly belong to the CPU. Other types, such as `acpitz` and `soc-thermal`, may not.
 */
const CPU_ZONE = /^(x86_pkg_temp$|cpu|bigcore|littlecore)/i;
/** Name in hwmon of the CPU's thermal zone on ARM boards. */
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

/** Finds the first of `labels` that any channel has. @returns the files of all channels with this label */
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
        // A wrong reading of one chip must not hide the readings of other chips.
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
  /** @returns the power of all packages together, in W; undefined while the power of any package is not known */
  readWatts(): Promise<number | undefined>;
}

interface FoundPower {
  readonly meter?: PowerMeter;
  /** Path of a file with the power that this process may not read; absent if there is a meter. */
  readonly refused?: string;
}

/**
 * Names of powercap's folders for packages, also for AMD. Folders such as `intel-rapl:0:0` belong to parts of a
 * package.
 */
const ZONE = /^intel-rapl:\d+$/;
/**
 * Content of the file `name` in the folder of a package. A package of several dies has a folder for each die. The name
 * `psys` stands for the whole machine.
 */
const PACKAGE = /^package-\d+(-die-\d+)?$/;

/**
 * Finds the source of the power. Energy counters are preferred, because they count everything between two readings.
 * zenpower reports only the present power. Earlier versions report it for each of the two rails that feed a chip, later
 * versions for the package.
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
  /** Path of the file with the counter's value in µJ. */
  readonly file: string;
  /**
   * Value in µJ at which the counter wraps around to 0. Absent if it does not wrap around, or if the value is not
   * known.
   */
  readonly rangeMicrojoules?: number | undefined;
}

/**
 * @returns a counter for each package or die. The zones of `intel-rapl-mmio` are left out, because they count the same
 *   packages again
 */
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

/**
 * The driver `amd_energy` extends the chip's counters from 32 to 64 bits, so they do not wrap around.
 * @returns a counter for each socket
 */
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
  // The two rails of a chip can belong to different dies, so the rails of all dies are added. If there are more
  // channels for one rail than for the other, a channel is missing, and the sum would be wrong.
  const rails = cores.length === others.length ? [...cores, ...others] : [];
  const parts = packages.length > 0 ? packages : rails;
  if (parts.length === 0) return undefined;
  const readings = parts.map(({ file }) => async () => {
    const microwatts = (await readInteger(file, read)) ?? 0;
    return microwatts > 0 ? microwatts / 1e6 : undefined;
  });
  return { what: 'zenpower', readWatts: () => sumOf(readings) };
}

/**
 * Reads all parts even if the power of one part is not known, because an energy meter must be read regularly.
 * @returns the sum in W; undefined if the power of any part is not known
 */
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
 * Maximum number of CPUs whose clocks are read. These CPUs are evenly spread. Each reading of a clock costs the main
 * thread 0.1 ms.
 */
const MOST_ASKED = 32;

/**
 * @param threads the number of busy CPUs. The CPUs with the highest clocks count as busy, because the clocks of idle
 *   CPUs are lower
 * @returns undefined if the system reports no clocks, as in most virtual machines; otherwise a function that reads the
 *   mean clock of the busy CPUs in Hz
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
