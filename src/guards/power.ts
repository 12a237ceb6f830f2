/** Whether a machine runs on mains or on battery, as its system tells. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from './ask.ts';

export type Power = 'mains' | 'battery' | 'no battery';

/** Where Linux lists chargers and batteries (Documentation/ABI/testing/sysfs-class-power). */
const POWER_SUPPLIES = '/sys/class/power_supply';
/** No machine seen so far has more than a dozen. */
const MAX_SUPPLIES = 64;

/**
 * @returns how to ask this system; undefined where pickaxe does not know how
 */
export function powerReader(platform: string = process.platform): (() => Promise<Power>) | undefined {
  if (platform === 'linux') return async () => linuxPower(POWER_SUPPLIES);
  if (platform === 'darwin') return async () => macPower(await ask('pmset', '-g', 'batt'));
  return undefined;
}

/**
 * As systemd judges it (`on_ac_power`): any charger that is online is mains, however weak; else a battery that is being
 * discharged is battery. Batteries of mice and the like do not count.
 *
 * @param directory of power supplies, one folder each
 * @throws Error when there are supplies and none of them can be read
 */
export function linuxPower(directory: string): Power {
  const names = list(directory).slice(0, MAX_SUPPLIES);
  const supplies = names.map((name) => supplyIn(join(directory, name))).filter((supply) => supply !== undefined);
  if (names.length > 0 && supplies.length === 0) throw new Error(`nothing in ${directory} can be read`);
  const own = supplies.filter(({ scope, present }) => scope !== 'Device' && present !== '0');
  const batteries = own.filter(({ type }) => type === 'Battery' || type === 'UPS');
  if (batteries.length === 0) return 'no battery';
  // A USB port tells 1 for a fixed and 2 for a programmable voltage.
  if (own.some((supply) => !batteries.includes(supply) && Number(supply.online) > 0)) return 'mains';
  return batteries.some(({ status }) => status === 'Discharging') ? 'battery' : 'mains';
}

/** @param answer of `pmset -g batt`: what it draws from in quotes, then a line for each battery */
export function macPower(answer: string): Power {
  const source = /^Now drawing from .(\w+ Power)/m.exec(answer)?.[1];
  if (source === undefined) throw new Error('pmset does not say what this machine runs on');
  if (source !== 'AC Power') return 'battery';
  return /^\s*-/m.test(answer) ? 'mains' : 'no battery';
}

/** A machine without the folder has no battery. */
function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw fault;
  }
}

/** @returns undefined for one that has just been unplugged, or cannot be read */
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
