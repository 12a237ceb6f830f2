/** Reads whether the machine runs on mains or on battery. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from './ask.ts';

export type Power = 'mains' | 'battery' | 'no battery';

/** The folder in which Linux lists chargers and batteries (Documentation/ABI/testing/sysfs-class-power). */
const POWER_SUPPLIES = '/sys/class/power_supply';
/** Maximum number of power supplies that are read. Machines have a dozen at most. */
const MAX_SUPPLIES = 64;

/** @returns a function that reads the power supply; undefined on other systems than Linux and macOS */
export function powerReader(platform: string = process.platform): (() => Promise<Power>) | undefined {
  if (platform === 'linux') return async () => linuxPower(POWER_SUPPLIES);
  if (platform === 'darwin') return async () => macPower(await ask('pmset', '-g', 'batt'));
  return undefined;
}

/**
 * Follows the rule of systemd (`on_ac_power`) if the machine has a battery. If any charger is online, even a weak one,
 * the machine runs on mains. Otherwise it runs on battery if a battery is being discharged. Batteries of mice and
 * similar devices are ignored.
 * @param directory the folder that contains one folder for each power supply
 * @throws Error when the directory exists and cannot be listed, or when it has power supplies and none can be read
 */
export function linuxPower(directory: string): Power {
  const names = list(directory).slice(0, MAX_SUPPLIES);
  const supplies = names.map((name) => supplyIn(join(directory, name))).filter((supply) => supply !== undefined);
  if (names.length > 0 && supplies.length === 0) throw new Error(`nothing in ${directory} can be read`);
  const own = supplies.filter(({ scope, present }) => scope !== 'Device' && present !== '0');
  const batteries = own.filter(({ type }) => type === 'Battery' || type === 'UPS');
  if (batteries.length === 0) return 'no battery';
  // For a USB port, `online` is 1 with a fixed and 2 with a programmable voltage.
  if (own.some((supply) => !batteries.includes(supply) && Number(supply.online) > 0)) return 'mains';
  return batteries.some(({ status }) => status === 'Discharging') ? 'battery' : 'mains';
}

/**
 * @param answer output of `pmset -g batt`: the source of power in quotes, then a line for each battery
 * @throws Error when the source of power is missing
 */
export function macPower(answer: string): Power {
  const source = /^Now drawing from .(\w+ Power)/m.exec(answer)?.[1];
  if (source === undefined) throw new Error('pmset does not say what this machine runs on');
  if (source !== 'AC Power') return 'battery';
  return /^\s*-/m.test(answer) ? 'mains' : 'no battery';
}

/** @returns the names in a folder; none if the folder does not exist, as on machines without a battery */
function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw fault;
  }
}

/** @returns the contents of a supply's files; undefined if its type cannot be read, as after it was unplugged */
function supplyIn(folder: string) {
  const read = (file: string) => {
    try {
      return readFileSync(join(folder, file), 'utf8').trim();
    } catch {
      return undefined;
    }
  };
  const type = read('type');
  if (type === undefined) return undefined;
  return { type, scope: read('scope'), present: read('present'), online: read('online'), status: read('status') };
}
