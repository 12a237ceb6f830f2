/** Pretended machines, with the files of Linux's sysfs about their sensors. */

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { type CpuSensors, openCpuSensors } from '#pickaxe/miner/engine/cpu/cpu-sensors.js';
import { readSysfs } from '#pickaxe/miner/engine/sensors.js';

/** Contents by their paths below sysfs. */
export type Files = Readonly<Record<string, string | number>>;

const temporary = mkdtempSync(join(tmpdir(), 'pickaxe-cpu-sensors-'));

let machines = 0;

export class PretendedMachine {
  readonly sysfs = join(temporary, `machine-${++machines}`);
  readonly clock = {
    ...systemClock,
    nowUs: () => BigInt(1000 * (this.ms + this.asleepMs)),
    monotonicMs: () => this.ms,
  };
  ms = 5_000;
  /** The time that the machine has slept, which only the wall clock counts. */
  asleepMs = 0;
  /** Files that only root may read. The tests run as root, for whom modes do not hold, so the reader refuses them. */
  refused = /(?!)/;
  /** Every path that was read. */
  readonly paths: string[] = [];

  constructor(files: Files) {
    mkdirSync(this.sysfs, { recursive: true });
    this.write(files);
  }

  write(files: Files): void {
    for (const [file, text] of Object.entries(files)) {
      const path = join(this.sysfs, file);
      mkdirSync(dirname(path), { recursive: true });
      // The file is replaced as a whole, so a reader sees the old content or the new one.
      writeFileSync(`${path}.new`, `${text}\n`);
      renameSync(`${path}.new`, path);
    }
  }

  remove(path: string): void {
    rmSync(join(this.sysfs, path), { recursive: true });
  }

  open(threads = 4): Promise<CpuSensors> {
    const { sysfs, clock } = this;
    return openCpuSensors({ threads, sysfs, clock, platform: 'linux', read: (path) => this.#read(path) });
  }

  async #read(path: string): Promise<string> {
    this.paths.push(path);
    if (this.refused.test(path))
      throw Object.assign(new Error(`EACCES: permission denied, open '${path}'`), { code: 'EACCES' });
    return readSysfs(path);
  }

  /**
   * Opens the sensors, and lets time pass, in which the counters rise.
   * @param counters their contents at the end
   * @returns the second reading: the first one has no power if that is computed from energy
   */
  async readAfter(seconds: number, counters: Files) {
    const sensors = await this.open();
    await sensors.read();
    this.ms += 1000 * seconds;
    this.write(counters);
    return sensors.read();
  }
}

/** The files of a folder, by their paths from the folder above. */
export const within = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]));

const zone = (name: string, uj: number, range: number): Files => ({
  name,
  energy_uj: uj,
  max_energy_range_uj: range,
  enabled: 1,
});

/** The maximum of Intel's and AMD's counters, in µJ. */
export const INTEL_RANGE = 262_143_328_850;
export const AMD_RANGE = 65_532_610_987;

export const rapl = (number: string, name: string, uj: number, range = INTEL_RANGE): Files =>
  within(`class/powercap/intel-rapl:${number}`, zone(name, uj, range));

/** A Core i7-13700: one package with parts, `psys`, and the same package again through the memory-mapped interface. */
export const INTEL_DESKTOP: Files = {
  ...within('class/hwmon/hwmon0', { name: 'acpitz', temp1_input: 27_800 }),
  ...within('class/hwmon/hwmon1', { name: 'nvme', temp1_input: 92_850, temp1_label: 'Composite' }),
  ...within('class/hwmon/hwmon3', {
    name: 'coretemp',
    temp1_input: 81_000,
    temp1_label: 'Package id 0',
    temp1_crit: 100_000,
    temp1_max: 80_000,
    temp2_input: 77_000,
    temp2_label: 'Core 0',
    temp6_input: 83_000,
    temp6_label: 'Core 4',
  }),
  ...within('class/powercap/intel-rapl', { enabled: 1 }),
  ...rapl('0', 'package-0', 100_000_000_000),
  ...rapl('0:0', 'core', 70_000_000_000),
  ...rapl('0:1', 'uncore', 1_000_000_000),
  ...rapl('0:2', 'dram', 9_000_000_000, 65_712_999_613),
  ...rapl('1', 'psys', 250_000_000_000),
  ...within('class/powercap/intel-rapl-mmio:0', zone('package-0', 100_000_000_000, INTEL_RANGE)),
  ...within('class/thermal/thermal_zone2', { type: 'x86_pkg_temp', temp: 81_000 }),
  ...within('devices/system/cpu', {
    'cpufreq/boost': 1,
    'cpu0/cpufreq/scaling_cur_freq': 5_100_000,
    'cpu1/cpufreq/scaling_cur_freq': 5_100_000,
    'cpu2/cpufreq/scaling_cur_freq': 4_900_000,
    'cpu3/cpufreq/scaling_cur_freq': 4_900_000,
    'cpu4/cpufreq/scaling_cur_freq': 800_000,
  }),
};

/** Two Xeons: a package, and memory as a part of it, for each socket. */
export const TWO_XEONS: Files = {
  ...within('class/hwmon/hwmon4', {
    name: 'coretemp',
    temp1_input: 63_000,
    temp1_label: 'Package id 0',
    temp2_input: 61_000,
    temp2_label: 'Core 0',
  }),
  ...within('class/hwmon/hwmon5', {
    name: 'coretemp',
    temp1_input: 71_000,
    temp1_label: 'Package id 1',
    temp2_input: 70_000,
    temp2_label: 'Core 0',
  }),
  ...rapl('0', 'package-0', 1_000_000),
  ...rapl('0:0', 'dram', 1_000_000),
  ...rapl('1', 'package-1', 200_000_000_000),
  ...rapl('1:0', 'dram', 1_000_000),
};

/** A Ryzen 7 7700, whose Tctl is the chip's temperature. */
export const RYZEN: Files = {
  ...within('class/hwmon/hwmon2', {
    name: 'k10temp',
    temp1_input: 94_875,
    temp1_label: 'Tctl',
    temp3_input: 93_250,
    temp3_label: 'Tccd1',
  }),
  ...within('class/hwmon/hwmon4', { name: 'amdgpu', temp1_input: 48_000, temp1_label: 'edge' }),
  ...rapl('0', 'package-0', 40_000_000_000, AMD_RANGE),
  ...rapl('0:0', 'core', 20_000_000_000, AMD_RANGE),
};

/** A Threadripper 2950X: two dies, and a Tctl that is 27 °C too high. */
export const THREADRIPPER: Files = {
  ...within('class/hwmon/hwmon0', {
    name: 'k10temp',
    temp1_input: 95_000,
    temp1_label: 'Tctl',
    temp2_input: 68_000,
    temp2_label: 'Tdie',
  }),
  ...within('class/hwmon/hwmon1', {
    name: 'k10temp',
    temp1_input: 97_125,
    temp1_label: 'Tctl',
    temp2_input: 70_125,
    temp2_label: 'Tdie',
  }),
};

/** A Ryzen 9 3900X with zenpower instead of k10temp. */
export const ZENPOWER: Files = within('class/hwmon/hwmon3', {
  name: 'zenpower',
  in1_input: 1_031,
  in1_label: 'SVI2_Core',
  curr1_input: 80_000,
  curr1_label: 'SVI2_C_Core',
  power1_input: 82_500_000,
  power1_label: 'SVI2_P_Core',
  power2_input: 13_250_000,
  power2_label: 'SVI2_P_SoC',
  temp1_input: 72_250,
  temp1_label: 'Tdie',
  temp2_input: 82_250,
  temp2_label: 'Tctl',
  temp3_input: 73_000,
  temp3_label: 'Tccd1',
});

/** A Raspberry Pi 5. */
export const RASPBERRY_PI: Files = {
  ...within('class/hwmon/hwmon0', { name: 'cpu_thermal', temp1_input: 61_400 }),
  ...within('class/hwmon/hwmon1', { name: 'rp1_adc', temp1_input: 55_000 }),
  ...within('class/hwmon/hwmon2', { name: 'pwmfan', fan1_input: 3_000 }),
  ...within('class/thermal/thermal_zone0', { type: 'cpu-thermal', temp: 61_400 }),
  ...within('class/thermal/cooling_device0', { type: 'pwm-fan' }),
};

/** A board with an RK3588, whose zones belong to parts of the chip. */
export const ROCKCHIP: Files = {
  ...within('class/thermal/thermal_zone0', { type: 'package-thermal', temp: 90_000 }),
  ...within('class/thermal/thermal_zone1', { type: 'bigcore0-thermal', temp: 68_000 }),
  ...within('class/thermal/thermal_zone2', { type: 'bigcore2-thermal', temp: 69_500 }),
  ...within('class/thermal/thermal_zone3', { type: 'littlecore-thermal', temp: 66_000 }),
  ...within('class/thermal/thermal_zone5', { type: 'gpu-thermal', temp: 88_000 }),
};
