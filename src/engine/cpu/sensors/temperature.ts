/**
 * Reads the CPU's temperature under Linux. Sources, in the kernel's Documentation folder: hwmon/coretemp.rst, hwmon/k10temp.rst,
 * driver-api/thermal/sysfs-api.rst; and the README of github.com/ocerman/zenpower.
 */

import { join } from 'node:path';
import { list } from '../../sensors/hwmon-files.ts';
import { plausible } from '../../sensors/plausible.ts';
import { type ReadSysfs, readInteger, readLine } from '../../sensors/read-line.ts';
import { type Channel, findChips } from './chips.ts';

export interface Thermometer {
  /** For people: the driver, or the kind of the thermal zone. */
  readonly what: string;
  /** @returns °C of the hottest chip; undefined while no file has a plausible value */
  readCelsius(): Promise<number | undefined>;
}

/**
 * What is read of a chip, by its driver: the channels with the first of these names that it has, `undefined` for one without a
 * name.
 *
 * - `coretemp`: the hottest place of a package; old chips tell only their cores.
 * - `k10temp` and `zenpower`: Tdie is the chip's temperature. Tctl, which controls the fan, is higher by up to 27 °C on some
 *   chips, but all of those have Tdie, too. Tccd are parts of the chip. Chips older than Zen have only a Tctl without a name.
 */
const LABELS: Readonly<Record<string, readonly (RegExp | undefined)[]>> = {
  coretemp: [/^(Package|Physical) id \d+$/, /^Core \d+$/],
  k10temp: [/^Tdie$/, /^Tctl$/, /^Tccd\d+$/, undefined],
  zenpower: [/^Tdie$/, /^Tctl$/, /^Tccd\d+$/],
};

/** Kinds of thermal zones that are certainly the CPU's. Others, like `acpitz` and `soc-thermal`, may be anything's. */
const CPU_ZONE = /^(x86_pkg_temp$|cpu|bigcore|littlecore)/i;
/** The driver that shows a thermal zone of a board with ARM as hwmon. */
const ZONE_DRIVER = 'cpu_thermal';

/** @param sysfs where sysfs is mounted */
export async function findThermometer(sysfs: string, read?: ReadSysfs): Promise<Thermometer | undefined> {
  return (
    (await ofChips(Object.keys(LABELS), sysfs, read)) ??
    (await ofZones(sysfs, read)) ??
    (await ofChips([ZONE_DRIVER], sysfs, read))
  );
}

async function ofChips(drivers: string[], sysfs: string, read?: ReadSysfs): Promise<Thermometer | undefined> {
  const chips = await findChips(drivers, sysfs, read);
  const files: string[] = [];
  for (const chip of chips) files.push(...best(await chip.channels('temp'), LABELS[chip.driver] ?? [undefined]));
  return thermometer([...new Set(chips.map(({ driver }) => driver))].join(' and '), files, read);
}

/** @returns the files of the channels with the first label that any of them has */
function best(found: readonly Channel[], labels: readonly (RegExp | undefined)[]): string[] {
  for (const wanted of labels) {
    const those = found.filter(({ label }) => (wanted && label ? wanted.test(label) : label === wanted));
    if (those.length > 0) return those.map(({ file }) => file);
  }
  return [];
}

async function ofZones(sysfs: string, read?: ReadSysfs): Promise<Thermometer | undefined> {
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

function thermometer(what: string, files: readonly string[], read?: ReadSysfs): Thermometer | undefined {
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
