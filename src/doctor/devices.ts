/** Whether the devices that were asked for can mine. */

import type { Gpu } from '../engine/gpu/list-gpus.ts';
import type { Finding } from './finding.ts';

/**
 * @param use the setting: `cpu`, `gpu`, `gpu0` …, or `all` for every device that can mine
 * @param cpuWorks whether a CPU kernel can be used
 */
export function examineDevices(use: readonly string[] | 'all', cpuWorks: boolean, gpus: readonly Gpu[]): Finding {
  const usable = usableDevices(cpuWorks, gpus);
  const isThere = (name: string) => (name === 'gpu' ? usable.some((other) => other !== 'cpu') : usable.includes(name));
  const missing = use === 'all' ? [] : use.filter((name) => !isThere(name));
  const mining = miningDevices(use, cpuWorks, gpus);
  const about = 'devices';
  const mend = 'choose among what pickaxe devices lists (--devices), or fix what is said about them above';
  if (use.length === 0) return { about, state: 'ok', what: 'none is asked for: other programs hash for this rig' };
  if (mining.length === 0) {
    const what = missing.length > 0 ? `${missing.join(', ')} cannot be used` : 'no device can be used';
    return { about, state: 'fault', what, why: 'pickaxe has nothing to mine with', mend };
  }
  if (missing.length === 0) return { about, state: 'ok', what: `mines with ${mining.join(', ')}` };
  const what = `mines with ${mining.join(', ')}; ${missing.join(', ')} cannot be used`;
  return { about, state: 'warning', what, why: '--devices asks for more than can be used', mend };
}

/** @returns the names of the devices that are asked for and can be used. The parameters are those of `examineDevices`. */
export function miningDevices(use: readonly string[] | 'all', cpuWorks: boolean, gpus: readonly Gpu[]): string[] {
  const isAsked = (name: string) => use === 'all' || use.includes(name) || (name !== 'cpu' && use.includes('gpu'));
  return usableDevices(cpuWorks, gpus).filter(isAsked);
}

function usableDevices(cpuWorks: boolean, gpus: readonly Gpu[]): string[] {
  return [...(cpuWorks ? ['cpu'] : []), ...gpus.filter(({ usable }) => usable).map(({ name }) => name)];
}
